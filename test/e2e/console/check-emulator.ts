/**
 * Submits a program that Pulser has written, in Chromium, and has it run by the project's emulator,
 * on a running local stack. Prints each check; the exit code is 1 when one fails.
 *
 * usage: check-emulator.ts STACK_JSON CHROMIUM PYTHON; this Python has Pulser and pasqal-cloud
 */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { StackDescription } from '../../../infra/local/greeting.ts';
import { withPage } from '../page/browser.ts';
import { type Check, runChecks } from '../page/run-checks.ts';
import { visit } from './world.ts';

const [description = '', chromium = '', python = ''] = process.argv.slice(2);
const stack = JSON.parse(readFileSync(description, 'utf8')) as StackDescription;
const root = resolve(import.meta.dirname, '../../..');
const shots = 700;

async function pulser(...args: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, 'pulser_client.py');
  return (await promisify(execFile)(python, ['-W', 'ignore', program, description, ...args])).stdout;
}

const folder = mkdtempSync(join(tmpdir(), 'program-'));
const emulator = spawn(
  process.execPath,
  ['infra/local/emulator/start.ts', `--stack=${resolve(description)}`, '--device-type=EMU_FREE'],
  { cwd: root, stdio: 'inherit' },
);
const ended = once(emulator, 'exit');
try {
  await withPage(chromium, async (page) => {
    const own = visit(page, stack.baseUrl);
    const checks: Record<string, Check> = {
      async 'a program that Pulser has written to a file is followed to DONE, as the emulator runs it'() {
        const file = join(folder, 'program.json');
        await pulser('write', file);
        await page.resize(1400, 900);
        await own.openAs('guest', '#/new');
        await page.evaluate('globalThis.isSamePage = true');
        await page.attach('File', file);
        await page.fill('omega of job 1', '6');
        await page.fill('duration of job 1', '300');
        await page.fill('detunings of job 1', '0, 1.5');
        await page.fill('Shots of job 1', String(shots));
        await page.waitFor(`[...document.querySelectorAll('option')].some(({ value }) => value === 'EMU_FREE')`);
        await page.fill('Device', 'EMU_FREE');
        await page.fill('Project', randomUUID());
        await page.choose('Send 1 job');
        await page.waitFor(`location.hash.startsWith('#/batch/')`);
        await page.waitFor(`document.querySelector('.head .status')?.innerText === 'Done'`);
        assert.equal(await page.evaluate('globalThis.isSamePage'), true);
        return undefined;
      },

      async 'its counts are those of Pulser’s own results of the job'() {
        const batchId = await page.evaluate<string>(`location.hash.slice('#/batch/'.length)`);
        await page.waitFor(`document.querySelector('td .name a[href^="#/job/"]')`);
        await page.click('td .name a[href^="#/job/"]');
        await page.waitFor(`document.querySelector('svg.histogram')`);
        await page.evaluate(
          `[...document.querySelectorAll('button')].find((each) => each.innerText.startsWith('Show all'))?.click()`,
        );
        // Of few atoms the page also shows the outcomes that never came.
        const rows = (await own.rows('.split table'))
          .map(([bits, count]) => [bits, Number(count)] as const)
          .filter(([, count]) => count > 0);
        const expected: Record<string, number> = JSON.parse(await pulser('counts', batchId));
        assert.deepEqual(Object.fromEntries(rows), expected);
        assert.equal(
          rows.reduce((sum, [, count]) => sum + count, 0),
          shots,
        );
        assert(rows.length > 3, `${rows.length} bitstrings show little.`);
        return `${rows.length} bitstrings`;
      },

      async 'nothing went wrong in the browser'() {
        assert.deepEqual(own.unexpectedErrors(), []);
        return undefined;
      },
    };
    await runChecks(checks, { stopAtFailure: true });
  });
} finally {
  emulator.kill();
  await ended;
  rmSync(folder, { recursive: true });
}
