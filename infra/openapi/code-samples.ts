/**
 * What a reader copies of an operation: a call in curl, in Python and in TypeScript that works as
 * it stands with `TOKEN` in the environment.
 */

import type { RouteName } from '../../functions/routes.ts';
import { type ClientCall, clientCalls } from './client-calls.ts';
import { type SampleRequest, sampleAddress } from './sample-request.ts';

/** As Redoc, Scalar and this service's page read it under `x-codeSamples`. */
export interface CodeSample {
  readonly lang: 'Shell' | 'Python' | 'TypeScript';
  readonly label: string;
  readonly source: string;
}

/** The samples of an operation. */
export function codeSamples(name: RouteName, request: SampleRequest): CodeSample[] {
  const call = clientCalls[name];
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(request) },
    call === undefined
      ? { lang: 'Python', label: 'Python', source: requestsSample(request) }
      : { lang: 'Python', label: 'Python (pasqal-cloud)', source: clientSample(request, call) },
    { lang: 'TypeScript', label: 'TypeScript', source: fetchSample(request) },
  ];
}

function addressOf({ route, path, query }: SampleRequest): string {
  const filled = route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => path[parameter]!);
  const search = new URLSearchParams(query).toString();
  return `${sampleAddress}${filled}${search === '' ? '' : `?${search}`}`;
}

function curlSample(request: SampleRequest): string {
  const { route, body } = request;
  const method = route.method === 'GET' || (route.method === 'POST' && body !== undefined) ? '' : `-X ${route.method} `;
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl ${method}${quoted(addressOf(request))}`,
    ...(route.public ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(json(body))}`]),
  ].join(' \\\n  ');
}

function requestsSample(request: SampleRequest): string {
  const { route, body } = request;
  const options = [
    pythonLiteral(addressOf(request)),
    ...(route.public ? [] : [`headers={"Authorization": f"Bearer {os.environ['TOKEN']}"}`]),
    ...(body === undefined ? [] : [`json=${pythonLiteral(body, '    ')}`]),
    'timeout=30',
  ];
  return lines(
    ...(route.public ? [] : ['import os', '']),
    'import requests',
    '',
    `response = requests.${route.method.toLowerCase()}(`,
    ...options.map((option) => `    ${option},`),
    ')',
    'response.raise_for_status()',
    'print(response.json())',
  );
}

function clientSample(request: SampleRequest, { imports, statements, projectId }: ClientCall): string {
  const { route, body } = request;
  const project = projectId ? `, project_id=${pythonLiteral((body as { project_id: string }).project_id)}` : '';
  const imported = [
    ...(route.public ? [] : ['from pasqal_cloud.authentication import TokenProvider']),
    'from pasqal_cloud.endpoints import Endpoints',
    'from pasqal_cloud.pasqal_cloud_client import PasqalCloudClient',
    ...(imports ?? []),
  ];
  const token = [
    'class Token(TokenProvider):',
    '    def get_token(self) -> str:',
    '        return os.environ["TOKEN"]',
    '',
    '',
  ];
  return lines(
    ...(route.public ? [] : ['import os', '']),
    ...imported.toSorted(),
    ...(route.public ? [''] : ['', '', ...token]),
    `api = ${pythonLiteral(sampleAddress)}`,
    'endpoints = Endpoints(core=api, account=api)',
    `client = PasqalCloudClient(${route.public ? '' : 'token_provider=Token(), '}endpoints=endpoints${project})`,
    ...statements({ ...request, literal: pythonLiteral }),
  );
}

function fetchSample(request: SampleRequest): string {
  const { route, body } = request;
  const headers = [
    ...(route.public ? [] : [`Authorization: \`Bearer \${process.env.TOKEN}\``]),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(route.method === 'GET' ? [] : [`method: '${route.method}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${json(body, '  ')})`]),
  ];
  const address = `'${addressOf(request)}'`;
  return lines(
    ...(options.length === 0
      ? [`const response = await fetch(${address});`]
      : [`const response = await fetch(${address}, {`, ...options.map((option) => `  ${option},`), '});']),
    'if (!response.ok) throw new Error(await response.text());',
    'console.log(await response.json());',
  );
}

const lines = (...texts: readonly string[]) => texts.join('\n');

/** Words of a language for the values that others write otherwise. */
type Words = Readonly<Record<'true' | 'false' | 'null', string>>;

const json = (value: unknown, indentation?: string) =>
  writeLiteral(value, { true: 'true', false: 'false', null: 'null' }, indentation);

const pythonLiteral = (value: unknown, indentation?: string) =>
  writeLiteral(value, { true: 'True', false: 'False', null: 'None' }, indentation, ',');

/**
 * A JSON value on one line where it is short. Lines after the first start with `indentation`, the
 * last member ends with `lastComma`.
 */
function writeLiteral(value: unknown, words: Words, indentation = '', lastComma = ''): string {
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value);
    return Object.hasOwn(words, text) ? words[text as keyof Words] : text;
  }
  const inner = `${indentation}  ${lastComma === '' ? '' : '  '}`;
  const write = (each: unknown) => writeLiteral(each, words, inner, lastComma);
  const members = Array.isArray(value)
    ? value.map(write)
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${write(each)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const short = `${open}${members.join(', ')}${close}`;
  if (short.length <= 60 && !short.includes('\n')) return short;
  return `${open}\n${members.map((member) => inner + member).join(',\n')}${lastComma}\n${indentation}${close}`;
}
