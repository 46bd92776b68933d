import assert from 'node:assert/strict';
import type { Page } from '../page/browser.ts';

/** A console in the browser. */
export type Visit = ReturnType<typeof visit>;

/** Drives a console as its users do. `expected` has the places of errors that were expected. */
export function visit(page: Page, baseUrl: string, expected = new Set<number>()) {
  const self = {
    page,
    baseUrl,
    expected,
    address: `${baseUrl}/console`,

    /** Waits for a text that can be seen. */
    see: (text: string) => page.waitFor(`document.body.innerText.includes(${JSON.stringify(text)})`),

    /** What the element shows. */
    textOf: (selector: string) =>
      page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).innerText`),

    /** Shows a view as a link does, and waits for the end of its first calls. */
    async show(view: string) {
      await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
      await self.rest();
    },

    /** Waits until nothing is loading. */
    async rest() {
      // The view is drawn anew after the change of the address.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
      await page.waitFor(`!document.querySelector('.loading') && document.querySelector('#content')`);
    },

    /** Signs in at the local issuer, from the page that asks for it. */
    async signIn(name: string, password = name) {
      await page.choose('Sign in');
      await page.waitFor(`document.querySelector('input[name=username]')`);
      await page.fill('Username', name);
      await page.fill('Password', password);
      await page.choose('Sign in');
    },

    /** Opens the console at this view, as someone who has not signed in with this browser. */
    async openAsStranger(view = '') {
      await page.open('about:blank', 'true');
      await page.forgetSignIn(baseUrl);
      await page.open(`${self.address}${view}`, `document.querySelector('.sign-in button')`);
    },

    async openAs(name: string, view = '') {
      await self.openAsStranger(view);
      await self.signIn(name);
      await page.waitFor(`document.querySelector('header nav')`);
      await self.rest();
    },

    /** Does what the service refuses with this status: the browser reports that as an error. */
    async expectRefused(status: number, work: () => Promise<void>) {
      const before = page.errors.length;
      await work();
      const news = page.errors.slice(before);
      for (const [at, error] of news.entries()) {
        assert.match(error, new RegExp(`status of ${status}`));
        expected.add(before + at);
      }
      assert(news.length > 0, `Nothing was refused with ${status}.`);
    },

    /**
     * Meanwhile the page's next calls get these answers, in place of the service's: an error of
     * this status, or none.
     */
    async answering(answers: readonly (number | 'no answer')[], work: () => Promise<void>) {
      await page.evaluate(`(() => {
        const answers = ${JSON.stringify(answers)};
        const own = globalThis.fetch;
        globalThis.fetch = async (...request) => {
          const answer = answers.shift();
          if (answers.length === 0) globalThis.fetch = own;
          if (answer === 'no answer') throw new TypeError('Failed to fetch');
          const body = { status: 'fail', message: 'Too many requests, by the test.', code: 'TEST', data: {} };
          return new Response(JSON.stringify(body), { status: answer, headers: { 'Retry-After': '0' } });
        };
      })()`);
      await work();
    },

    /** What went wrong in the browser on pages of the service, and was not expected. */
    unexpectedErrors: () =>
      page.errors.filter((error, at) => !expected.has(at) && !error.includes('https://fonts.googleapis.com/')),

    /** Rows of the first table that the selector finds: the texts of their cells. */
    rows: (selector = 'main table') =>
      page.evaluate<string[][]>(
        `[...document.querySelectorAll('${selector} tbody')].slice(0, 1).flatMap((each) =>
          [...each.rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim())))`,
      ),

    /** Chooses the status of this word above a list. */
    async chooseFacet(word: string) {
      const facet = `[...document.querySelectorAll('.facets a')].find((each) => each.textContent.startsWith('${word}'))`;
      await page.waitFor(facet);
      await page.evaluate(`${facet}.click()`);
    },

    /** Ids of the batches that the list shows. */
    listed: () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('.rows .name > a')].map((each) => each.getAttribute('title'))`,
      ),

    /** Moves the focus by the Tab key alone to the control of this name. */
    async tabTo(name: string, max = 80) {
      for (let presses = 0; presses < max; presses++) {
        await page.press('Tab');
        const focused = await page.evaluate<string>(
          `((each) => each.getAttribute('aria-label') ?? each.labels?.[0]?.innerText.split('\\n')[0].trim() ?? each.textContent.trim())(document.activeElement)`,
        );
        if (focused === name) return;
      }
      assert.fail(`${max} presses of Tab do not reach ${name}.`);
    },
  };
  return self;
}
