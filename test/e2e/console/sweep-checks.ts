import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Check } from '../page/run-checks.ts';
import type { Laboratory } from './laboratory.ts';
import { sweep } from './program.ts';
import type { Visit } from './world.ts';

const omegas = [2, 4, 6, 8, 10, 12];
const shots = 200;
/** Of nine atoms: none excited, and all. */
const [none, all] = ['000000000', '111111111'];
/** The job, counted from 0, that fails. */
const failed = 3;

/** How often none is excited: as a Rabi oscillation has it. */
const countOfNone = (at: number) => Math.round(shots * Math.cos(omegas[at]! / 4) ** 2);

/** A batch that varies one value: what a physicist sees of it, and takes along. */
export function sweepChecks(visit: Visit, { calibrate, call, device, work }: Laboratory): Record<string, Check> {
  const { page, see, show } = visit;
  const names = ['Rabi scan <b>', 'Rabi scan, again'];
  const ids: string[] = [];

  async function run(name: string) {
    const { id } = await call<{ id: string }>('/api/v1/batches', {
      method: 'POST',
      body: {
        ...{ project_id: randomUUID(), device_type: device, sequence_builder: sweep(device, 'sweep') },
        tags: [`name:${name}`, 'rabi'],
        jobs: omegas.map((omega) => ({ runs: shots, variables: { omega } })),
      },
    });
    const outcome = (at: number) => {
      const count = countOfNone(at);
      return at === failed
        ? { errors: ['The laser lost its lock.'] }
        : { counter: { [none]: count, [all]: shots - count } };
    };
    while ((await work(outcome)) !== id);
    ids.push(id);
  }

  return {
    async 'a job says how its machine was calibrated, and its files do; the device has the history'() {
      const before = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
      await calibrate({ p_false_pos: 0.02, T_2: 4.5 }, before(48));
      await calibrate({ p_false_pos: 0.01, p_false_neg: 0.05, temperature: 27.5, T_2: 4.25, filling: 0.99 }, before(2));
      await run('Rabi scan, calibrated');
      const [job] = await call<{ id: string }[]>(`/api/v2/jobs?batch_id=${ids.pop()}&status=DONE`);
      await show(`#/job/${job!.id}`);
      await page.waitFor(`document.querySelector('main').innerText.includes('before it ran')`);
      const line = await page.evaluate<string>(
        `[...document.querySelectorAll('main p')].find((each) => each.innerText.startsWith('Calibrated')).innerText`,
      );
      assert.match(
        line,
        /^Calibrated 2 h( \d+ (min|s))? before it ran \([^)]+\): false positives 0\.01, false negatives 0\.05, /,
      );
      assert.match(line, /temperature 27\.5 µK, T_2 4\.25 …$/);
      await page.choose('Calibrated');
      await page.waitFor(`document.querySelectorAll('.calibrations .chart .k1').length === 5`);
      await page.waitFor(`document.querySelectorAll('.calibrations .own-job').length > 0`);
      await page.evaluate(`document.querySelector('.calibrations .reach').focus()`);
      await page.press('ArrowDown');
      await page.waitFor(
        `/^Calibration 1, from .*, false positives 0.02$/.test(document.activeElement.getAttribute('aria-valuetext'))`,
      );
      await page.choose('All calibrations as a table');
      const rows = await visit.rows('section[aria-label="All calibrations as a table"] table');
      assert.deepEqual(
        rows.map(([number, , , ...values]) => [number, ...values]),
        [
          ['2', '0.01', '4.25', '0.05', '27.5', '0.99'],
          ['1', '0.02', '4.5', '—', '—', '—'],
        ],
      );
      return undefined;
    },

    async 'a sweep is a curve over its variable: its values are those of the machine, and a failed job is seen'() {
      for (const name of names) await run(name);
      await show(`#/batch/${ids[0]}`);
      await see('1 of 6 jobs failed');
      await page.waitFor(`document.querySelector('.reach')`);
      await page.choose('As a table');
      const values = `[...document.querySelectorAll('section[aria-label="As a table"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`;
      await page.waitFor(`${values}.length === ${omegas.length - 1}`);
      const rows = await page.evaluate<string[][]>(values);
      const expected = omegas.flatMap((omega, at) => {
        const share = countOfNone(at) / shots;
        const text = `${(100 * share).toFixed(1)} ± ${(100 * Math.sqrt((share * (1 - share)) / shots)).toFixed(1)} %`;
        return at === failed ? [] : [[String(at + 1), String(omega), text]];
      });
      const place = await page.evaluate<number>(
        `[...document.querySelectorAll('section[aria-label="As a table"] thead th')].findIndex((each) => each.innerText === '${none}')`,
      );
      assert.deepEqual(
        rows.map((row) => [row[0], row[1], row[place]]),
        expected,
      );
      return undefined;
    },

    async 'its values are read by keyboard, and Enter opens the job'() {
      const reach = `document.querySelector('.reach')`;
      await page.evaluate(`${reach}.focus()`);
      for (let presses = 0; presses <= failed; presses++) {
        await page.evaluate(
          `${reach}.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))`,
        );
        await page.evaluate('new Promise(requestAnimationFrame)');
      }
      assert.match(await page.evaluate<string>(`${reach}.getAttribute('aria-valuetext')`), /Job 4 failed|failed/i);
      await page.press('Enter');
      await see('The laser lost its lock.');
      await see(`Job ${failed + 1} of ${omegas.length}`);
      return undefined;
    },

    async 'all results are one file, with the variables of each job'() {
      await show(`#/batch/${ids[0]}`);
      await page.waitFor(`document.querySelector('.reach')`);
      await page.evaluate(`globalThis.saved = [], URL.createObjectURL = (blob) => (saved.push(blob), 'data:,'), 0`);
      await page.choose('Download all');
      await page.choose('CSV: a row for each job and outcome');
      await page.choose('JSON: an object for each job');
      await page.waitFor('saved.length === 2');
      const [csv, json] = await page.evaluate<[string, string]>('Promise.all(saved.map((blob) => blob.text()))');
      const lines = csv.trim().split('\r\n');
      // Two outcomes of each job but the failed one, which has a row without any.
      assert.equal(lines.length, 1 + 2 * (omegas.length - 1) + 1);
      assert(
        lines.some((line) => line.includes(`"DONE",${shots},6,"${none}",${countOfNone(2)}`)),
        csv,
      );
      const jobs = JSON.parse(json) as { variables: { omega: number }; counts: Record<string, number> | null }[];
      assert.deepEqual(
        jobs.map(({ variables, counts }) => [variables.omega, counts?.[none] ?? null]),
        omegas.map((omega, at) => [omega, at === failed ? null : countOfNone(at)]),
      );
      return `${csv.length} and ${json.length} characters`;
    },

    async 'batches are found by name, and compared in one figure'() {
      await show(`#/batches?${new URLSearchParams({ tag: 'rabi', device_type: device })}`);
      for (const name of names) {
        await see(name);
        await page.choose(`Choose ${name}`);
      }
      await page.choose('Compare');
      await page.waitFor(`location.hash.startsWith('#/compare/') && document.querySelector('.reach')`);
      for (const name of names) await see(name);
      await show('#/batches');
      await page.fill('Name, tag or id', names[0]!);
      await page.waitFor(`document.activeElement.type === 'search'`);
      await page.press('Enter');
      await page.waitFor(`document.querySelectorAll('.rows .name > a').length === 1`);
      assert.deepEqual(await visit.listed(), [ids[0]]);
      return undefined;
    },
  };
}
