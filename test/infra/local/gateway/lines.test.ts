/** Calls that wait in line for a function whose execution environments are all busy. */

import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createGateway } from '../../../../infra/local/gateway/gateway.ts';
import { lambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { startHttpServer } from '../../../../infra/local/service/http-server.ts';
import type { ApiDefinition } from '../../../../infra/local/template/api-definition.ts';
import { hang } from '../../../support/patience.ts';

const directory = mkdtempSync(join(tmpdir(), 'lines-'));
writeFileSync(
  join(directory, 'index.mjs'),
  `export const handler = async ({ queryStringParameters: { id, hang } }) => {
    console.log(id);
    if (hang) await new Promise(() => setInterval(() => {}, 1000));
    return { statusCode: 200, body: id };
  }`,
);

/** The calls that functions began, in order. */
const begun: string[] = [];

/** It has one environment, and ends a call that hangs after its timeout. */
const functionOf = ([name, timeoutSeconds]: readonly [string, number]) =>
  lambdaFunction(
    {
      ...{ name, arn: name, directory, handler: 'index.handler', logGroup: name, timeoutSeconds, memoryMegabytes: 128 },
      ...{ reservedConcurrency: 1, environment: {}, roleArn: '', statements: [] },
    },
    {},
    (line) => begun.push(line),
  );
const functions = (
  [
    ['busy', 2],
    ['patient', 2],
    ['stuck', 3_600],
    ['other', 60],
  ] as const
).map(functionOf);

const api: ApiDefinition = {
  ...{ id: 'api', stage: 'dev', gatewayResponses: {}, authorizers: [], binaryMediaTypes: [], stageVariables: null },
  resources: functions.map(({ definition: { arn } }) => ({
    path: `/${arn}`,
    segments: [arn],
    methods: {
      GET: {
        // The route `busy` gives up before its function does, as API Gateway before a long one.
        integration: { type: 'AWS_PROXY', functionArn: arn, timeoutMilliseconds: arn === 'busy' ? 1_000 : 29_000 },
      },
    },
  })),
};
const account = { accountId: '1', region: 'eu-west-3', stackName: 'Stack', queueEndpoint: '' };
const server = await startHttpServer(0, createGateway(api, functions, account).handle);
afterAll(async () => void (await Promise.all([server.stop(), ...functions.map((each) => each.stop())])));
beforeEach(() => void begun.splice(0));

const url = (path: string, id: string) => `${server.url}/${path}?id=${id}${id === 'hanging' ? '&hang=1' : ''}`;
const ask = async (path: string, id: string) => (await fetch(url(path, id))).status;
const hasBegun = () => expect.poll(() => begun.includes('hanging'), hang).toBe(true);

describe('a call in line', () => {
  it('leaves it when it was answered 504', async () => {
    const hanging = ask('busy', 'hanging');
    await hasBegun();
    const others = Promise.all(['a', 'b', 'c'].map((id) => ask('busy', id)));
    expect([await hanging, ...(await others)]).toEqual([504, 504, 504, 504]);
    await expect.poll(() => ask('busy', 'last'), hang).toBe(200);
    // Several of the last ones may have begun.
    expect(new Set(begun)).toEqual(new Set(['hanging', expect.stringContaining('timed out'), 'last']));
  });

  it('leaves it when its client is gone', async () => {
    const hanging = ask('patient', 'hanging');
    await hasBegun();
    for (const id of ['a', 'b', 'c']) {
      const request = get(url('patient', id), { agent: false }).on('error', () => undefined);
      await once(request, 'finish');
      request.destroy();
    }
    expect(await ask('patient', 'last')).toBe(200);
    expect(begun).toEqual(['hanging', expect.stringContaining('timed out'), 'last']);
    expect(await hanging).toBe(502);
  });

  it('of one route holds no call of another', async () => {
    void ask('stuck', 'hanging').catch(() => undefined);
    await hasBegun();
    for (let call = 0; call < 20; call++) void ask('stuck', 'next').catch(() => undefined);
    expect(await ask('other', 'other')).toBe(200);
    expect(begun).toEqual(['hanging', 'other']);
  });
});
