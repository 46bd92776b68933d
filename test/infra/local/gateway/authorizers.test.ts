import { beforeEach, describe, expect, it } from 'vitest';
import { createAuthorizers } from '../../../../infra/local/gateway/authorizers.ts';
import type { GatewayRequest } from '../../../../infra/local/gateway/gateway-request.ts';
import type { ApiDefinition, AuthorizerDefinition } from '../../../../infra/local/template/api-definition.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'S', queueEndpoint: '' };

/** Calls of the authorizer's function so far: the tokens that it was asked about. */
let asked: string[];
beforeEach(() => {
  asked = [];
});

/** An authorizer that allows everything, in a `verdict` of its own for each call. */
function authorizerOf(definition: Partial<AuthorizerDefinition> = {}) {
  const known = { id: 'a', functionArn: 'f', header: 'authorization', cacheSeconds: 60, pattern: /^.*$/ };
  const authorizer = { ...known, ...definition };
  const api = { id: 'api', stage: 'dev', authorizers: [authorizer] } as unknown as ApiDefinition;
  const authorize = createAuthorizers(api, account, async (_, event) => {
    asked.push((event as { authorizationToken: string }).authorizationToken);
    return {
      principalId: 'me',
      policyDocument: { Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: '*' }] },
      context: { verdict: asked.length },
    };
  });
  return (authorization: string, seconds: number) =>
    authorize('a', {
      method: 'GET',
      path: '/x',
      headers: { authorization },
      time: seconds * 1000,
    } as unknown as GatewayRequest);
}

describe('the pattern of an authorizer', () => {
  it('refuses a token of another form without a call', async () => {
    const authorize = authorizerOf({ pattern: /^Bearer [a-z]+$/ });
    for (const token of ['Bearer A', 'Bearer', 'xBearer a', '']) {
      await expect(authorize(token, 1_000)).rejects.toMatchObject({ responseType: 'UNAUTHORIZED' });
    }
    expect(asked).toEqual([]);
    await authorize('Bearer a', 1_000);
    expect(asked).toEqual(['Bearer a']);
  });
});

describe('the cache of an authorizer', () => {
  it('keeps a verdict for its time to live, and asks again after that', async () => {
    const authorize = authorizerOf();
    const verdicts = [];
    for (const seconds of [1_000, 1_030, 1_059, 1_060, 1_119, 1_121]) {
      verdicts.push((await authorize('Bearer A', seconds)).verdict);
    }
    expect(verdicts).toEqual(['1', '1', '1', '2', '2', '3']);
  });

  it('keeps a verdict for each token', async () => {
    const authorize = authorizerOf();
    for (const token of ['A', 'B', 'A']) await authorize(token, 1_000);
    expect(asked).toEqual(['A', 'B']);
  });

  it('is not used with a time to live of 0', async () => {
    const authorize = authorizerOf({ cacheSeconds: 0 });
    for (let call = 0; call < 2; call += 1) await authorize('A', 1_000);
    expect(asked).toEqual(['A', 'A']);
  });

  it('drops expired verdicts when there are many, and no others', async () => {
    const authorize = authorizerOf();
    for (let token = 0; token < 1_000; token += 1) await authorize(`old ${token}`, 1_000);
    await authorize('young', 1_050);
    await authorize('another', 1_070);
    asked = [];
    await authorize('young', 1_071);
    expect(asked).toEqual([]);
  });
});
