import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { handler as getDocs } from '../../functions/endpoints/docs/get-docs.ts';
import { handler as methodNotAllowed } from '../../functions/endpoints/service/method-not-allowed.ts';
import { routes } from '../../functions/routes.ts';
import document from '../../openapi.json' with { type: 'json' };
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';

const ask = (request: GatewayRequest = {}) => getDocs(gatewayEvent('getDocs', request), lambdaContext());

/** The addresses that the page loads, as a browser reads them. */
async function addresses() {
  const { body } = await ask();
  return [...body.matchAll(/(?:src|rel="stylesheet" href)="([^"]+)"/g)].map(([, address]) =>
    address!.replaceAll('&amp;', '&'),
  );
}

describe('GET /docs', () => {
  it('answers with a page that runs its own files only', async () => {
    const { statusCode, headers, body } = await ask();
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    const policy = String(headers?.['Content-Security-Policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]),
    );
    expect(policy.join()).not.toMatch(/unsafe|http|\*/);
    expect(body).toContain(`<title>${document.info.title}</title>`);
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=|\/\//);
  });

  it('loads each of its files under an address that names its content, and may be kept without end', async () => {
    const found = await addresses();
    expect(found).toHaveLength(routes.getDocs.files.length);
    for (const address of found) {
      const { statusCode, headers, body, isBase64Encoded } = await ask({ query: address.slice(1) });
      expect([statusCode, isBase64Encoded]).toEqual([200, true]);
      expect(headers).toMatchObject({
        'Content-Encoding': 'gzip',
        'Content-Type': expect.stringMatching(/^text\/(css|javascript); charset=utf-8$/),
        'Cache-Control': 'public, max-age=31536000, immutable',
      });
      expect(body.length).toBeGreaterThan(100);
    }
  });

  it.each([{}, { 'accept-encoding': 'identity' }])('gzips each file once, for any client: %j', async (headers) => {
    const { body } = await ask({ query: { file: 'swagger-ui-bundle.js' }, headers });
    const file = readFileSync('node_modules/swagger-ui-dist/swagger-ui-bundle.js');
    expect(gunzipSync(Buffer.from(body, 'base64')).equals(file)).toBe(true);
    expect(body.length).toBeLessThan(file.length / 2);
  });

  it('lets nobody keep a file under the address of another content', async () => {
    for (const query of [{ file: 'docs.mjs' }, { file: 'docs.mjs', hash: '0'.repeat(24) }]) {
      const { statusCode, headers } = await ask({ query });
      expect([statusCode, headers?.['Cache-Control']]).toEqual([200, 'no-cache']);
    }
  });

  it.each(['docs.ts', '../get-docs.ts', '', 'constructor'])('has no file %j', async (file) => {
    const { statusCode, body } = await ask({ query: { file } });
    expect(statusCode).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ code: '404', data: { description: 'The page has no such file.' } });
  });

  it('answers 304 to a browser that has the page already', async () => {
    const tag = String((await ask()).headers?.ETag);
    for (const given of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const { statusCode, headers, body } = await ask({ headers: { 'if-none-match': given } });
      expect([statusCode, headers?.ETag, body]).toEqual([304, tag, '']);
    }
    expect((await ask({ headers: { 'If-None-Match': '"other"' } })).statusCode).toBe(200);
  });
});

describe('GET /', () => {
  it.each([
    ['/', ''],
    ['/core-fast/', '/core-fast'],
    ['/core-fast', '/core-fast'],
    ['/a"<b', '/a&quot;&lt;b'],
  ])('leads from %s to the console, the page and the document', async (path, base) => {
    const event = gatewayEvent('getDocs');
    event.requestContext.path = path;
    const { statusCode, headers, body } = await methodNotAllowed({ ...event, resource: '/' }, lambdaContext());
    expect([statusCode, headers?.['Content-Security-Policy']]).toEqual([
      200,
      expect.not.stringMatching(/unsafe|http|script-src/),
    ]);
    expect(body).toContain(`<link rel="stylesheet" href="${base}/console?file=page.css">`);
    expect(body).not.toMatch(/<script|<style|style=/);
    const found = [...body.matchAll(/<a href="([^"]*)"/g)].map(([, address]) => address);
    expect(found).toEqual(['/console', '/docs', '/openapi.json'].map((each) => base + each));
  });

  it.each(['//', '//core-fast/', '/core-fast//'])('answers 404 to %s', async (path) => {
    const event = gatewayEvent('getDocs');
    event.requestContext.path = path;
    expect((await methodNotAllowed({ ...event, resource: '/' }, lambdaContext())).statusCode).toBe(404);
  });

  it('answers 404 to other methods', async () => {
    const event = { ...gatewayEvent('getDocs', { method: 'POST' }), resource: '/' };
    expect((await methodNotAllowed(event, lambdaContext())).statusCode).toBe(404);
  });
});
