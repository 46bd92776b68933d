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

/** The path of a call in the page's state. */
const keyOf = (tag, operationId) => ['operations', tag, operationId];

/** Moves to a call, or to the calls of a tag, once it is open. */
function reveal(...key) {
  requestAnimationFrame(() => {
    const block = document.getElementById(key.join('-').replaceAll(' ', '_'));
    block?.scrollIntoView();
    block?.querySelector('button').focus({ preventScroll: true });
  });
}

/**
 * Opens what the address names: it was edited, or Back led there. Swagger UI looks at the address
 * once, at the start. Its actions would write it again, and so cut off the way forward.
 */
function openAddressed() {
  const [tag = '', operationId] = location.hash.slice(2).split('/').map(decodeURIComponent);
  const isOfTag = (each) => each.tags.includes(tag) && (operationId ?? each.operationId) === each.operationId;
  const { paths = {}, webhooks = {} } = description;
  if (![...operationsOf(paths), ...operationsOf(webhooks)].some(isOfTag)) return;
  const open = (thing) => ui.getStore().dispatch({ type: 'layout_show', payload: { thing, shown: true } });
  open(['operations-tag', tag]);
  if (operationId === undefined) return reveal('operations-tag', tag);
  open(keyOf(tag, operationId));
  reveal(...keyOf(tag, operationId));
}

addEventListener('hashchange', openAddressed);

/** Swagger UI's React. */
let { element, Fragment, useEffect, useRef, useState } = {};

/**
 * The way to the console, the list of the calls, a field that searches it, and the switch of the
 * theme. On a phone the list is folded until one searches or asks for it.
 */
function Calls({ layoutSelectors, layoutActions }) {
  const [wanted, search] = useState('');
  const [isUnfolded, unfold] = useState(false);
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
    element('a', { className: 'home', href: `${api}/console` }, element(Mark), 'Console'),
    element(ThemeSwitch),
    element('input', {
      type: 'search',
      placeholder: 'Search calls',
      'aria-label': 'Search calls',
      onChange: ({ target }) => search(target.value),
    }),
    element(
      'button',
      { type: 'button', className: 'unfold', 'aria-expanded': isUnfolded, onClick: () => unfold(!isUnfolded) },
      'All calls',
    ),
    element('p', { role: 'status' }, wanted === '' ? '' : `${count} found`),
    element(
      'div',
      { className: isUnfolded || wanted !== '' ? 'list' : 'list folded', onClick: () => unfold(false) },
      found.map(([tag, all]) => [
        element('p', { key: tag }, tag === 'webhooks' ? 'Messages to webhooks' : tag),
        element(
          'ul',
          { key: `${tag} calls` },
          all.map((call) => element(CallLink, { key: call.operationId, tag, call, layoutSelectors, layoutActions })),
        ),
      ]),
    ),
  );
}

/** The mark of the service, as the console draws it: 3 × 3 atoms, neighbors never both excited. */
function Mark() {
  const places = [4, 12, 20];
  const atoms = places.flatMap((cy, row) =>
    places.map((cx, column) => {
      const isExcited = (row + column) % 2 === 0;
      return element('circle', { key: `${cx} ${cy}`, cx, cy, r: isExcited ? 3 : 1.6, opacity: isExcited ? 1 : 0.6 });
    }),
  );
  return element('svg', { className: 'mark', viewBox: '0 0 24 24', 'aria-hidden': true }, atoms);
}

function CallLink({ tag, call: { method, path, summary, operationId }, layoutSelectors, layoutActions }) {
  const key = keyOf(tag, operationId);
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    // Swagger UI writes the address itself.
    event.preventDefault();
    layoutActions.show(['operations-tag', tag], true);
    layoutActions.show(key, true);
    reveal(...key);
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
  // Swagger UI measures no refused call.
  const time = duration === undefined ? '' : `, ${duration} ms`;
  const outcome = status === undefined ? `No answer: ${message}` : `${status}${time}`;
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

/** In characters: a description that is longer shows its first sentences only. */
const longDescription = 600;

/** The first paragraph, up to its third sentence, and what follows. */
function splitDescription(text) {
  const [paragraph] = text.split('\n\n', 1);
  const [beginning] = /^(?:[^.]|\.(?!\s|$))*(?:\.\s+(?:[^.]|\.(?!\s|$))*){0,2}(?:\.|$)/.exec(paragraph);
  return [beginning, text.slice(beginning.length).trim()];
}

const markdown = (Markdown) => (props) => {
  const { source = '' } = props;
  const isFolded = source.length > longDescription && source !== description.info?.description;
  if (!isFolded) return element(Markdown, props);
  const [beginning, rest] = splitDescription(source);
  return element(
    Fragment,
    null,
    element(Markdown, { ...props, source: beginning }),
    rest && element(Fold, { title: 'Rules and limits' }, element(Markdown, { ...props, source: rest })),
  );
};

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

/** Accounts of the local stack, whose passwords are their names. */
const accounts = ['demo', 'guest', 'member', 'operator', 'device'];

/** Takes a token. The local stack has accounts, too. */
function SignIn({ authActions, authSelectors, getComponent }) {
  const isAuthorized = authSelectors.authorized().size > 0;
  return element(
    'div',
    { className: 'sign-in' },
    isLocalStack && element(Accounts, { isAuthorized }),
    element(getComponent('authorizeBtn'), {
      onClick: () => authActions.showDefinitions(authSelectors.definitionsToAuthorize()),
      isAuthorized,
      showPopup: Boolean(authSelectors.shownDefinitions()),
      getComponent,
    }),
  );
}

/** Signs in with one of the accounts, also in place of another. */
function Accounts({ isAuthorized }) {
  const [account, choose] = useState(ofTab.account ?? accounts[0]);
  const [failed, setFailed] = useState(undefined);
  const useAccount = async () => {
    const body = new URLSearchParams({ grant_type: 'password', username: account, password: account });
    const response = await fetch('/_local/issuer/oauth/token', { method: 'POST', body });
    if (response.ok) signIn((await response.json()).access_token, account);
    setFailed(response.ok ? undefined : account);
  };
  const select = { id: 'account', value: account, onChange: ({ target }) => choose(target.value) };
  const state = isAuthorized && ofTab.account ? `Signed in as ${ofTab.account}` : '';
  return element(
    Fragment,
    null,
    element(
      'label',
      { className: 'account' },
      'Account ',
      element(
        'select',
        select,
        accounts.map((each) => element('option', { key: each }, each)),
      ),
    ),
    element('button', { type: 'button', className: 'btn demo', onClick: useAccount }, `Use the ${account} account`),
    element('p', { role: 'status' }, failed ? `There is no account ${failed} here` : state),
  );
}

/** `account` is the local stack's, if it is one of its own. */
function signIn(token, account) {
  const schema = description.components.securitySchemes.bearer;
  ui.authActions.authorize({ bearer: { name: 'bearer', schema, value: token, account } });
}

/** The token outlives a reload, and ends with the tab. */
const keepToken = (authorize) => (schemes) => {
  const { value, account } = schemes.bearer;
  ofTab.token = value;
  if (account) ofTab.account = account;
  else delete ofTab.account;
  return authorize(schemes);
};

const forgetToken = (logout) => (names) => {
  delete ofTab.token;
  delete ofTab.account;
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
      Markdown: markdown,
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
    if (ofTab.token) signIn(ofTab.token, ofTab.account);
  },
});
