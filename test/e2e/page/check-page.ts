/**
 * Looks at the page of the API's description in Chromium, on a running local stack, as its readers
 * do. Prints each check; the exit code is 1 when one fails.
 *
 * usage: check-page.ts STACK_JSON CHROMIUM
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { StackDescription } from '../../../infra/local/greeting.ts';
import { type Page, withPage } from './browser.ts';

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { operationId: string; tags: readonly string[]; 'x-codeSamples': readonly { lang: string; source: string }[] }
        >
      >
    >
  >;
  /** Messages that receivers of webhooks get, by their names. */
  readonly webhooks: Readonly<Record<string, unknown>>;
}

const [, , description = '.local/stack.json', chromium = 'chromium'] = process.argv;
const { baseUrl, users } = JSON.parse(readFileSync(description, 'utf8')) as StackDescription;
const { paths, webhooks } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Over the wire, with the document and all files, the first time. */
const maxBytes = 1.5 * 1024 * 1024;

const block = (operationId: string) => `.opblock[id$="-${operationId}"]`;
const isRendered = `document.querySelectorAll('.opblock').length >= ${operations.length}`;

const checks: Readonly<Record<string, (page: Page) => Promise<string | undefined>>> = {
  async 'the root leads to the page'(page) {
    await page.open(`${baseUrl}/`, isRendered);
    assert.equal(await page.evaluate('location.pathname'), '/docs');
    return undefined;
  },

  async 'it comes whole from the API, in less than 1.5 MB'(page) {
    for (const address of page.requested) assert.match(address, new RegExp(`^(${baseUrl}/|data:)`));
    assert(page.receivedBytes() < maxBytes, `${page.receivedBytes()} bytes`);
    return `${Math.round(page.receivedBytes() / 1024)} kB`;
  },

  async 'it lists every operation and webhook of openapi.json, and nothing else'(page) {
    const listed = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.opblock')].map((each) => each.querySelector('.opblock-summary-method').textContent.toLowerCase()
        + ' ' + each.querySelector('.opblock-summary-path').textContent.replaceAll('\\u200b', ''))`,
    );
    const expected = [
      ...operations.map(({ method, path }) => `${method} ${path}`),
      ...Object.keys(webhooks).map((name) => `post ${name}`),
    ];
    assert.deepEqual(listed.toSorted(), expected.toSorted());
    return `${listed.length} in all`;
  },

  async 'it takes a token, and a request made with it is answered 200'(page) {
    await page.click('.btn.authorize');
    await page.waitFor(`document.querySelector('.auth-container input')`);
    await expectAccessible(page, 'the dialog for the token');
    await page.type('.auth-container input', users[0]!.token);
    await page.click('.auth-btn-wrapper .authorize');
    await page.click('.btn-done');
    assert.equal(await request(page, 'listBatches'), '200');
    const shown = await page.evaluate<string>(
      `document.querySelector('${block('listBatches')} .live-responses-table .highlight-code').textContent`,
    );
    assert.match(shown, /"status": "success"/);
    return undefined;
  },

  async 'it shows each snippet with the address of this API'(page) {
    const { 'x-codeSamples': samples } = operations.find(({ operationId }) => operationId === 'listBatches')!;
    for (const [at, { source }] of samples.entries()) {
      await page.click(`${block('listBatches')} .snippets button:nth-of-type(${at + 1})`);
      const shown = `document.querySelector('${block('listBatches')} .snippets code').textContent`;
      const expected = source.replaceAll('https://api.example.org', baseUrl);
      await page.waitFor(`${shown} === ${JSON.stringify(expected)}`);
    }
    return undefined;
  },

  async 'operations of every kind open'(page) {
    const closed = operations.filter(({ operationId }) => operationId !== 'listBatches');
    const kinds = new Map(closed.map((each) => [`${each.tags} ${'requestBody' in each}`, each]));
    for (const { operationId } of kinds.values()) {
      await page.click(`${block(operationId)} .opblock-summary-control`);
      await page.waitFor(`document.querySelector('${block(operationId)} .snippets')`);
    }
    return `${kinds.size} operations`;
  },

  async 'axe-core finds nothing serious, with these open'(page) {
    return expectAccessible(page, 'the page');
  },

  async 'a request without a token is answered 200 where none is needed'(page) {
    assert.equal(await request(page, 'listDevices'), '200');
    return undefined;
  },

  async 'the next visit loads the page and the document only'(page) {
    const before = page.receivedBytes();
    await page.open('about:blank', 'true');
    await page.open(`${baseUrl}/docs`, isRendered);
    const bytes = page.receivedBytes() - before;
    assert(bytes < 64 * 1024, `${bytes} bytes`);
    return `${Math.round(bytes / 1024)} kB`;
  },

  async 'it works below the stage’s name, too'(page) {
    await page.open(`${baseUrl}/core-fast`, isRendered);
    assert.equal(await page.evaluate('location.pathname'), '/core-fast/docs');
    assert(page.requested.includes(`${baseUrl}/core-fast/openapi.json`));
    assert.equal(await request(page, 'getHealth'), '200');
    assert(page.requested.includes(`${baseUrl}/core-fast/health`));
    return undefined;
  },

  async 'nothing of it was refused or went wrong in the browser'(page) {
    assert.deepEqual(page.errors, []);
    return undefined;
  },
};

/**
 * Opens an operation, if it is closed, sends its request as it stands, and answers with the status
 * that the page shows.
 */
async function request(page: Page, operationId: string): Promise<string> {
  const own = block(operationId);
  if (await page.evaluate(`document.querySelector('${own} .execute') === null`)) {
    await page.click(`${own} .opblock-summary-control`);
    // Swagger UI finds no operation until it has resolved its references: the words of an error
    // come by one.
    await page.waitFor(
      `document.querySelector('${own} .response[data-code="500"]')?.textContent.includes('The service failed.')`,
    );
  }
  await page.click(`${own} .execute`);
  const status = `document.querySelector('${own} .live-responses-table tbody .response-col_status')?.textContent`;
  await page.waitFor(status);
  return (await page.evaluate<string>(status)).trim();
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function expectAccessible(page: Page, what: string): Promise<string> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(`${axe}; undefined`);
  // The page completes what it shows in the frame after.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');
  const violations = await page.evaluate<Violation[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
      ({ id, impact, nodes: nodes.slice(0, 3).map(({ html }) => ({ html })) })))`,
  );
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(serious, [], `axe-core on ${what}`);
  return `less than serious: ${violations.map(({ id }) => id).join(', ') || 'nothing'}`;
}

const failed = await withPage(chromium, async (page) => {
  let failures = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      const detail = await check(page);
      console.log(`ok      ${name}${detail === undefined ? '' : ` (${detail})`}`);
    } catch (error) {
      failures += 1;
      console.log(`FAILED  ${name}\n${(error as Error).stack}`);
    }
  }
  return failures;
});
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
