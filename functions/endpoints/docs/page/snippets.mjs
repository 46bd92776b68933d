// Writes a request in curl, in Python and in TypeScript. The page does so of its forms, and
// openapi.json of its examples. The token is read from the environment variable TOKEN.

export function curlSample({ method, address, needsToken, headers = {}, body }) {
  const verb = method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl ${verb}${quoted(address)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(json(body))}`]),
  ].join(' \\\n  ');
}

export function requestsSample({ method, address, needsToken, headers = {}, body }) {
  const sent = [
    ...(needsToken ? [`"Authorization": f"Bearer {os.environ['TOKEN']}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `${pythonLiteral(name)}: ${pythonLiteral(value)}`),
  ];
  const options = [
    pythonLiteral(address),
    ...(sent.length === 0 ? [] : [`headers={${sent.join(', ')}}`]),
    ...(body === undefined ? [] : [`json=${pythonLiteral(body, '    ')}`]),
    'timeout=30',
  ];
  return [
    ...(needsToken ? ['import os', ''] : []),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    ...options.map((option) => `    ${option},`),
    ')',
    'response.raise_for_status()',
    'print(response.json())',
  ].join('\n');
}

export function fetchSample({ method, address, needsToken, headers = {}, body }) {
  const quoted = (text) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const sent = [
    ...(needsToken ? [`Authorization: \`Bearer \${process.env.TOKEN}\``] : []),
    ...Object.entries(headers).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(sent.length === 0 ? [] : [`headers: { ${sent.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${json(body, '  ')})`]),
  ];
  return [
    ...(options.length === 0
      ? [`const response = await fetch(${quoted(address)});`]
      : [`const response = await fetch(${quoted(address)}, {`, ...options.map((option) => `  ${option},`), '});']),
    'if (!response.ok) throw new Error(await response.text());',
    'console.log(await response.json());',
  ].join('\n');
}

const json = (value, indentation) => writeLiteral(value, {}, indentation);

export const pythonLiteral = (value, indentation) =>
  writeLiteral(value, { true: 'True', false: 'False', null: 'None' }, indentation, ',');

/**
 * A JSON value on one line where it is short, with a language's own words in place of JSON's.
 * Lines after the first start with `indentation`, the last member ends with `lastComma`.
 */
function writeLiteral(value, words, indentation = '', lastComma = '') {
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value);
    return Object.hasOwn(words, text) ? words[text] : text;
  }
  const inner = `${indentation}  ${lastComma === '' ? '' : '  '}`;
  const write = (each) => writeLiteral(each, words, inner, lastComma);
  const members = Array.isArray(value)
    ? value.map(write)
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${write(each)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const short = `${open}${members.join(', ')}${close}`;
  if (short.length <= 60 && !short.includes('\n')) return short;
  return `${open}\n${members.map((member) => inner + member).join(',\n')}${lastComma}\n${indentation}${close}`;
}
