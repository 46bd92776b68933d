import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startFrontServer } from '../../../infra/local/front-server.ts';
import { startLocalStack } from '../../../infra/local/local-stack.ts';
import type { Check } from '../page/run-checks.ts';
import { foreignAudience, foreignClient, startForeignIssuer } from './foreign-issuer.ts';
import { largeListChecks } from './large-list-checks.ts';
import { type Visit, visit } from './world.ts';

/**
 * Signing in at an issuer that others have written, on an empty stack that trusts it. `folder` has
 * oidc-provider, and takes the log.
 */
export async function startForeignStack(folder: string) {
  const issuer = await startForeignIssuer(folder);
  const logFile = join(folder, 'functions.log');
  const stack = await startLocalStack({
    front: await startFrontServer(0),
    tokenIssuer: {
      issuer: issuer.url,
      audience: foreignAudience,
      jwksUri: `${issuer.url}/jwks`,
      consoleClientId: foreignClient,
    },
    logFile,
    onStep: () => undefined,
  });
  issuer.admit(`${stack.baseUrl}/console`);
  return {
    issuer,
    stack,
    logFile,
    async stop() {
      await stack.stop();
      await issuer.stop();
    },
  };
}

export function foreignChecks(
  { page, expected }: Visit,
  { issuer, stack, logFile }: Awaited<ReturnType<typeof startForeignStack>>,
) {
  const own = visit(page, stack.baseUrl, expected);
  const { tokens, silence } = issuer;
  const signedIn = `document.querySelector('header nav')`;
  const signedOut = `document.querySelector('.sign-in button.main')`;
  /** How often the console has asked the issuer who is here. */
  const countOfQuestions = () => page.requested.filter((address) => address.includes('prompt=none')).length;
  const countOfTokens = () => page.requested.filter((address) => address === `${issuer.url}/token`).length;

  /** Someone who has signed in before is asked nothing. */
  async function signIn(view: string) {
    await page.open('about:blank', 'true');
    await page.open(`${own.address}${view}`, `${signedOut} || ${signedIn}`);
    if (await page.evaluate(`${signedIn} === null`)) {
      await page.choose('Sign in');
      await enter();
    }
    await own.rest();
  }

  /** What the issuer asks, until it leads back. */
  async function enter() {
    await page.waitFor(`document.querySelector('input[name=login], [name=prompt], header nav')`);
    if (await page.evaluate(`document.querySelector('input[name=login]') !== null`)) {
      await page.type('input[name=login]', 'ada');
      await page.type('input[name=password]', 'any');
      await page.click('[type=submit]');
      await page.waitFor(`document.querySelector('[name=prompt][value=consent], header nav')`);
    }
    if (await page.evaluate(`document.querySelector('[name=prompt]') !== null`)) await page.click('[type=submit]');
    await page.waitFor(signedIn);
  }

  const checks: Record<string, Check> = {
    async 'at a foreign issuer: people sign in and see that they have no batches'() {
      await signIn('#/batches');
      assert.equal(await own.textOf('.person'), 'Dr. ada');
      await own.see('You have no batches yet.');
      return undefined;
    },

    async 'at a foreign issuer: a token that ends soon is renewed unseen, once for many calls'() {
      tokens.seconds = 62;
      await signIn('#/devices');
      await page.evaluate(`(() => { const { now } = Date; Date.now = () => now() + 30_000; })()`);
      tokens.seconds = 600;
      const before = countOfTokens();
      await own.show('#/batches');
      await own.see('You have no batches yet.');
      assert.equal(countOfTokens() - before, 1);
      return undefined;
    },

    async 'at a foreign issuer: a token that the service refuses is renewed, whatever the clock says'() {
      tokens.seconds = 1;
      await signIn('#/devices');
      await page.evaluate(`(() => { const { now } = Date; Date.now = () => now() - 3_600_000; })()`);
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1_500))');
      tokens.seconds = 600;
      await own.expectRefused(401, () => own.show('#/batches'));
      await own.see('You have no batches yet.');
      return undefined;
    },

    async 'at a foreign issuer: who cannot renew a token signs in again, and comes back to the view'() {
      Object.assign(tokens, { seconds: 600, areRenewable: false });
      await signIn('#/devices');
      await page.evaluate(`(() => { const { now } = Date; Date.now = () => now() + 3_600_000; })()`);
      await page.evaluate(`location.hash = '#/usage'`);
      await own.see('Your session has ended.');
      await page.choose('Sign in');
      await page.waitFor(`document.querySelector('header nav') || document.querySelector('[name=prompt]')`);
      if (await page.evaluate(`document.querySelector('[name=prompt]') !== null`)) await page.click('[type=submit]');
      await page.waitFor(`document.querySelector('header nav')`);
      assert.equal(await page.evaluate('location.hash'), '#/usage');
      return undefined;
    },

    async 'at a foreign issuer: a reload and a new tab ask nobody anything'() {
      Object.assign(tokens, { seconds: 600, areRenewable: true });
      await page.evaluate('globalThis.isOld = true; location.reload()');
      await page.waitFor(`globalThis.isOld === undefined && ${signedIn}`);
      assert.equal(await page.evaluate('location.hash'), '#/usage');
      await page.inNewTab((tab) => tab.open(`${own.address}#/devices`, signedIn));
      return undefined;
    },

    async 'an issuer that shows its page instead of an answer is not asked again without the person'() {
      silence.is = 'ignored';
      await page.open('about:blank', 'true');
      await page.forgetCookies();
      await page.open(`${own.address}#/devices`, `document.querySelector('input[name=login]')`);
      const before = countOfQuestions();
      await page.open(own.address, signedOut);
      await page.open('about:blank', 'true');
      await page.open(own.address, signedOut);
      assert.equal(countOfQuestions(), before);
      return undefined;
    },

    async 'who signs in on the page that such an issuer shows comes to the view'() {
      await signIn('#/devices');
      await page.open('about:blank', 'true');
      await page.forgetCookies();
      await page.open(`${own.address}#/usage`, `document.querySelector('input[name=login]')`);
      await enter();
      assert.deepEqual(await page.evaluate('[location.hash, location.search]'), ['#/usage', '']);
      return undefined;
    },

    async 'an issuer that fails is asked once, and its words are shown'() {
      silence.is = 'failing';
      const before = countOfQuestions();
      await page.evaluate('location.reload()');
      await own.see('Out of order.');
      await page.waitFor(signedOut);
      await page.evaluate('globalThis.isOld = true; location.reload()');
      await page.waitFor(`globalThis.isOld === undefined && ${signedOut}`);
      assert.equal(countOfQuestions(), before + 1);
      silence.is = 'answered';
      return undefined;
    },

    // Last: until here the user has no batches.
    ...largeListChecks(own, stack, { userId: 'ada', signIn: () => signIn('#/usage'), logFile }),
  };
  return checks;
}
