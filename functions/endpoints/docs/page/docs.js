// Renders the API's OpenAPI document with Swagger UI, which gets here what it lacks: the snippets
// of each operation, and what screen readers need.

/** Where the API is: the page's address without its last segment. */
const api = `${location.origin}${location.pathname.replace(/\/docs\/?$/, '')}`;

/** The address that the document's snippets call. */
const addressInSnippets = 'https://api.example.org';

/** Lets the snippets call this API, as they stand. */
const useThisApi = (updateSpec) => (text) => updateSpec(text.replaceAll(addressInSnippets, api));

function snippets({ React, specSelectors }) {
  const element = React.createElement;
  const { useState } = React;
  let chosenLast = 0;

  function Snippets({ path, method }) {
    const [chosen, choose] = useState(chosenLast);
    const [copied, setCopied] = useState(false);
    const samples = specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples'])?.toJS() ?? [];
    const sample = samples[chosen] ?? samples[0];
    if (sample === undefined) return null;
    const show = (at) => {
      chosenLast = at;
      choose(at);
      setCopied(false);
    };
    const copy = () => navigator.clipboard.writeText(sample.source).then(() => setCopied(true));
    return element(
      'section',
      { className: 'snippets', 'aria-label': `Snippets of ${method.toUpperCase()} ${path}` },
      element(
        'div',
        { className: 'opblock-section-header' },
        element('h4', { className: 'opblock-title' }, 'Snippets'),
        samples.map(({ label }, at) =>
          element(
            'button',
            { key: label, type: 'button', 'aria-pressed': at === chosen, onClick: () => show(at) },
            label,
          ),
        ),
        // Browsers have a clipboard only where the page came over HTTPS or from this machine.
        navigator.clipboard &&
          element('button', { type: 'button', className: 'copy', onClick: copy }, copied ? 'Copied' : 'Copy'),
      ),
      element('pre', { tabIndex: 0, 'data-language': sample.lang }, element('code', null, sample.source)),
    );
  }

  return {
    wrapComponents: {
      responses: (Responses) => (props) =>
        element(
          React.Fragment,
          null,
          element(Snippets, { path: props.path, method: props.method }),
          element(Responses, props),
        ),
    },
  };
}

function accessibility({ React }) {
  return {
    components: {
      // A link within the button that opens the operation could not be reached by keyboard. The
      // address bar shows the same link.
      DeepLink: ({ text }) => React.createElement('span', null, text),
      // The document has one server, the API that serves this page.
      ServersContainer: () => null,
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

SwaggerUIBundle({
  url: `${api}/openapi.json`,
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  defaultModelsExpandDepth: -1,
  defaultModelExpandDepth: 3,
  plugins: [snippets, accessibility, () => ({ statePlugins: { spec: { wrapActions: { updateSpec: useThisApi } } } })],
});
