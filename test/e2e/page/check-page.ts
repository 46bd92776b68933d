/**
 * Looks at the page of the API's description in Chromium, on a running local stack, as its readers
 * do. Prints each check; the exit code is 1 when one fails.
 *
 * usage: check-page.ts STACK_JSON CHROMIUM
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { StackDescription } from '../../../infra/local/greeting.ts';
import { startPassingServer } from '../../support/passing-server.ts';
import { expectAccessible } from './accessible.ts';
import { type Page, withPage } from './browser.ts';
import { runChecks } from './run-checks.ts';

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            operationId: string;
            tags: readonly string[];
            'x-codeSamples': readonly { label: string; source: string }[];
          }
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

/** Over the wire, with the document and all files, the first time. */
const maxBytes = 1.5 * 1024 * 1024;

/** Of one operation that is open, in CSS pixels, on a screen of 1400 by 900. */
const maxHeight = 2_500;

const block = (operationId: string) => `.opblock[id$="-${operationId}"]`;
const isRendered = `document.querySelectorAll('.opblock').length >= ${operations.length}`;

const checks: Readonly<Record<string, (page: Page) => Promise<string | undefined>>> = {
  async 'the root leads to the page'(page) {
    await page.resize(1400, 900);
    await page.open(`${baseUrl}/`, `document.querySelector('a[href$="/docs"]')`);
    await page.click('a[href$="/docs"]');
    await page.waitFor(isRendered);
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

  async 'its headings are in order, and each has a name of its own'(page) {
    const headings = await page.evaluate<{ level: number; text: string }[]>(
      `[...document.querySelectorAll('h1, h2, h3, h4')].filter((each) => each.checkVisibility())
        .map((each) => ({ level: Number(each.tagName[1]), text: each.dataset.tag ?? each.textContent }))`,
    );
    const texts = headings.map(({ text }) => text);
    assert.equal(new Set(texts).size, texts.length, texts.join());
    for (const [at, { level, text }] of headings.entries()) assert(level <= (headings[at - 1]?.level ?? 0) + 1, text);
    return `${headings.length} in all`;
  },

  async 'the first window lists calls, and a search finds one that the keyboard opens'(page) {
    const visible = `[...document.querySelectorAll('.calls li a')].filter((each) => each.getBoundingClientRect().bottom < innerHeight).length`;
    const count = await page.evaluate<number>(visible);
    assert(count >= 20, `${count} calls`);
    await page.type('.calls input', 'public key');
    await page.waitFor(`document.querySelector('.calls [role=status]').textContent === '1 found'`);
    await page.press('Tab');
    await page.press('Enter');
    const own = `document.querySelector('${block('getWebhookPublicKey')}')`;
    await page.waitFor(`${own}.contains(document.activeElement) && ${own}.querySelector('.execute')`);
    const top = await page.evaluate<number>(`${own}.getBoundingClientRect().top`);
    assert(top > -1 && top < 900, `${top} px`);
    assert.equal(await page.evaluate('location.hash'), '#/Webhooks/getWebhookPublicKey');
    return `${count} of ${operations.length}`;
  },

  async 'an address that is edited, Back and Forward move to their calls'(page) {
    await page.open('about:blank', 'true');
    await page.open(`${baseUrl}/docs#/Jobs/getJob`, isRendered);
    const isAt = (operationId: string) =>
      page.waitFor(`((own) => own.querySelector('.execute') && own.contains(document.activeElement) &&
        Math.abs(own.getBoundingClientRect().top) < 100)(document.querySelector('${block(operationId)}'))`);
    await page.waitFor(`document.querySelector('${block('getJob')} .execute')`);
    await page.evaluate(`location.hash = '#/Limits/getOwnLimits'`);
    await isAt('getOwnLimits');
    await page.evaluate(`location.hash = '#/Limits/madeUp'`);
    await page.evaluate(`location.hash = '#/Batches/listBatches'`);
    await isAt('listBatches');
    await page.evaluate('history.go(-2)');
    await isAt('getOwnLimits');
    await page.evaluate('history.go(2)');
    await isAt('listBatches');
    return undefined;
  },

  async 'a long description shows three sentences, and the rest folded'(page) {
    await open(page, 'createBatch');
    const shown = `document.querySelector('${block('createBatch')} .opblock-description').innerText`;
    const text = await page.evaluate<string>(shown);
    assert.match(text, /^Creates a batch with all its jobs[\s\S]*Rules and limits$/);
    assert(text.length < 300, `${text.length} characters`);
    await page.click(`${block('createBatch')} .opblock-description summary`);
    await page.waitFor(`${shown}.includes('5,000 jobs')`);
    return `${text.length} characters`;
  },

  async 'it leads back to the console'(page) {
    assert.equal(await page.evaluate(`document.querySelector('.calls .home').href`), `${baseUrl}/console`);
    return undefined;
  },

  async 'accounts of the local stack sign in for this tab, one after the other; a refused call shows its status'(page) {
    await page.open('about:blank', 'true');
    await page.open(`${baseUrl}/docs`, isRendered);
    for (const [account, status] of [
      ['demo', '403'],
      ['operator', '200'],
    ] as const) {
      await page.fill('Account', account);
      await page.choose(`Use the ${account} account`);
      await page.waitFor(`document.querySelector('.sign-in [role=status]').textContent === 'Signed in as ${account}'`);
      assert.equal(await request(page, 'listAudit'), status);
      const answer = `document.querySelector('${block('listAudit')} .answer [role=status]').textContent`;
      assert.doesNotMatch(await page.evaluate<string>(answer), /undefined/);
    }
    return undefined;
  },

  async 'the demo account signs in for this tab, until it signs out'(page) {
    await page.fill('Account', 'demo');
    await page.click('.demo');
    await page.waitFor(
      `document.querySelector('.authorize.locked') && document.body.innerText.includes('Signed in as demo')`,
    );
    await page.open('about:blank', 'true');
    await page.open(`${baseUrl}/docs`, `document.querySelector('.authorize.locked')`);
    assert.equal(await request(page, 'listProjects'), '200');
    await page.click('.btn.authorize');
    await page.waitFor(`document.querySelector('.auth-btn-wrapper')`);
    await page.click('.auth-btn-wrapper .modal-btn');
    await page.click('.btn-done');
    await page.open('about:blank', 'true');
    await page.open(`${baseUrl}/docs`, isRendered);
    assert.equal(await page.evaluate(`document.querySelector('.authorize.locked')`), null);
    return undefined;
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
      `document.querySelector('${block('listBatches')} .answer .highlight-code').textContent`,
    );
    assert.match(shown, /"status": "success"/);
    return undefined;
  },

  async 'the answer is beside the form'(page) {
    const own = block('listBatches');
    await page.evaluate(`document.querySelector('${own} .execute').scrollIntoView({ block: 'center' })`);
    const { form, answer } = await page.evaluate<Record<'form' | 'answer', Record<string, number>>>(
      `({ form: document.querySelector('${own} .execute').getBoundingClientRect().toJSON(),
        answer: document.querySelector('${own} .answer [role=status]').getBoundingClientRect().toJSON() })`,
    );
    assert(answer.left! >= form.right! && answer.top! >= 0 && answer.bottom! <= 900, JSON.stringify({ form, answer }));
    return undefined;
  },

  async 'the errors are folded'(page) {
    await open(page, 'createBatch');
    await page.waitFor(`document.querySelector('${block('createBatch')} .documented .response[data-code="200"]')`);
    const height = await page.evaluate<number>(`document.querySelector('${block('createBatch')}').offsetHeight`);
    assert(height < maxHeight, `${height} px`);
    return `${height} px`;
  },

  async 'the snippets say what the form says, and never the token'(page) {
    const own = block('listBatches');
    await page.type(`${own} [data-param-name="id__starts_with"] input`, "it's");
    const shown = `document.querySelector('${own} .snippets code').textContent`;
    await page.waitFor(`${shown}.includes('id__starts_with=it%27s')`);
    assert.equal(await request(page, 'listBatches'), '200');
    const sent = page.requested.at(-1)!;
    const samples = operations.find(({ operationId }) => operationId === 'listBatches')!['x-codeSamples'];
    for (const at of [1, 2, 3]) {
      await page.click(`${own} .snippets button:nth-of-type(${at})`);
      await page.waitFor(`${shown}.includes(${JSON.stringify(sent)})`);
    }
    await page.click(`${own} .snippets button:nth-of-type(4)`);
    const client = samples.find(({ label }) => label.includes('pasqal-cloud'))!.source;
    const expected = client.replaceAll('https://api.example.org', baseUrl);
    await page.waitFor(`${shown} === ${JSON.stringify(expected)}`);
    const id = '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10';
    await open(page, 'getJob');
    await page.type(`${block('getJob')} [data-param-name="job_id"] input`, id);
    await page.waitFor(
      `document.querySelector('${block('getJob')} .snippets code').textContent.includes('client.get_job("${id}")')`,
    );
    await page.click(`${own} .snippets button:nth-of-type(1)`);
    const text = await page.evaluate<string>('document.body.innerText');
    assert(!text.includes(users[0]!.token), 'The page shows the token.');
    assert.equal(text.match(/curl[^\n]*batches\?/g)?.length, 1);
    return undefined;
  },

  async 'operations of every kind open'(page) {
    const closed = operations.filter(({ operationId }) => operationId !== 'listBatches');
    const kinds = new Map(closed.map((each) => [`${each.tags} ${'requestBody' in each}`, each]));
    for (const { operationId } of kinds.values()) {
      await open(page, operationId);
    }
    return `${kinds.size} operations`;
  },

  async 'axe-core finds nothing, with these open'(page) {
    await expectAccessible(page, 'the page');
    return undefined;
  },

  async 'it has a dark theme: as the system prefers, and by a button'(page) {
    const isDark = `document.documentElement.matches('.dark-mode')`;
    await page.prefer('dark');
    await page.waitFor(isDark);
    await expectAccessible(page, 'the dark page');
    await page.choose('Dark theme');
    await page.waitFor(`!${isDark}`);
    await page.open('about:blank', 'true');
    await page.open(`${baseUrl}/docs`, isRendered);
    assert.equal(await page.evaluate(isDark), false);
    return undefined;
  },

  async 'on a phone the answer moves into view'(page) {
    await page.resize(390, 800);
    const listHeight = await page.evaluate<number>(`document.querySelector('.calls').offsetHeight`);
    assert(listHeight < 200, `${listHeight} px`);
    assert.equal(await request(page, 'listBatches'), '200');
    const answer = `document.querySelector('${block('listBatches')} .answer [role=status]').getBoundingClientRect()`;
    await page.waitFor(`${answer}.top >= 0 && ${answer}.bottom <= 800`);
    await page.resize(1400, 900);
    return undefined;
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
    await page.open(`${baseUrl}/core-fast`, `document.querySelector('a[href$="/docs"]')`);
    await page.click('a[href$="/docs"]');
    await page.waitFor(isRendered);
    assert.equal(await page.evaluate('location.pathname'), '/core-fast/docs');
    assert(page.requested.includes(`${baseUrl}/core-fast/openapi.json`));
    assert.equal(await request(page, 'getHealth'), '200');
    assert(page.requested.includes(`${baseUrl}/core-fast/health`));
    return undefined;
  },

  async 'nothing of it was refused or went wrong in the browser'(page) {
    // The demo account asked for what is an operator's.
    const isExpected = (error: string) => error.includes('status of 403') && error.includes('/audit');
    assert.equal(page.errors.filter(isExpected).length, 1);
    assert.deepEqual(
      page.errors.filter((error) => !isExpected(error)),
      [],
    );
    return undefined;
  },

  async 'a deployment behind a tunnel offers no demo account'(page) {
    const tunnel = await startPassingServer(baseUrl, async ({ target }, pass, answer) =>
      answer(target.startsWith('/_local/') ? { status: 404, headers: {}, body: Buffer.of() } : await pass()),
    );
    await page.open(`${tunnel.url}/docs`, isRendered);
    assert.equal(await page.evaluate(`document.querySelector('.demo')`), null);
    await page.open('about:blank', 'true');
    await tunnel.stop();
    return undefined;
  },
};

/** Opens an operation, if it is closed. */
async function open(page: Page, operationId: string) {
  const own = block(operationId);
  if (await page.evaluate(`document.querySelector('${own} .snippets') !== null`)) return;
  await page.click(`${own} .opblock-summary-control`);
  await page.waitFor(`document.querySelector('${own} .snippets')`);
}

/** Opens an operation, sends its request as it is, and answers with the status that is shown. */
async function request(page: Page, operationId: string): Promise<string> {
  const own = block(operationId);
  await open(page, operationId);
  // Swagger UI finds no operation until it has resolved its references: the words of an error come
  // by one.
  const resolved = `document.querySelector('${own} .response[data-code="500"]')?.textContent.includes('The service failed.')`;
  if (!(await page.evaluate<boolean>(`Boolean(${resolved})`))) {
    await page.click(`${own} .documented details:last-child summary`);
    await page.waitFor(resolved);
    await page.click(`${own} .documented details:last-child summary`);
  }
  const shown = `document.querySelector('${own} .answer [role=status]').textContent`;
  const before = page.requested.length;
  await page.evaluate(`document.querySelector('${own} .execute').scrollIntoView({ block: 'end' })`);
  await page.click(`${own} .execute`);
  await page.waitFor(`!document.querySelector('${own} .loading') && ${shown}`);
  assert(page.requested.length > before);
  return (await page.evaluate<string>(shown)).split(',')[0]!;
}

await withPage(chromium, (page) =>
  runChecks(Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, () => check(page)]))),
);
