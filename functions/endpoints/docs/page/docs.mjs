// Renders the API's OpenAPI document with Swagger UI, which gets here what it lacks: a list of the
// calls, the answer beside the form, snippets that follow the form, a dark theme, and what screen
// readers need.

const { curlSample, fetchSample, requestsSample } = await import(
  document.querySelector('script[src*="snippets.mjs"]').src
);

/** Where the API is: the page's address without its last segment. */
const api = `${location.origin}${location.pathname.replace(/\/docs\/?$/, '')}`;

/** The address that the document's snippets call. */
const addressInSnippets = 'https://api.example.org';

/** Whether the local stack serves the page. A tunnel to a deployment has such an address, too. */
const isLocalStack =
  ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname) &&
  (await fetch('/_local/issuer/.well-known/openid-configuration').catch(() => ({}))).ok;

/** What lasts, and what ends with the tab. A browser may refuse both. */
let [lasting, ofTab] = [{}, {}];
try {
  [lasting, ofTab] = [localStorage, sessionStorage];
} catch {}

/** What the reader chose; otherwise what the system prefers. */
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (lasting.theme ? lasting.theme === 'dark' : systemIsDark.matches);
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', isDark());
systemIsDark.addEventListener('change', applyTheme);
applyTheme();

/** The API's document, with the API's own address. */
let description = {};

const readDescription = (updateSpec) => (text) => {
  const own = text.replaceAll(addressInSnippets, api);
  if (own !== '') description = JSON.parse(own);
  updateSpec(own);
};

const operationsOf = (paths) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );

/** Swagger UI's React. */
let { element, Fragment, useEffect, useRef, useState } = {};

/** The list of the calls, a field that searches it, and the switch of the theme. */
function Calls({ layoutSelectors, layoutActions }) {
  const [wanted, search] = useState('');
  const { tags = [], paths = {}, webhooks = {} } = description;
  const groups = tags.map(({ name }) => [name, operationsOf(paths).filter((each) => each.tags.includes(name))]);
  groups.push(['webhooks', operationsOf(webhooks)]);
  const words = wanted.toLowerCase().split(/\s+/);
  const isFound = ({ path, method, summary, operationId }) => {
    const text = `${method} ${path} ${summary} ${operationId}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = groups.map(([tag, all]) => [tag, all.filter(isFound)]).filter(([, all]) => all.length > 0);
  const count = found.reduce((sum, [, all]) => sum + all.length, 0);
  return element(
    'nav',
    { className: 'calls', 'aria-label': 'Calls' },
    element(ThemeSwitch),
    element('input', {
      type: 'search',
      placeholder: 'Search calls',
      'aria-label': 'Search calls',
      onChange: ({ target }) => search(target.value),
    }),
    element('p', { role: 'status' }, wanted === '' ? '' : `${count} found`),
    found.map(([tag, all]) => [
      element('p', { key: tag }, tag === 'webhooks' ? 'Messages to webhooks' : tag),
      element(
        'ul',
        { key: `${tag} calls` },
        all.map((call) => element(CallLink, { key: call.operationId, tag, call, layoutSelectors, layoutActions })),
      ),
    ]),
  );
}

function CallLink({ tag, call: { method, path, summary, operationId }, layoutSelectors, layoutActions }) {
  const key = ['operations', tag, operationId];
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    // Swagger UI writes the address itself.
    event.preventDefault();
    layoutActions.show(['operations-tag', tag], true);
    layoutActions.show(key, true);
    requestAnimationFrame(() => {
      const block = document.getElementById(key.join('-').replaceAll(' ', '_'));
      block.scrollIntoView();
      block.querySelector('button').focus({ preventScroll: true });
    });
  };
  const properties = {
    href: `#/${encodeURIComponent(tag)}/${operationId}`,
    title: path,
    'aria-current': layoutSelectors.isShown(key) ? 'true' : undefined,
    onClick: open,
  };
  return element('li', null, element('a', properties, element('span', { className: method }, method), ` ${summary}`));
}

function ThemeSwitch() {
  const [pressed, setPressed] = useState(isDark);
  useEffect(() => systemIsDark.addEventListener('change', () => setPressed(isDark())), []);
  const onClick = () => {
    lasting.theme = pressed ? 'light' : 'dark';
    applyTheme();
    setPressed(isDark());
  };
  return element('button', { type: 'button', 'aria-pressed': pressed, onClick }, 'Dark theme');
}

/** What the call answered: announced, and moved into view. */
function Answer({ path, method, specSelectors, getComponent, getConfigs }) {
  const place = useRef(null);
  const response = specSelectors.responseFor(path, method);
  useEffect(() => {
    if (!response) return;
    const { top, bottom } = place.current.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) place.current.scrollIntoView();
  }, [response]);
  const { status, duration, message, text, url, headers = {} } = response?.toJS() ?? {};
  const outcome = status === undefined ? `No answer: ${message}` : `${status}, ${duration} ms`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const body = { content: text, contentType: headers['content-type'], url, headers, getConfigs, getComponent };
  return element(
    'section',
    { className: 'answer', 'aria-label': `Answer of ${method.toUpperCase()} ${path}` },
    element(
      'div',
      { className: 'opblock-section-header', ref: place },
      element('h4', { className: 'opblock-title' }, 'Answer'),
      element('p', { role: 'status' }, response ? outcome : ''),
    ),
    text && element(getComponent('responseBody'), body),
    lines.length > 0 &&
      element(Fold, { title: `${lines.length} headers` }, element('pre', { tabIndex: 0 }, lines.join('\n'))),
  );
}

const parametersOf = ({ path, method, specSelectors }) =>
  specSelectors.operationWithMeta(path, method).get('parameters').toJS();

/** The request that the form makes now. Throws SyntaxError when its body is not JSON. */
function requestOf({ path, method, specSelectors, oas3Selectors }) {
  const headers = {};
  const query = new URLSearchParams();
  let filled = path;
  for (const { in: place, name, value = '' } of parametersOf({ path, method, specSelectors })) {
    if (value === '') continue;
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'header') headers[name] = value;
    else for (const each of [value].flat()) query.append(name, each);
  }
  const body = oas3Selectors.requestBodyValue(path, method);
  return {
    method: method.toUpperCase(),
    address: `${api}${filled}${query.size === 0 ? '' : `?${query}`}`,
    needsToken: description.paths[path][method].security.length > 0,
    headers,
    body: body ? JSON.parse(body) : undefined,
  };
}

/** An example with the ids of the form in place of its own. */
function withIds(example, props) {
  const ids = parametersOf(props).filter(({ in: place, value }) => place === 'path' && value);
  return ids.reduce((text, { value, schema }) => text.replaceAll(schema.examples[0], value), example);
}

const writers = { curl: curlSample, Python: requestsSample, TypeScript: fetchSample };

/** The next operation begins with the language that was chosen last. */
let chosenLast = 'curl';

/** Snippets of what the form says now. The public client's is an example with the form's ids. */
function Snippets(props) {
  const [chosen, choose] = useState(chosenLast);
  const [copied, setCopied] = useState(undefined);
  const example = description.paths[props.path][props.method]['x-codeSamples'].find(({ label }) =>
    label.includes('pasqal-cloud'),
  );
  const labels = [...Object.keys(writers), ...(example ? ['pasqal-cloud (example)'] : [])];
  const label = labels.includes(chosen) ? chosen : labels[0];
  const show = (each) => {
    chosenLast = each;
    choose(each);
  };
  const write = () => {
    try {
      return label in writers ? writers[label](requestOf(props)) : withIds(example.source, props);
    } catch (error) {
      return `The body is not JSON: ${error.message}`;
    }
  };
  const source = write();
  const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(source));
  return element(
    'section',
    { className: 'snippets', 'aria-label': `Snippets of ${props.method.toUpperCase()} ${props.path}` },
    element(
      'div',
      { className: 'opblock-section-header' },
      element('h4', { className: 'opblock-title' }, 'Snippets'),
      labels.map((each) =>
        element(
          'button',
          { key: each, type: 'button', 'aria-pressed': each === label, onClick: () => show(each) },
          each,
        ),
      ),
      // Browsers have a clipboard only where the page came over HTTPS or from this machine.
      navigator.clipboard &&
        element('button', { type: 'button', onClick: copy }, copied === source ? 'Copied' : 'Copy'),
    ),
    element('pre', { tabIndex: 0 }, element('code', null, source)),
  );
}

/** What is folded is not rendered: each answer of a call costs hundreds of elements. */
function Fold({ title, initially = false, children }) {
  const [isOpen, setOpen] = useState(initially);
  const onToggle = ({ currentTarget }) => setOpen(currentTarget.open);
  return element('details', { open: isOpen, onToggle }, element('summary', null, title), isOpen && children);
}

/** Beside the form its answer and the snippets; below it all that the call may answer. */
const responses =
  (Responses, { getComponent }) =>
  (props) => {
    const { path, method } = props;
    const isSuccess = (_, status) => status.startsWith('2');
    const table = (some) => element(Responses, { ...props, tryItOutResponse: null, responses: some });
    const errors = props.responses.filterNot(isSuccess);
    return element(
      Fragment,
      null,
      description.paths[path]?.[method] &&
        element(
          'div',
          { className: 'beside' },
          element(getComponent('Answer', true), { path, method }),
          element(getComponent('Snippets', true), { path, method }),
        ),
      element(
        'div',
        { className: 'documented' },
        element(Fold, { title: 'Success', initially: true }, table(props.responses.filter(isSuccess))),
        errors.size > 0 && element(Fold, { title: `Errors: ${errors.keySeq().join(', ')}` }, table(errors)),
      ),
    );
  };

/** Takes a token. The local stack has a demo account, too. */
function SignIn({ authActions, authSelectors, getComponent }) {
  const [failed, setFailed] = useState(false);
  const isAuthorized = authSelectors.authorized().size > 0;
  const useDemoAccount = async () => {
    const body = new URLSearchParams({ grant_type: 'password', username: 'demo', password: 'demo' });
    const response = await fetch('/_local/issuer/oauth/token', { method: 'POST', body });
    if (response.ok) signIn((await response.json()).access_token);
    else setFailed(true);
  };
  const demo = { type: 'button', className: 'btn demo', onClick: useDemoAccount };
  return element(
    'div',
    { className: 'sign-in' },
    isLocalStack &&
      !isAuthorized &&
      element('button', demo, failed ? 'There is no demo account here' : 'Use the demo account'),
    element(getComponent('authorizeBtn'), {
      onClick: () => authActions.showDefinitions(authSelectors.definitionsToAuthorize()),
      isAuthorized,
      showPopup: Boolean(authSelectors.shownDefinitions()),
      getComponent,
    }),
  );
}

function signIn(token) {
  const schema = description.components.securitySchemes.bearer;
  ui.authActions.authorize({ bearer: { name: 'bearer', schema, value: token } });
}

/** The token outlives a reload, and ends with the tab. */
const keepToken = (authorize) => (schemes) => {
  ofTab.token = schemes.bearer.value;
  return authorize(schemes);
};

const forgetToken = (logout) => (names) => {
  delete ofTab.token;
  return logout(names);
};

/** Puts an element before a component of Swagger UI. */
const after =
  (...before) =>
  (Component) =>
  (props) =>
    element(Fragment, null, element(...before), element(Component, props));

function additions({ React }) {
  ({ createElement: element, Fragment, useEffect, useRef, useState } = React);
  return {
    components: {
      Answer,
      Calls,
      SignIn,
      Snippets,
      AuthorizeBtnContainer: () => null,
      // A link within the button that opens the operation could not be reached by keyboard. The
      // address bar shows the same link.
      DeepLink: ({ text }) => element('span', null, text),
    },
    wrapComponents: {
      BaseLayout:
        (Layout, { getComponent }) =>
        (props) =>
          element('div', { className: 'page' }, element(getComponent('Calls', true)), element(Layout, props)),
      InfoContainer:
        (Info, { getComponent }) =>
        (props) =>
          element('header', { role: 'banner' }, element(getComponent('SignIn', true)), element(Info, props)),
      operations: after('h2', { className: 'calls-title' }, 'Calls'),
      // Their own heading is also the name of a tag.
      Webhooks: after('h3', { className: 'opblock-tag' }, 'Messages to webhooks'),
      responses,
    },
    statePlugins: {
      auth: { wrapActions: { authorize: keepToken, logout: forgetToken } },
      spec: { wrapActions: { updateSpec: readDescription } },
    },
  };
}

/** Names what has no name, or another than it shows, and lets the keyboard scroll what scrolls. */
function completeForScreenReaders() {
  const each = (selector) => document.querySelectorAll(`#docs ${selector}`);
  for (const field of each(':is(select, textarea, input):not([aria-label], [id])')) {
    const parameter = field.closest('[data-param-name]')?.dataset.paramName;
    const isOfBody = field.closest('.opblock-section-request-body') !== null;
    field.setAttribute('aria-label', parameter ?? (isOfBody ? 'Request body' : 'Media type'));
  }
  for (const button of each('.close-modal:not([aria-label])')) button.setAttribute('aria-label', 'Close');
  for (const button of each('.auth-btn-wrapper [aria-label]')) button.removeAttribute('aria-label');
  for (const table of each('.responses-table[role]')) table.removeAttribute('role');
  for (const text of each('pre:not([tabindex])')) text.tabIndex = 0;
}

/** Once a frame at most: an operation that opens changes the page hundreds of times. */
let isCompletionDue = false;
new MutationObserver(() => {
  if (isCompletionDue) return;
  isCompletionDue = true;
  requestAnimationFrame(() => {
    isCompletionDue = false;
    completeForScreenReaders();
  });
}).observe(document.getElementById('docs'), { childList: true, subtree: true });

const ui = SwaggerUIBundle({
  url: `${api}/openapi.json`,
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  defaultModelsExpandDepth: -1,
  defaultModelExpandDepth: 3,
  plugins: [additions],
  onComplete() {
    if (ofTab.token) signIn(ofTab.token);
  },
});
