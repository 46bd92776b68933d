import { vi } from 'vitest';
import { resultsPrefix } from '../../functions/values/results-key.ts';
import { isAllowed } from '../../infra/local/iam/policy.ts';
import { memoryObjects, type ObjectFiles } from '../../infra/local/s3/object-files.ts';
import { startObjectStore } from '../../infra/local/s3/object-store.ts';
import { putVersion } from '../../infra/local/s3/object-versions.ts';
import { type PassingRequest, startPassingServer } from './passing-server.ts';

type Handle = Parameters<typeof startPassingServer>[1];

export interface ResultsStore {
  /** Stores an object; whatever is no text or bytes as JSON. */
  put(key: string, content: unknown): Promise<void>;
  /** All versions of all objects, by bucket and key. */
  readonly files: ObjectFiles;
  /** The requests since it was emptied, `GET results/alice/1.json`. */
  readonly requests: string[];
  /** What is done with each request; by default it passes. */
  handle: Handle;
  stop(): Promise<void>;
}

const pass: Handle = async (_, pass, answer) => answer(await pass());

/**
 * The results bucket of the function environment, in the local store: signatures are real, and the
 * functions may read and write results and nothing else. Import endpoints after this.
 */
export async function startResultsStore(): Promise<ResultsStore> {
  const bucket = 'results-bucket';
  const role = {
    arn: 'arn:aws:sts::123456789012:assumed-role/role/function-under-test',
    credentials: { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret', sessionToken: 'a session' },
    mayDo: (request: Parameters<typeof isAllowed>[1]) =>
      isAllowed(
        [
          {
            Effect: 'Allow',
            Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObjectVersion'],
            Resource: `arn:aws:s3:::${bucket}/${resultsPrefix}*`,
          },
          {
            Effect: 'Allow',
            Action: 's3:ListBucketVersions',
            Resource: `arn:aws:s3:::${bucket}`,
            Condition: { StringLike: { 's3:prefix': `${resultsPrefix}*` } },
          },
        ],
        request,
      ),
  };
  const files = memoryObjects();
  const store = await startObjectStore({
    buckets: [{ name: bucket, policy: [] }],
    principals: new Map([['AKIDTEST', role]]),
    files,
  });
  const keyOf = ({ target }: PassingRequest) =>
    decodeURIComponent(new URL(target, store.url).pathname).slice(`/${bucket}/`.length);
  const proxy = await startPassingServer(store.url, (request, ...rest) => {
    results.requests.push(`${request.method} ${keyOf(request)}`);
    return results.handle(request, ...rest);
  });
  const results: ResultsStore = {
    requests: [],
    files,
    handle: pass,
    async put(key, value) {
      const content = value instanceof Uint8Array || typeof value === 'string' ? value : JSON.stringify(value);
      const object = { contentType: 'application/json', modified: new Date().toUTCString() };
      await putVersion(files, `${bucket}/${key}`, { content: Buffer.from(content as string), ...object }, Date.now());
    },
    async stop() {
      await proxy.stop();
      await store.stop();
    },
  };
  vi.stubEnv('AWS_ENDPOINT_URL_S3', proxy.url);
  return results;
}
