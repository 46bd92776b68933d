import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Sha256 } from '../../functions/data/aws/sha256.ts';
import { getResultsKey } from '../../functions/data/batches/results.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { commonHeaders, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { testDb } from '../support/test-db.ts';

const { client, names } = await functionEnvironment();
const { handler } = await import('../../functions/endpoints/jobs/get-results-link.ts');

const owner = 'auth0|alice';
const done = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
const pending = '00000000-0000-0000-0000-000000000001';
const misfiled = '00000000-0000-0000-0000-000000000002';
const resultsKey = `results/${owner}/${done}.json`;

const times = { written_at: {}, updated_at: '2026-03-01T12:00:00.000000Z' };

beforeAll(async () => {
  for (const row of [
    { id: done, results_key: resultsKey },
    { id: pending, results_key: null },
    { id: misfiled, results_key: 'results/auth0|bob/x.json' },
  ]) {
    await client.send(new PutCommand({ TableName: names.Jobs, Item: { user_id: owner, ...times, ...row } }));
  }
});
afterEach(() => vi.useRealTimers());

const ask = (
  userId: string,
  jobId: string,
  event = gatewayEvent('getResultsLink', { userId, path: { job_id: jobId } }),
) => handler(event, lambdaContext());

async function linkOf(jobId: string): Promise<URL> {
  const { statusCode, body } = await ask(owner, jobId);
  expect(statusCode).toBe(200);
  return new URL(JSON.parse(body).data.results_link);
}

/** The link as AWS's own signer signs it again, from nothing but its address. */
async function signedAgain(link: URL, secretAccessKey: string): Promise<string> {
  const field = (name: string) => link.searchParams.get(`X-Amz-${name}`) ?? '';
  const signer = new SignatureV4({
    credentials: { accessKeyId: 'AKIDTEST', secretAccessKey, sessionToken: field('Security-Token') },
    region: 'eu-west-3',
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
  });
  const query = Object.fromEntries(
    [...link.searchParams].filter(([name]) => name === 'X-Amz-Content-Sha256' || !name.startsWith('X-Amz-')),
  );
  const request = {
    method: 'GET',
    protocol: 'https:',
    hostname: link.host,
    path: link.pathname,
    query,
    headers: { host: link.host },
  };
  const date = field('Date').replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z');
  const signed = await signer.presign(
    { ...request, headers: { ...request.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    {
      signingDate: new Date(date),
      expiresIn: Number(field('Expires')),
      unsignableHeaders: new Set(['x-amz-content-sha256']),
      unhoistableHeaders: new Set(['x-amz-content-sha256']),
    },
  );
  return String(signed.query?.['X-Amz-Signature']);
}

describe('GET /api/v1/jobs/{job_id}/results_link', () => {
  it('answers with a link to the results', async () => {
    const event = gatewayEvent('getResultsLink', { userId: owner, path: { job_id: done } });
    const { statusCode, headers, body } = await ask(owner, done, event);
    expect({ statusCode, headers }).toEqual({
      statusCode: 200,
      headers: commonHeaders(event),
    });
    expect(JSON.parse(body)).toEqual({
      status: 'success',
      message: 'OK.',
      code: '200',
      data: { results_link: expect.stringMatching(/^https:/) },
    });
  });

  it('says that results have expired where the bucket has deleted them by now', async () => {
    const db = testDb(client, names, { now: () => clock });
    const linkOf = (jobId: string) => getResultsKey(db, { userId: owner, jobId }, 30);
    let clock = Date.parse('2026-03-31T23:59:59.999Z');
    expect(await linkOf(done)).toBe(resultsKey);
    clock += 1;
    await expect(linkOf(done)).rejects.toMatchObject({ reason: 'results_expired', status: 404 });
    expect(await linkOf(pending)).toBe(null);
  });

  it('answers null while the job has no results', async () => {
    const { statusCode, body } = await ask(owner, pending);
    expect(statusCode).toBe(200);
    expect(body).toBe('{"status":"success","message":"OK.","code":"200","data":{"results_link":null}}');
  });

  it('signs an S3 GET of that object alone, for 300 s, that downloads as JSON and needs no header', async () => {
    const link = await linkOf(done);
    expect(link.host).toBe('results-bucket.s3.eu-west-3.amazonaws.com');
    expect(decodeURIComponent(link.pathname)).toBe(`/${resultsKey}`);
    const { 'X-Amz-Date': date, 'X-Amz-Signature': signature, ...rest } = Object.fromEntries(link.searchParams);
    expect(rest).toEqual({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
      'X-Amz-Credential': `AKIDTEST/${date?.slice(0, 8)}/eu-west-3/s3/aws4_request`,
      'X-Amz-Expires': '300',
      'X-Amz-Security-Token': 'a session',
      'X-Amz-SignedHeaders': 'host',
      'response-content-encoding': 'identity',
      'response-content-type': 'application/json',
      'x-id': 'GetObject',
    });
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is signed as AWS’s own signer signs it, and by no other key', async () => {
    const link = await linkOf(done);
    const signature = link.searchParams.get('X-Amz-Signature');
    expect(await signedAgain(link, 'a secret')).toBe(signature);
    expect(await signedAgain(link, 'another secret')).not.toBe(signature);
    link.pathname = link.pathname.replace('alice', 'mallory');
    expect(await signedAgain(link, 'a secret')).not.toBe(signature);
  });

  it('answers for another user’s job byte for byte as for one that does not exist', async () => {
    const foreign = await ask('auth0|mallory', done);
    const unknown = await ask('auth0|mallory', 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    expect(foreign.statusCode).toBe(404);
    expect(foreign.body).toBe(unknown.body);
    const withoutId = ({ headers }: typeof foreign) => ({ ...headers, 'X-Request-Id': '' });
    expect(withoutId(foreign)).toEqual(withoutId(unknown));
    expect(JSON.parse(foreign.body)).toEqual({
      status: 'fail',
      message: 'Not Found',
      code: '404',
      data: { reason: 'not_found', description: 'There is no such job.' },
    });
  });

  it.each(['x', '..', `${done}0`, '5d6a3f0e', 'null'])('refuses the id %j', async (jobId) => {
    const { statusCode, body } = await ask(owner, jobId);
    expect(statusCode).toBe(422);
    expect(JSON.parse(body).detail).toEqual([
      { loc: ['path', 'job_id'], msg: 'Input should be a valid UUID', type: 'uuid_parsing' },
    ]);
  });

  it('issues no link to what lies among the results of another user', async () => {
    const { statusCode, body } = await ask(owner, misfiled);
    expect(statusCode).toBe(500);
    expect(body).not.toContain('bob');
  });
});
