import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sequenceWith } from '../../support/sequence-text.ts';
import type { Check } from '../page/run-checks.ts';
import type { Laboratory } from './laboratory.ts';
import { sweep } from './program.ts';
import type { Visit } from './world.ts';

/** Counts of nine atoms: the two patterns that a sweep leads to, and what surrounds them. */
export const counter: Readonly<Record<string, number>> = {
  ...{ '101010101': 231, '010101010': 94, '101000101': 61, '001010101': 38, '101010100': 33, '100010101': 29 },
  ...{ '101010001': 27, '010001010': 19, '010100010': 17, '000010101': 11, '101000100': 9, '010101000': 8 },
  ...{ '100010001': 7, '001010100': 6, '000000000': 4, '000101010': 3, '100000001': 2, '111010101': 1 },
};

/**
 * What a user does, from a program to its results, and with many batches. `folder` is for files.
 */
export function userChecks(visit: Visit, laboratory: Laboratory, folder: string): Record<string, Check> {
  const { page, see, show } = visit;
  const { announceOdd, call, device, work } = laboratory;
  const tag = `check ${device}`;
  const project = randomUUID();
  const create = (content: object = {}) =>
    call<{ id: string }>('/api/v1/batches', {
      method: 'POST',
      body: {
        project_id: project,
        device_type: device,
        sequence_builder: sweep(device, 'sweep'),
        tags: [tag],
        ...content,
      },
    });
  const jobs = [{ runs: 100, variables: { omega: 12.5 } }];
  const status = `document.querySelector('.head .status')?.innerText`;
  let batchId = '';

  return {
    async 'faults of a program are beside their fields, before it is sent'() {
      const file = join(folder, 'program.json');
      writeFileSync(file, sweep(device, 'sweep <script>'));
      await show('#/new');
      await page.attach('File', file);
      await see('sweep <script>');
      await page.fill('Project', project);
      await page.choose('Check');
      await page.waitFor(`document.activeElement.getAttribute('aria-invalid') === 'true'`);
      assert.equal(await page.evaluate(`document.activeElement.getAttribute('aria-label')`), 'omega of job 1');
      await page.fill('omega of job 1', '12.5');
      await page.fill('Shots of job 1', '0');
      await page.choose('Check');
      await see('Input should be greater than or equal to 1');
      await page.waitFor(`document.activeElement.getAttribute('aria-label') === 'Shots of job 1'`);
      await page.fill('Shots of job 1', '600');
      await page.choose('Check');
      await see('No fault was found.');
      return undefined;
    },

    async 'a sweep is made, pasted over, and drawn before it is sent'() {
      const values = (column: string) =>
        page.evaluate<string[]>(
          `[...document.querySelectorAll('[aria-label^="${column} of job"]')].map(({ value }) => value)`,
        );
      await page.fill('from', '0.1');
      await page.fill('to', '0.5');
      await page.fill('steps', '5');
      await page.choose('Make 5 jobs');
      await page.waitFor(`document.querySelector('[aria-label="omega of job 5"]')`);
      assert.deepEqual(await values('omega'), ['0.1', '0.2', '0.3', '0.4', '0.5']);
      assert.deepEqual(await values('Shots'), Array(5).fill('600'));
      await page.choose('Paste columns');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.fill('Cells of a spreadsheet', 'Shots;omega\n20;0,5\n30;x');
      await page.choose('Paste 2 jobs');
      await see('Job 2: omega is no number');
      await page.fill('omega of job 2', '2');
      await page.waitFor(`document.querySelector('.drawn svg.chart .line.pale')`);
      await page.choose('Check');
      await see('No fault was found.');
      assert.deepEqual(
        [await values('omega'), await values('Shots')],
        [
          ['0.5', '2'],
          ['20', '30'],
        ],
      );
      // The draft survives another view; then one job is left to be sent.
      await show('#/devices');
      await show('#/new');
      await page.waitFor(`document.querySelector('[aria-label="omega of job 2"]')?.value === '2'`);
      await page.choose('Remove job 2');
      await page.fill('omega of job 1', '12.5');
      return undefined;
    },

    async 'a program from a file is sent, and followed to DONE without a reload'() {
      await page.fill('Tags', tag);
      await page.choose('Send 1 job');
      await page.waitFor(`location.hash.startsWith('#/batch/')`);
      await page.waitFor(`${status} === 'Pending'`);
      batchId = await page.evaluate<string>(`location.hash.slice('#/batch/'.length)`);
      await see('Place in the queue');
      assert.equal(await work(() => ({ counter })), batchId);
      await page.waitFor(`${status} === 'Done'`);
      return undefined;
    },

    async 'the figure of a job has the counts that were uploaded'() {
      await page.waitFor(`document.querySelector('td .name a[href^="#/job/"]')`);
      await page.click('td .name a[href^="#/job/"]');
      await page.waitFor(`document.querySelector('svg.histogram')`);
      await page.choose('Show all 18');
      const rows = (await visit.rows('.split table')).map(([bits, count]) => [bits, Number(count)]);
      assert.deepEqual(Object.fromEntries(rows), counter);
      assert.deepEqual(
        rows.map(([, count]) => count),
        Object.values(counter).toSorted((a, b) => b - a),
      );
      const shots = Object.values(counter).reduce((sum, count) => sum + count);
      await see(`The 12 most frequent of 18 outcomes in ${shots} shots`);
      await see('6 more outcomes share 23 shots.');
      // How often q0 and q1 were excited.
      const share = (at: number) =>
        Object.entries(counter).reduce((sum, [bits, count]) => sum + (bits[at] === '1' ? count : 0), 0) / shots;
      for (const at of [0, 1]) {
        const title = await page.evaluate<string>(
          `document.querySelectorAll('.register g > title')[${at}].textContent`,
        );
        assert(title.endsWith(`excited in ${Math.round(100 * share(at))} % of the shots`), title);
      }
      // The register and the pulses, which come with the batch.
      await page.waitFor(`document.querySelectorAll('svg.chart').length >= 3`);
      return undefined;
    },

    async 'a figure is saved as a file that needs no other'() {
      await page.evaluate(`globalThis.saved = [], URL.createObjectURL = (blob) => (saved.push(blob), 'data:,'), 0`);
      await page.choose('Save as SVG');
      await page.choose('Save as PNG');
      await page.waitFor('saved.length === 2');
      const [svg, png] = await page.evaluate<[string, string]>(
        'Promise.all([saved[0].text(), saved[1].slice(1, 4).text()])',
      );
      assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      assert.match(svg, />101010101</);
      assert.doesNotMatch(svg, / class=|var\(/);
      assert.equal(png, 'PNG');
      return `${svg.length} characters`;
    },

    async 'J and K lead to the next and the previous job, links say what differs'() {
      const values = [8, 10, 12.5].map((omega) => ({ runs: 100, variables: { omega } }));
      const { id } = await create({ jobs: values });
      const [first] = await call<{ id: string }[]>(
        `/api/v2/jobs?batch_id=${id}&order_by=creation_order&order_by_direction=ASC&limit=1`,
      );
      await show(`#/job/${first!.id}`);
      await see('Job 1 of 3');
      await page.waitFor(`document.querySelector('.pair')?.innerText.includes('omega = 10')`);
      const press = (key: string) => page.evaluate(`dispatchEvent(new KeyboardEvent('keydown', { key: '${key}' }))`);
      await press('j');
      await see('Job 2 of 3');
      await page.waitFor(`document.querySelectorAll('.pair a').length === 2`);
      await press('k');
      await see('Job 1 of 3');
      await call(`/api/v2/batches/${id}/cancel`, { method: 'PATCH' });
      return undefined;
    },

    async 'filters are in the address: its link shows the same list'() {
      const other = await create({ jobs });
      await show('#/batches');
      await page.choose('Filter');
      await page.fill('Tag', tag);
      // What is typed stays while the list is read again, each time by two calls.
      const reads = () => page.requested.filter((url) => url.includes('/api/v1/batches?')).length;
      for (const before = reads(); reads() < before + 3; ) await sleep(100);
      await page.choose('Apply');
      await page.waitFor(`location.hash === ${JSON.stringify(`#/batches?${new URLSearchParams({ tag })}`)}`);
      // Counts are those without the filter on the status, so they stay while one is chosen.
      const counts = `document.querySelector('.facets').innerText`;
      const { length } = await call<unknown[]>(`/api/v1/batches?${new URLSearchParams({ tag })}`);
      await page.waitFor(`document.querySelector('.chip') && ${counts}.startsWith('All\\n${length}\\n')`);
      const before = await page.evaluate<string>(counts);
      await visit.chooseFacet('Pending');
      await page.waitFor(`document.querySelectorAll('.rows .name > a').length === 1`);
      assert.equal(await page.evaluate(counts), before);
      const hash = await page.evaluate<string>('location.hash');
      assert.equal(hash, `#/batches?${new URLSearchParams({ tag, status: 'PENDING' })}`);
      await visit.openAs('demo', hash);
      assert.deepEqual(await visit.listed(), [other.id]);
      await see('1 to 1 of 1');
      return undefined;
    },

    async 'new batches appear by themselves'() {
      await show(`#/batches?${new URLSearchParams({ tag })}`);
      const { id } = await create({ jobs });
      await page.waitFor(`document.querySelector('.rows a[title="${id}"]')`);
      return undefined;
    },

    async 'pages of the whole list have every batch once, in the order of the API'() {
      const expected: string[] = [];
      for (let offset = 0; offset === expected.length; offset += 100) {
        const page = await call<{ id: string }[]>(`/api/v1/batches?order_by_direction=DESC&limit=100&offset=${offset}`);
        expected.push(...page.map(({ id }) => id));
      }
      // The list of the check before stays until this one has come.
      await show('#/devices');
      await show('#/batches');
      const seen = await visit.listed();
      while (seen.length < expected.length) {
        await page.choose('Next page');
        await page.waitFor(
          `!document.querySelector('.loading') && document.querySelector('.pager')?.innerText.includes('${(seen.length + 1).toLocaleString('en')} to')`,
        );
        seen.push(...(await visit.listed()));
      }
      assert.deepEqual(seen, expected);
      return `${seen.length} batches`;
    },

    async 'many are canceled at once, and what failed is listed'() {
      const pending = [await create({ jobs }), await create({ jobs })];
      await show(`#/batches?${new URLSearchParams({ tag })}`);
      for (const { id } of [...pending, { id: batchId }]) await page.choose(`Choose ${id.slice(0, 8)}`);
      await see('3 chosen');
      await page.choose('Cancel them');
      await page.waitFor(`document.querySelector('ul.failure')?.innerText.includes('${batchId}')`);
      for (const { id } of pending) {
        await page.waitFor(
          `document.querySelector('.rows a[title="${id}"]').closest('tr').innerText.includes('Canceled')`,
        );
      }
      return undefined;
    },

    async 'many are closed, run again, given tags and erased at once, and what failed is listed'() {
      const open = await create({ jobs, open: true });
      const canceled = await create({ jobs });
      await call(`/api/v2/batches/${canceled.id}/cancel`, { method: 'PATCH' });
      const actOn = async (ids: readonly string[], act: string, failed: readonly string[], lines?: string) => {
        await show('#/devices');
        await show(`#/batches?${new URLSearchParams({ tag })}`);
        for (const id of ids) await page.choose(`Choose ${id.slice(0, 8)}`);
        await page.choose(act);
        if (lines !== undefined) await page.fill('One tag a line', lines);
        await page.waitFor(`document.querySelector('dialog[open]')`);
        await page.choose(act);
        const listed = `[...document.querySelectorAll('ul.failure code')].map((each) => each.innerText)`;
        const isOver = failed.length > 0 ? `${listed}.length > 0` : `!document.querySelector('section.chosen')`;
        await page.waitFor(isOver);
        assert.deepEqual(await page.evaluate(listed), failed);
      };
      const both = [open.id, canceled.id];
      await actOn(both, 'Add tags', [], 'shared');
      await actOn(both, 'Close them', []);
      await actOn(both, 'Run them again', []);
      await visit.expectRefused(409, () => actOn(both, 'Erase them', [open.id]));
      const own = `/api/v1/batches?device_type=${device}`;
      const seen = await call<{ id: string; parent_id: string; tags: string[]; open: boolean }[]>(own);
      assert.deepEqual(seen.find(({ id }) => id === open.id)!.tags, [tag, 'shared']);
      assert.equal(seen.find(({ id }) => id === open.id)!.open, false);
      assert.deepEqual(seen.find(({ id }) => id === canceled.id)!.tags, []);
      const copies = seen.filter(({ parent_id }) => both.includes(parent_id));
      assert.equal(copies.length, 2);

      await show(`#/batch/${copies[0]!.id}`);
      await page.choose('Choose all on this page');
      await page.choose('Run them again');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Run them again');
      await page.waitFor(`location.hash.startsWith('#/batch/') && !location.hash.endsWith('${copies[0]!.id}')`);
      const ofJobs = { id: await page.evaluate<string>(`location.hash.slice('#/batch/'.length)`) };
      for (const { id } of [open, ...copies, ofJobs]) await call(`/api/v2/batches/${id}/cancel`, { method: 'PATCH' });
      return undefined;
    },

    async 'a batch is run again, gets other tags, and is erased'() {
      await show(`#/batch/${batchId}`);
      await page.choose('Edit tags');
      await page.fill('One tag a line', `${tag}\nשלום <b>`);
      await page.choose('Save');
      await see('שלום <b>');
      await page.choose('Run again');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Run again');
      await page.waitFor(`location.hash.startsWith('#/batch/') && !location.hash.endsWith('${batchId}')`);
      await see('Repeats');
      await page.choose('Cancel');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Cancel');
      await page.waitFor(`${status} === 'Canceled'`);
      await show(`#/batch/${batchId}`);
      await page.choose('Erase');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Erase');
      await see('It was erased.');
      return undefined;
    },

    async 'odd data is shown as text, and fits'() {
      const script = `<script>globalThis.broken = true</script><img src=x onerror="globalThis.broken = true">`;
      const tags = [
        tag,
        script,
        'مرحبا بالعالم '.repeat(15).trim(),
        'x'.repeat(256),
        ...Array.from({ length: 16 }, (_, at) => `${at}${'Ж'.repeat(200)}`),
      ];
      for (const each of await call<{ id: string }[]>(`/api/v1/batches?status=PENDING&device_type=${device}`)) {
        await call(`/api/v2/batches/${each.id}/cancel`, { method: 'PATCH' });
      }
      const values = { ...{ omega: 1, [script]: 2 } };
      const odd = await create({
        tags,
        sequence_builder: sequenceWith(...Object.keys(values)).replace('AnalogDevice', device),
        jobs: Array.from({ length: 1_500 }, () => ({ runs: 1, variables: values })),
      });
      const bits = (at: number) => at.toString(2).padStart(60, '0');
      const long = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [bits(at * 2 ** 40), at + 1]));
      await work((place) => (place === 0 ? { counter: long } : { errors: [script, 'e'.repeat(9_000)] }), 3);
      await page.resize(390, 800);
      for (const view of [`#/batches?${new URLSearchParams({ tag })}`, `#/batch/${odd.id}`]) {
        await show(view);
        await see('<script>');
        await expectFits(visit, view);
      }
      const oddDevice = await announceOdd();
      const seeOdd = async (view: string) => {
        await show(view);
        await see(oddDevice);
        await expectFits(visit, view);
      };
      await seeOdd('#/devices');
      // It has announced no specification.
      await visit.expectRefused(404, () => seeOdd(`#/devices/${oddDevice}`));
      for (const place of [0, 1]) {
        await show(`#/batch/${odd.id}`);
        await page.waitFor(`document.querySelectorAll('td .name a[href^="#/job/"]').length > 1`);
        await page.evaluate(`document.querySelectorAll('td .name a[href^="#/job/"]')[${place}].click()`);
        await page.waitFor(`location.hash.startsWith('#/job/')`);
        await visit.rest();
        if (place === 1) await see('<script>');
        else {
          await page.waitFor(`document.querySelector('svg.histogram')`);
          const [path] = page.requested.filter((address) => address.includes(`${odd.id}/full_results`));
          assert.match(path!, /\?job_id=[-0-9a-f]{36}$/);
        }
        await expectFits(visit, `job ${place}`);
      }
      await page.resize(1400, 900);
      assert.equal(await page.evaluate('globalThis.broken'), undefined);
      await call(`/api/v2/batches/${odd.id}/cancel`, { method: 'PATCH' });
      return undefined;
    },

    async 'failures are in the words of the API, with the id of the request'() {
      await visit.expectRefused(404, async () => {
        await show(`#/batch/${randomUUID()}`);
        await see('Request');
      });
      await visit.expectRefused(422, async () => {
        await show('#/batches?order_by=colour');
        await see('order_by');
      });
      await visit.answering([503, 503], () => show('#/devices'));
      await see(device);
      await visit.answering(Array(6).fill(429), async () => {
        await show('#/usage');
        await see('Too many requests, by the test.');
      });
      await visit.answering(['no answer'], async () => {
        await show(`#/devices/${device}`);
        await see('The service did not answer.');
      });
      await page.choose('Try again');
      await see('Atoms at most');
      return undefined;
    },
  };
}

/** The page is no wider than the window. */
export async function expectFits({ page }: Visit, what: string) {
  const [width, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  assert(width! <= window!, `${what}: ${width} px in a window of ${window}`);
}
