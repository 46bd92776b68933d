import { beforeAll, describe, expect, it } from 'vitest';
import { call, demo } from '../support/local-stack.ts';

describe('GET /api/v1/jobs/{job_id}/results_link', () => {
  let job: { id: string; runs: number };
  let link: URL;

  beforeAll(async () => {
    [job] = (await call('/api/v2/jobs?status=DONE&limit=1', { token: demo.token })).body.data;
    const { status, body } = await call(`/api/v1/jobs/${job.id}/results_link`, { token: demo.token });
    expect(status).toBe(200);
    link = new URL(body.data.results_link);
  });

  const changed = (change: (url: URL) => unknown) => {
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

  it.each([
    ['another object', (url: URL) => Object.assign(url, { pathname: url.pathname.replace(/[^/]+$/, 'other.json') })],
    ['a longer validity', (url: URL) => url.searchParams.set('X-Amz-Expires', '900')],
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
});
