/**
 * What a reader copies of an operation: a call in curl, in Python and in TypeScript that works as
 * it is, with `TOKEN` in the environment.
 */

import {
  curlSample,
  fetchSample,
  pythonLiteral,
  type Request,
  requestsSample,
} from '../../functions/endpoints/docs/page/snippets.mjs';
import type { RouteName } from '../../functions/routes.ts';
import { type ClientCall, clientCalls } from './client-calls.ts';
import { type SampleRequest, sampleAddress } from './sample-request.ts';

/** As Redoc, Scalar and this service's page read it under `x-codeSamples`. */
interface CodeSample {
  readonly lang: 'Shell' | 'Python' | 'TypeScript';
  readonly label: string;
  readonly source: string;
}

/** The samples of an operation. */
export function codeSamples(name: RouteName, request: SampleRequest): CodeSample[] {
  const call = clientCalls[name];
  const plain = requestOf(request);
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(plain) },
    call === undefined
      ? { lang: 'Python', label: 'Python', source: requestsSample(plain) }
      : { lang: 'Python', label: 'Python (pasqal-cloud)', source: clientSample(request, call) },
    { lang: 'TypeScript', label: 'TypeScript', source: fetchSample(plain) },
  ];
}

function requestOf({ route, path, query, body }: SampleRequest): Request {
  const filled = route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => path[parameter]!);
  const search = new URLSearchParams(query).toString();
  return {
    method: route.method,
    address: `${sampleAddress}${filled}${search === '' ? '' : `?${search}`}`,
    needsToken: route.public !== true,
    body,
  };
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
  return [
    ...(route.public ? [] : ['import os', '']),
    ...imported.toSorted(),
    ...(route.public ? [''] : ['', '', ...token]),
    `api = ${pythonLiteral(sampleAddress)}`,
    'endpoints = Endpoints(core=api, account=api)',
    `client = PasqalCloudClient(${route.public ? '' : 'token_provider=Token(), '}endpoints=endpoints${project})`,
    ...statements({ ...request, literal: pythonLiteral }),
  ].join('\n');
}
