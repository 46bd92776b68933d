import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Route, routes } from '../../../../functions/routes.ts';
import { createGateway } from '../../../../infra/local/gateway/gateway.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { startHttpServer } from '../../../../infra/local/service/http-server.ts';
import { readApi } from '../../../../infra/local/template/api-definition.ts';
import { readTemplate } from '../../../../infra/local/template/template.ts';
import { contexts } from '../../../support/contexts.ts';
import { cases } from '../../../support/depth.ts';
import { seed } from '../../../support/seed.ts';
import { synthesize } from '../../../support/synthesize.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'S', queueEndpoint: '' };
const { resources } = readTemplate(JSON.parse((await synthesize(contexts.withIssuer)).text), account);
const api = readApi(resources);

/** Functions of the template that were started since the last look, by their logical ids. */
let started: string[] = [];
const functions = resources
  .filter(({ type }) => type === 'AWS::Lambda::Function')
  .map(
    ({ logicalId, attributes }): LambdaFunction => ({
      definition: { arn: attributes.Arn } as LambdaFunction['definition'],
      async invoke() {
        started.push(logicalId.replace(/^Api/, '').replace(/[0-9A-F]{8}$/, ''));
        return { statusCode: 200, body: '{}' };
      },
      stop: async () => {},
    }),
  );
const server = await startHttpServer(0, createGateway(api, functions, account).handle);
afterAll(() => server.stop());
afterEach(() => {
  started = [];
});

const all = Object.values<Route>(routes).map((route) => ({ ...route, url: route.path.replaceAll(/\{\w+\}/g, 'x') }));
const withToken = all.filter((route) => route.public !== true);
const requests = cases(250, 5_000);

/** Sends `requests` requests, one after the other, and returns the statuses of their answers. */
async function flood(requestOf: (at: number) => { url: string; method?: string; authorization?: string }) {
  const statuses = new Set<number>();
  for (let at = 0; at < requests; at++) {
    const { url, method = 'GET', authorization } = requestOf(at);
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const response = await fetch(server.url + url, { method, headers });
    await response.arrayBuffer();
    statuses.add(response.status);
  }
  return [...statuses];
}

/** Texts that are no bearer token of three parts. */
const noTokens = fc.sample(
  fc
    .oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ maxLength: 40 }).map((text) => `Bearer ${text}`),
      fc.constantFrom('Bearer', 'Basic YTpi', 'Bearer a.b', 'Bearer a.b.c.d', 'Bearer a.b.', 'Token a.b.c', 'a.b.c'),
    )
    .filter((text) => !/^bearer +[^ .]+\.[^ .]+\.[^ .]+ *$/i.test(text)),
  { seed, numRuns: requests },
);

describe('many requests without a valid token', () => {
  it('start no function with what is no JWT', async () => {
    const statuses = await flood((at) => {
      const { url, method } = withToken[at % withToken.length]!;
      return { url, method, authorization: noTokens[at]! };
    });
    expect([statuses, started]).toEqual([[401], []]);
  });

  it('start the authorizer, and nothing behind it, with what might be one', async () => {
    const { url, method } = withToken[0]!;
    const answer = await fetch(server.url + url, { method, headers: { Authorization: 'Bearer a.b.c' } });
    expect([answer.status, started]).toEqual([500, ['Authorizer']]);
  });

  it('start no function with preflights', async () => {
    expect(await flood((at) => ({ url: all[at % all.length]!.url, method: 'OPTIONS' }))).toEqual([204]);
    expect(started).toEqual([]);
  });

  it('start one function, and not the authorizer, with unknown paths and methods', async () => {
    await flood((at) => {
      const url = at % 2 === 0 ? `/nothing/${at}` : all[at % all.length]!.url;
      return { url, method: at % 2 === 0 ? 'GET' : 'HEAD', authorization: noTokens[at]! };
    });
    expect(new Set(started)).toEqual(new Set(['MethodNotAllowed']));
    expect(started).toHaveLength(requests);
  });
});
