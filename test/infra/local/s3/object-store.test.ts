import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ObjectVersion,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteVersions, listVersions } from '../../../../functions/data/batches/erase-results.ts';
import { isAllowed, type PolicyStatement } from '../../../../infra/local/iam/policy.ts';
import type { Principal } from '../../../../infra/local/iam/principals.ts';
import { directoryObjects, memoryObjects } from '../../../../infra/local/s3/object-files.ts';
import { startObjectStore } from '../../../../infra/local/s3/object-store.ts';
import type { HttpServer } from '../../../../infra/local/service/http-server.ts';

const bucket = 'results';
const oldSignatures: PolicyStatement = {
  Effect: 'Deny',
  Action: 's3:*',
  Resource: `arn:aws:s3:::${bucket}/*`,
  Condition: { NumericGreaterThan: { 's3:signatureAge': 600_000 } },
};

function principal(accessKeyId: string, statements: PolicyStatement[], sessionToken?: string): [string, Principal] {
  const credentials = {
    accessKeyId,
    secretAccessKey: `secret of ${accessKeyId}`,
    ...(sessionToken !== undefined && { sessionToken }),
  };
  return [accessKeyId, { arn: accessKeyId, credentials, mayDo: (request) => isAllowed(statements, request) }];
}

const principals = new Map([
  principal('OWNER', [{ Effect: 'Allow', Action: '*', Resource: '*' }]),
  principal(
    'READER',
    [{ Effect: 'Allow', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/results/*` }],
    'token',
  ),
]);

const directory = mkdtempSync(join(tmpdir(), 'objects-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe.each([
  ['in memory', memoryObjects()],
  ['in a directory', directoryObjects(directory)],
])('the object store %s', (_, files) => {
  let store: HttpServer;
  let clock = 0;

  const clientOf = (id: string, settings = {}) =>
    new S3Client({
      endpoint: store.url,
      region: 'eu-west-3',
      credentials: principals.get(id)!.credentials,
      ...settings,
    });
  const object = (Key: string) => ({ Bucket: bucket, Key });
  const put = (key: string, body: string) =>
    clientOf('OWNER').send(new PutObjectCommand({ ...object(key), Body: body, ContentType: 'application/json' }));
  const link = (key: string, expiresIn = 300, id = 'READER') =>
    getSignedUrl(clientOf(id), new GetObjectCommand(object(key)), { expiresIn });

  beforeAll(async () => {
    store = await startObjectStore({
      buckets: [{ name: bucket, policy: [oldSignatures] }],
      principals,
      files,
      now: () => Date.now() + clock,
    });
  });
  beforeEach(() => {
    clock = 0;
  });
  afterAll(() => store.stop());

  it.each([
    'results/a.json',
    'results/ü ö&+%..c?.json',
    'results/a.json/b',
    'results//x',
    `results/${'k'.repeat(120)}`,
  ])('stores, returns and deletes %s for the SDK', async (key) => {
    await put(key, '{"a":1}');
    const got = await clientOf('READER').send(new GetObjectCommand(object(key)));
    expect([await got.Body!.transformToString(), got.ContentType]).toEqual(['{"a":1}', 'application/json']);
    const head = await clientOf('OWNER').send(new HeadObjectCommand(object(key)));
    expect(head).toMatchObject({ ContentLength: 7, ETag: got.ETag });
    expect(await (await fetch(await link(key))).text()).toBe('{"a":1}');
    await clientOf('OWNER').send(new DeleteObjectCommand(object(key)));
    const [deleted, foreign] = [await fetch(await link(key, 300, 'OWNER')), await fetch(await link(key))];
    expect([deleted.status, await deleted.text()]).toEqual([404, expect.stringContaining('NoSuchKey')]);
    // S3 answers so if the caller may not list the bucket.
    expect([foreign.status, await foreign.text()]).toEqual([403, expect.stringContaining('AccessDenied')]);
  });

  it('keeps all versions, lists them page by page, and deletes those that are named', async () => {
    const client = clientOf('OWNER');
    const prefix = 'results/<&> é/';
    for (const text of ['1', '2', '3']) await put(`${prefix}a.json`, text);
    await client.send(new DeleteObjectCommand(object(`${prefix}a.json`)));
    const stored = { content: Buffer.from('b'), contentType: 'text/plain', modified: '' };
    for (let at = 0; at < 1_005; at++) await files.write(`${bucket}/${prefix}b${at % 40}/${at}`, stored);
    await put('results/other.json', 'other');
    const listed = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix }));
    expect([listed.Versions?.length, listed.DeleteMarkers?.length, listed.IsTruncated]).toEqual([999, 1, true]);
    const [newest] = listed.Versions!;
    const deleteAll = async (as = client, isWanted: (version: ObjectVersion) => boolean = () => true) => {
      let deleted = 0;
      for await (const versions of listVersions({ name: bucket, client: as }, prefix)) {
        deleted += await deleteVersions({ name: bucket, client: as }, versions.filter(isWanted));
      }
      return deleted;
    };
    await expect(deleteVersions({ name: bucket, client: clientOf('READER') }, [newest!])).rejects.toThrow(
      'Results could not',
    );
    const refused = deleteAll(clientOf('READER'));
    await expect(refused).rejects.toThrow('Results could not be deleted.');
    const ofA = ({ Key = '' }) => Key.endsWith('a.json');
    // Without its marker and its newest version, the object is the version before.
    const Objects = [...listed.DeleteMarkers!, newest!].map(({ Key, VersionId }) => ({ Key, VersionId }));
    await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
    expect(await (await fetch(await link(`${prefix}a.json`))).text()).toBe('2');
    expect(await deleteAll(client, ofA)).toBe(2);
    expect(await deleteAll()).toBe(1_005);
    expect(await files.list(`${bucket}/${prefix}`)).toEqual([]);
    expect(await (await fetch(await link('results/other.json'))).text()).toBe('other');
  });

  it('reads a streamed body in chunks with a checksum', async () => {
    const text = 'x'.repeat(200_000);
    const Body = Readable.from([Buffer.from(text)]);
    const command = new PutObjectCommand({ ...object('results/stream'), Body, ContentLength: text.length });
    await clientOf('OWNER').send(command);
    const got = await clientOf('OWNER').send(new GetObjectCommand(object('results/stream')));
    expect(await got.Body!.transformToString()).toBe(text);
  });

  it('sends the headers that the link asks for', async () => {
    await put('results/a.json', '{}');
    const command = new GetObjectCommand({ ...object('results/a.json'), ResponseContentType: 'text/plain' });
    const response = await fetch(await getSignedUrl(clientOf('READER'), command));
    expect(response.headers.get('content-type')).toBe('text/plain');
  });

  it('ends a link on time', async () => {
    await put('results/a.json', '{}');
    const url = await link('results/a.json', 60);
    clock = 30_000;
    expect((await fetch(url)).status).toBe(200);
    clock = 62_000;
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
  });

  it('refuses what the policy of the bucket denies, however long the link is valid', async () => {
    const url = await link('results/a.json', 3_600);
    clock = 540_000;
    expect((await fetch(url)).status).toBe(200);
    clock = 602_000;
    expect((await fetch(url)).status).toBe(403);
  });

  it('refuses what the role of the signer does not allow', async () => {
    await put('other/a.json', '{}');
    expect((await fetch(await link('other/a.json'))).status).toBe(403);
    const writing = clientOf('READER').send(new PutObjectCommand({ ...object('results/a.json'), Body: '{}' }));
    await expect(writing).rejects.toMatchObject({ name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
  });

  it.each([
    ['an unknown key', { accessKeyId: 'NOBODY', secretAccessKey: 'x' }, 'InvalidAccessKeyId'],
    ['a wrong secret', { accessKeyId: 'OWNER', secretAccessKey: 'wrong' }, 'SignatureDoesNotMatch'],
    [
      'another session token',
      { accessKeyId: 'READER', secretAccessKey: 'secret of READER', sessionToken: 'x' },
      'SignatureDoesNotMatch',
    ],
    [
      'a session token with keys that have none',
      { accessKeyId: 'OWNER', secretAccessKey: 'secret of OWNER', sessionToken: 'x' },
      'SignatureDoesNotMatch',
    ],
  ])('refuses %s', async (_, credentials, code) => {
    const client = clientOf('OWNER', { credentials });
    await expect(client.send(new GetObjectCommand(object('results/a.json')))).rejects.toMatchObject({ name: code });
    const url = await getSignedUrl(client, new GetObjectCommand(object('results/a.json')));
    expect(await (await fetch(url)).text()).toContain(`<Code>${code}</Code>`);
  });

  it.each([
    ['no signature', '', 403],
    ['half a signature', '?X-Amz-Signature=abc', 400],
    ['a validity of more than a week', 'X-Amz-Expires=604801', 400],
    ['a validity that is no number', 'X-Amz-Expires=soon', 400],
  ])('refuses %s', async (_, change, status) => {
    const [path, query = ''] = (await link('results/a.json')).split('?');
    const changed = change.startsWith('X') ? `?${query.replace(/X-Amz-Expires=\d+/, change)}` : change;
    expect((await fetch(path + changed)).status).toBe(status);
  });

  /** Changes a request after it was signed. */
  const changedAfterSigning = (change: (request: { body: unknown; headers: Record<string, string> }) => void) => {
    const client = clientOf('OWNER');
    client.middlewareStack.add(
      (next) => async (input) => {
        change((input as unknown as { request: Parameters<typeof change>[0] }).request);
        return next(input);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    return client;
  };

  it('refuses a body that is not the signed one', async () => {
    const client = changedAfterSigning((request) => {
      request.body = 'abd';
    });
    const writing = client.send(new PutObjectCommand({ ...object('results/b.json'), Body: 'abc' }));
    await expect(writing).rejects.toMatchObject({ name: 'XAmzContentSHA256Mismatch' });
  });

  it('refuses an unsigned x-amz header, and ignores other unsigned headers', async () => {
    const getWith = (name: string) => {
      const client = changedAfterSigning(({ headers }) => {
        headers[name] = 'true';
      });
      return client.send(new GetObjectCommand(object('results/a.json')));
    };
    await put('results/a.json', '{}');
    expect((await getWith('x-other')).ContentLength).toBe(2);
    await expect(getWith('x-amz-bypass-governance-retention')).rejects.toMatchObject({
      name: 'AccessDenied',
      message: expect.stringContaining('not signed'),
    });
  });

  it.each(['x-amz-acl', 'x-amz-meta-note', 'x-amz-checksum-sha256'])(
    'refuses %s with a link that did not sign it',
    async (name) => {
      const url = await getSignedUrl(clientOf('OWNER'), new PutObjectCommand(object('results/c.json')));
      const putWith = (headers: Record<string, string>) => fetch(url, { method: 'PUT', body: '{}', headers });
      const refused = await putWith({ [name]: 'private' });
      expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('not signed')]);
      expect((await putWith({ 'content-type': 'text/plain' })).status).toBe(200);
    },
  );
});

describe('directoryObjects', () => {
  it('keeps every object within its directory', async () => {
    const inner = join(directory, 'inner');
    const files = directoryObjects(inner);
    const stored = { content: Buffer.from('x'), contentType: 'text/plain', modified: '' };
    for (const name of ['../../a', 'b/../../c', '/d', '..', '.']) {
      await files.write(name, stored);
      expect(await files.read(name)).toEqual(stored);
    }
    expect(readdirSync(directory).filter((name) => name !== 'inner' && name !== 'results')).toEqual([]);
  });
});
