import assert from 'node:assert/strict';
import { expectAccessible } from '../page/accessible.ts';
import type { Check } from '../page/run-checks.ts';
import { expectFits } from './user-checks.ts';
import type { Visit } from './world.ts';

/** Signing in at the local issuer, and out again. */
export function signInChecks(visit: Visit): Record<string, Check> {
  const { page, see } = visit;
  const signedOut = `document.querySelector('.sign-in button.main')`;
  const signedIn = `document.querySelector('header nav')`;

  return {
    async 'the root leads to the console; a wrong password is refused, the right one signs in'() {
      await page.resize(1400, 900);
      await page.open(`${visit.baseUrl}/`, `document.querySelector('a[href$="/console"]')`);
      await expectAccessible(page, 'the first page');
      await page.prefer('dark');
      await expectAccessible(page, 'the first page, dark');
      await page.prefer('light');
      await page.click('a[href$="/console"]');
      await page.waitFor(`location.pathname === '/console' && ${signedOut}`);
      await visit.expectRefused(401, async () => {
        await visit.signIn('demo', 'guess');
        await see('Wrong username or password.');
      });
      await page.fill('Username', 'demo');
      await page.fill('Password', 'demo');
      await page.choose('Sign in');
      await page.waitFor(`document.querySelector('header nav')`);
      assert.equal(await visit.textOf('.person'), 'demo');
      assert.equal(await page.evaluate('location.search'), '');
      return undefined;
    },

    async 'a reload and a new tab cost no password, and keep their view'() {
      await visit.show('#/usage');
      const before = await page.evaluate<number>('history.length');
      await page.evaluate('globalThis.isOld = true; location.reload()');
      await page.waitFor(`globalThis.isOld === undefined && ${signedIn}`);
      assert.deepEqual(
        await page.evaluate('[location.hash, location.search, history.length]'),
        // Back does not lead through the issuer.
        ['#/usage', '', before],
      );
      await page.inNewTab(async (tab) => {
        await tab.open(`${visit.address}#/devices`, signedIn);
        assert.deepEqual(await tab.evaluate(`[location.hash, document.querySelector('.person').textContent]`), [
          '#/devices',
          'demo',
        ]);
        assert.deepEqual(tab.errors, []);
      });
      return undefined;
    },

    async 'the token is in memory only, and gone with sign-out: a reload and a new tab ask for a password'() {
      await visit.rest();
      const stored = `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])`;
      assert.equal(await page.evaluate(stored), '[{"signed-in":"yes"},{},""]');
      await page.choose('Sign out');
      await page.waitFor(`${signedOut} && location.search === ''`);
      assert.equal(await page.evaluate(stored), '[{},{},""]');
      await page.evaluate('globalThis.isOld = true; location.reload()');
      await page.waitFor(`globalThis.isOld === undefined && ${signedOut}`);
      await page.inNewTab(async (tab) => {
        await tab.open(visit.address, signedOut);
        await tab.choose('Sign in');
        await tab.waitFor(`document.querySelector('input[name=username]')`);
      });
      return undefined;
    },

    async 'whose session at the issuer has ended is asked once, without a message'() {
      await visit.openAs('demo', '#/usage');
      await page.open('about:blank', 'true');
      await page.forgetCookies();
      const before = page.requested.length;
      await page.open(`${visit.address}#/usage`, signedOut);
      assert.equal(page.requested.slice(before).filter((address) => address.includes('prompt=none')).length, 1);
      assert.equal(await page.evaluate(`document.querySelector('[role=alert]')`), null);
      assert.deepEqual(await page.evaluate('[location.hash, location.search]'), ['#/usage', '']);
      await page.open('about:blank', 'true');
      await page.open(visit.address, signedOut);
      assert.equal(page.requested.slice(before).filter((address) => address.includes('prompt=none')).length, 1);
      return undefined;
    },

    async 'an account of a local stack signs in by one press'() {
      await page.choose('Sign in');
      await page.waitFor(`document.querySelector('button[name=account]')`);
      await expectAccessible(page, 'the page to sign in at');
      await page.resize(390, 800);
      await page.prefer('dark');
      await expectAccessible(page, 'the page to sign in at, dark, on a phone');
      await expectFits(visit, 'the page to sign in at');
      await page.prefer('light');
      await page.resize(1400, 900);
      await page.click('button[value=member]');
      await page.waitFor(signedIn);
      assert.equal(await visit.textOf('.person'), 'Max Born');
      return undefined;
    },

    async 'a way back that this tab did not begin is refused'() {
      await visit.openAsStranger();
      const before = page.requested.length;
      await page.open(`${visit.address}?code=abc&state=foreign`, signedOut);
      await see('begun in another tab');
      assert(page.requested.slice(before).every((address) => !address.includes('/oauth/token')));
      // Nor one with the state of another sign-in.
      await page.choose('Sign in');
      await page.waitFor(`document.querySelector('input[name=username]')`);
      await page.open(`${visit.address}?code=abc&state=foreign`, signedOut);
      await see('begun in another tab');
      await page.open(`${visit.address}?error=access_denied&state=foreign`, signedOut);
      await see('begun in another tab');
      await page.resize(390, 800);
      await expectFits(visit, 'sign-in');
      await page.resize(1400, 900);
      return undefined;
    },

    async 'a link leads to its view after sign-in'() {
      await visit.openAs('demo', '#/usage');
      assert.equal(await page.evaluate('location.hash'), '#/usage');
      await see('Limits');
      return undefined;
    },
  };
}

/** The keyboard alone: from sign-in to a canceled batch. */
export function keyboardCheck(
  visit: Visit,
  create: () => Promise<{ readonly id: string; readonly tag: string }>,
): Check {
  const { page } = visit;
  return async () => {
    const { id, tag } = await create();
    await visit.openAsStranger();
    await visit.tabTo('Sign in');
    await page.press('Enter');
    await page.waitFor(`document.querySelector('input[name=username]')`);
    await visit.tabTo('Username');
    await page.type(':focus', 'demo');
    await page.press('Tab');
    await page.type(':focus', 'demo');
    await page.press('Enter');
    await page.waitFor(`document.querySelector('header nav')`);
    await visit.rest();
    await visit.tabTo('Filter');
    await page.press('Enter');
    await visit.tabTo('Tag');
    await page.type(':focus', tag);
    await page.press('Enter');
    await page.waitFor(`document.querySelectorAll('.rows .name > a').length > 0 && location.hash.includes('tag=')`);
    await visit.rest();
    await visit.tabTo(id.slice(0, 8));
    await page.press('Enter');
    await page.waitFor(`location.hash.startsWith('#/batch/')`);
    await visit.rest();
    await visit.tabTo('Cancel');
    await page.press('Enter');
    await page.waitFor(`document.querySelector('dialog[open]')`);
    await page.press('Escape');
    await page.waitFor(`!document.querySelector('dialog')`);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel');
    await page.press('Enter');
    await page.waitFor(`document.querySelector('dialog[open]')?.contains(document.activeElement)`);
    if ((await page.evaluate('document.activeElement.textContent')) !== 'Cancel') await visit.tabTo('Cancel', 5);
    await page.press('Enter');
    await page.waitFor(`document.querySelector('.head .status')?.innerText === 'Canceled'`);
    return undefined;
  };
}
