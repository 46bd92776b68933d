import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectAccessible } from '../page/accessible.ts';
import type { Check } from '../page/run-checks.ts';
import { rabi, simulatedDay } from './picture-data.ts';
import { smallPng } from './small-png.ts';
import { expectFits } from './user-checks.ts';
import type { Visit } from './world.ts';

/** All files of the first view, over the wire. */
const maxBytes = 120 * 1024;

/** A slow line of phones, as Lighthouse has it. */
const slowLine = { milliseconds: 150, bitsPerSecond: 1.6e6 };

/** How the views look, and to whom. `views` are their addresses by name, for the account. */
export function viewCheck(
  visit: Visit,
  account: string,
  views: () => Promise<Readonly<Record<string, string>>>,
): Check {
  const { page } = visit;
  return async () => {
    await visit.openAs(account);
    const all = await views();
    for (const [name, address] of Object.entries(all)) {
      await page.resize(1400, 900);
      await visit.show(address);
      for (const [width, theme] of [
        [1400, 'light'],
        [390, 'light'],
        [390, 'dark'],
        [1400, 'dark'],
        [2200, 'light'],
      ] as const) {
        await page.resize(width, 900);
        await page.prefer(theme);
        await expectAccessible(page, `${name}, ${width} px, ${theme}`);
        await expectFits(visit, `${name}, ${theme}`);
      }
    }
    await page.resize(1400, 900);
    await page.prefer('light');
    return `${Object.keys(all).length} views`;
  };
}

/** The first visit of someone with a slow line. */
export function slowLineCheck(visit: Visit): Check {
  const { page } = visit;
  const loaded = async (begin: () => Promise<void>, condition: string) => {
    const [bytes, requests, start] = [page.receivedBytes(), page.requested.length, performance.now()];
    await begin();
    await page.waitFor(condition);
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    return { bytes: page.receivedBytes() - bytes, requests: page.requested.length - requests, seconds };
  };
  return async () => {
    await page.open('about:blank', 'true');
    await page.forget();
    await page.forgetSignIn(visit.baseUrl);
    await page.slowDown(slowLine);
    const signIn = `document.querySelector('.sign-in button')`;
    const first = await loaded(() => page.open(visit.address, signIn), signIn);
    assert(first.bytes <= maxBytes, `${first.bytes} bytes`);
    await page.choose('Sign in');
    await page.waitFor(`document.querySelector('input[name=username]')`);
    await page.fill('Username', 'demo');
    await page.fill('Password', 'demo');
    const list = await loaded(() => page.choose('Sign in'), `document.querySelectorAll('.rows .name > a').length > 0`);
    await page.slowDown();
    const text = ({ bytes, requests, seconds }: typeof first) =>
      `${(bytes / 1024).toFixed(1)} kB in ${requests} requests, ${seconds} s`;
    return `page ${text(first)}; from the password to the list ${text(list)}`;
  };
}

/** Of the pictures that are not 900 px high. */
const heights: Readonly<Record<string, number>> = { batch: 1_100, job: 1_180, new: 1_080, queue: 1_080 };

/** A program, and a sweep. Its last jobs are beyond what the device allows. */
async function enterSweep(page: Visit['page']) {
  await page.fill('Or its text', rabi('FRESNEL'));
  await page.fill('from', '0.25');
  await page.fill('to', '13.5');
  await page.fill('steps', '54');
  await page.choose('Make 54 jobs');
  await page.fill('Name', 'Rabi scan over ω');
  await page.fill('Tags', 'rabi, blockade');
  await page.waitFor(`document.querySelector('#projects option')`);
}

/** A stack that has just begun has measured no day yet: the page is given a simulated one. */
async function openQueue({ page, openAs, show }: Visit, address: string) {
  await openAs('operator', '#/operate');
  const day = { status: 'success', code: '200', data: simulatedDay('LAB_1') };
  await page.evaluate(`{
    const asked = globalThis.fetch;
    globalThis.fetch = (url, ...rest) =>
      String(url).includes('/minutes') ? Promise.resolve(Response.json(${JSON.stringify(day)})) : asked(url, ...rest);
  }`);
  await show(address);
  await page.waitFor(`document.querySelectorAll('.day-plots .chart').length === 3`);
}

/** Pictures for the documents. */
export function pictures(
  visit: Visit,
  directory: string,
  views: () => Promise<Readonly<Record<string, string>>>,
): Check {
  const { page } = visit;
  return async () => {
    for (const [name, address] of Object.entries(await views())) {
      await page.resize(1400, heights[name.replace('-dark', '')] ?? 900);
      await page.prefer(name.endsWith('dark') ? 'dark' : 'light');
      if (name === 'queue') await openQueue(visit, address);
      else await visit.openAs('demo', address);
      await page.waitFor(`document.querySelector('main :is(td, svg.histogram, form)')`);
      if (name === 'new') await enterSweep(page);
      if (name.startsWith('batch-') || name === 'batch') await page.waitFor(`document.querySelector('.reach')`);
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))');
      await page.evaluate('document.activeElement.blur()');
      writeFileSync(join(directory, `console-${name}.png`), smallPng(await page.screenshot()));
    }
    await page.prefer('light');
    return undefined;
  };
}
