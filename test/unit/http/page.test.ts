import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { pageFunction } from '../../../functions/http/page.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';

const folder = mkdtempSync(join(tmpdir(), 'page-'));
afterAll(() => rmSync(folder, { recursive: true }));

const script = 'export const answer = 42;\n'.repeat(100);
const style = 'main { margin: 0 }\n'.repeat(100);
writeFileSync(join(folder, 'page.js'), script);
writeFileSync(join(folder, 'page.js.br'), brotliCompressSync(script));
writeFileSync(join(folder, 'page.css'), style);
const handler = pageFunction(
  { title: 'Test', body: '' },
  ['page.js', 'page.css'].map((name) => join(folder, name)),
);

/** The coding of the answer, and what a browser reads of it. */
async function read(file: string, accepted: string | undefined, name = 'Accept-Encoding') {
  const headers = accepted === undefined ? {} : { [name]: accepted };
  const answer = await handler(gatewayEvent('getConsole', { query: { file }, headers }), lambdaContext());
  expect([answer.statusCode, answer.isBase64Encoded, answer.headers?.Vary]).toEqual([200, true, 'Accept-Encoding']);
  const coding = String(answer.headers?.['Content-Encoding']);
  const bytes = Buffer.from(answer.body, 'base64');
  return { coding, text: (coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString() };
}

describe('files of a page', () => {
  it.each(['br', 'gzip, deflate, br', 'gzip, deflate, br, zstd', 'gzip;q=1.0, BR ; q=0.5', 'br;q=1', 'br;q=0.001'])(
    'are sent by Brotli to who accepts %j',
    async (accepted) => {
      expect(await read('page.js', accepted)).toEqual({ coding: 'br', text: script });
      expect(await read('page.js', accepted, 'accept-encoding')).toEqual({ coding: 'br', text: script });
    },
  );

  it.each([undefined, '', 'gzip, deflate', 'identity', '*', 'br;q=0', 'gzip, br; q=0.000', 'brotli', 'x-br'])(
    'are gzipped for who accepts %j',
    async (accepted) => {
      expect(await read('page.js', accepted)).toEqual({ coding: 'gzip', text: script });
    },
  );

  it('are gzipped where the build has made nothing else', async () => {
    expect(await read('page.css', 'br')).toEqual({ coding: 'gzip', text: style });
  });
});
