import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Throws with what axe-core finds on the page as it is now. */
export async function expectAccessible(page: Page, what: string) {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(`${axe}; undefined`);
  // The page completes what it shows in the frame after. Buttons change their colours by and by.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');
  // What is of an earlier address is pale until the new answer is there.
  await page.waitFor(`!document.querySelector('[aria-busy="true"]')`);
  // What is at work never stops moving.
  await page.waitFor(
    'document.getAnimations().every((each) => each.effect.getComputedTiming().endTime === Number.POSITIVE_INFINITY)',
  );
  const violations = await page.evaluate<Violation[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
      ({ id, impact, nodes: nodes.slice(0, 3).map(({ html }) => ({ html })) })))`,
  );
  assert.deepEqual(violations, [], `axe-core on ${what}`);
}
