import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { beforeAll, describe, expect, it } from 'vitest';
import { call, demo, stack } from '../support/local-stack.ts';
import { hang } from '../support/patience.ts';

describe('GET /api/v1/jobs/{job_id}/results_link', () => {
  let job: { id: string; runs: number };
  let link: URL;

  beforeAll(async () => {
    [job] = (await call('/api/v2/jobs?status=DONE&limit=1', { token: demo.token })).body.data;
    const { status, body } = await call(`/api/v1/jobs/${job.id}/results_link`, { token: demo.token });
    expect(status).toBe(200);
    link = new URL(body.data.results_link);
  });

  const changed = (change: (url: URL) => void) => {
    const url = new URL(link);
    change(url);
    return url;
  };

  it('leads to the results, as JSON and without a token', async () => {
    const response = await fetch(link);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    const { counter, raw } = (await response.json()) as { counter: Record<string, number>; raw: string[] };
    expect(raw).toHaveLength(job.runs);
    expect(Object.values(counter).reduce((sum, count) => sum + count)).toBe(job.runs);
  });

  it('signs the host only, for five minutes', () => {
    expect(link.searchParams.get('X-Amz-SignedHeaders')).toBe('host');
    expect(link.searchParams.get('X-Amz-Expires')).toBe('300');
    expect(link.origin).toBe(stack.objectStoreEndpoint);
  });

  it('is null while a job has no results', async () => {
    const [pending] = (await call('/api/v2/jobs?status=PENDING&limit=1', { token: demo.token })).body.data;
    const { status, body } = await call(`/api/v1/jobs/${pending.id}/results_link`, { token: demo.token });
    expect([status, body.data]).toEqual([200, { results_link: null }]);
  });

  it.each([
    [
      'another object',
      (url: URL) => {
        url.pathname = url.pathname.replace(/[^/]+$/, 'other.json');
      },
    ],
    ['a longer validity', (url: URL) => url.searchParams.set('X-Amz-Expires', '900')],
    [
      'another date',
      (url: URL) =>
        url.searchParams.set(
          'X-Amz-Date',
          new Date()
            .toISOString()
            .replace(/[-:]|\.\d+/g, '')
            .replace(/\d\dZ/, '59Z'),
        ),
    ],
    ['another signature', (url: URL) => url.searchParams.set('X-Amz-Signature', '0'.repeat(64))],
    ['another parameter', (url: URL) => url.searchParams.set('response-content-type', 'text/html')],
    ['one more parameter', (url: URL) => url.searchParams.set('versionId', '1')],
  ])('does not work with %s', async (_, change) => {
    const response = await fetch(changed(change));
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('<Code>SignatureDoesNotMatch</Code>');
  });

  it.each(['PUT', 'DELETE', 'HEAD'])('does not work with %s', async (method) => {
    expect((await fetch(link, { method })).status).toBe(403);
  });

  it('does not work without its signature', async () => {
    const response = await fetch(link.origin + link.pathname);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('<Code>AccessDenied</Code>');
  });

  it('expires', async () => {
    const client = new S3Client({
      endpoint: stack.objectStoreEndpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    const [, bucket, ...key] = link.pathname.split('/');
    const command = new GetObjectCommand({ Bucket: bucket, Key: key.join('/') });
    let own = '';
    const statusOfNewLink = async () => {
      own = await getSignedUrl(client, command, { expiresIn: 1 });
      return (await fetch(own)).status;
    };
    // A busy machine may need more than that second.
    await expect.poll(statusOfNewLink, hang).toBe(200);
    await expect.poll(async () => (await fetch(own)).status, hang).toBe(403);
    expect(await (await fetch(own)).text()).toContain('Request has expired');
  });
});
