import assert from 'node:assert/strict';
import { expectAccessible } from '../page/accessible.ts';
import type { Check } from '../page/run-checks.ts';
import type { Laboratory } from './laboratory.ts';
import type { Visit } from './world.ts';

/**
 * What an operator does, and what users see of it. `create` makes a batch that waits; `operator` is
 * a token.
 */
export function operatorChecks(
  visit: Visit,
  { call, device, take }: Laboratory,
  create: (name?: string, tags?: readonly string[]) => Promise<{ readonly id: string }>,
  operator: string,
): Record<string, Check> {
  const { page, see, show } = visit;
  const row = (id: string) => `document.querySelector('.rows .name > a[title="${id}"]')?.closest('tr')`;
  const modeOf = async () => (await call<{ mode: string }>(`/api/v1/devices/${device}`, { token: operator })).mode;
  const reason = 'The laser is exchanged <b>now</b>.';

  return {
    async 'an operator lands on the machines, and opens one'() {
      await visit.openAs('operator');
      await see('Machines');
      await page.waitFor(`document.querySelector('.rows .name > a[href="#/operate/device/${device}"]')`);
      await page.click(`.rows .name > a[href="#/operate/device/${device}"]`);
      await page.waitFor(`document.querySelector('.crumbs [aria-current]')?.innerText === '${device}'`);
      return undefined;
    },

    async 'a pause shows which batches would end later, and writes nothing before it is done'() {
      const { id } = await create('Rabi sweep', ['name:Rabi sweep']);
      await page.choose('Pause');
      await page.waitFor(
        `document.querySelector('dialog .preview:not([aria-busy])')?.innerText.includes('Rabi sweep')`,
      );
      await see('would end');
      await expectAccessible(page, 'the dialog of a pause');
      await page.choose('Never mind');
      assert.equal(await modeOf(), 'OPEN');
      await page.choose('Pause');
      await page.fill('Reason', reason);
      await page.choose(`Pause ${device}`);
      await page.waitFor(
        `!document.querySelector('dialog') && document.querySelector('.head .pill').innerText === 'Paused'`,
      );
      await see(reason);
      assert.equal(await modeOf(), 'PAUSED');
      await call(`/api/v2/batches/${id}/cancel`, { method: 'PATCH' });
      return undefined;
    },

    async 'a pause stays possible where it cannot be looked at'() {
      await page.choose('Drain');
      await visit.answering([500], async () => {
        await see('You can do it all the same.');
      });
      await page.choose('Never mind');
      return undefined;
    },

    async 'an operator plans a window, changes the bounds, and sees both'() {
      await page.choose('Add a window');
      await page.fill('Begins', '2254-12-31T08:00');
      await page.fill('Ends', '2254-12-31T07:00');
      await page.fill('Reason', 'Calibration');
      await visit.expectRefused(422, async () => {
        await page.waitFor(`document.querySelector('dialog .preview')?.innerText.includes('could not be worked out')`);
        await page.choose('Add a window');
        await see('Input should be later than starts_at');
      });
      await page.fill('Ends', '2254-12-31T09:00');
      await page.choose('Add a window');
      await page.waitFor(`!document.querySelector('dialog') && document.body.innerText.includes('08:00 – 09:00')`);
      await page.choose('Change bounds');
      await page.fill('A job at most', '600');
      await page.choose('Change bounds');
      await page.waitFor(
        `!document.querySelector('dialog') && document.querySelector('.sides')?.innerText.includes('10 min')`,
      );
      await page.choose('Change bounds');
      assert.equal(await page.evaluate(`document.querySelector('dialog input').value`), '600');
      await page.fill('A job at most', '');
      await page.choose('Change bounds');
      await page.waitFor(
        `!document.querySelector('dialog') && !document.querySelector('.sides').innerText.includes('10 min')`,
      );
      await page.click('.lines .row-menu .danger');
      await page.choose('Remove the window');
      await page.waitFor(`!document.querySelector('dialog') && !document.body.innerText.includes('08:00 – 09:00')`);
      return undefined;
    },

    async 'the address of a queue leads to the page of its machine'() {
      await show(`#/operate/queue/${device}`);
      await page.waitFor(`location.hash === '#/operate/device/${device}'`);
      await see('Queue');
      return undefined;
    },

    async 'an operator sets a priority, and cancels a batch, with reasons'() {
      const [first, second] = [await create(), await create()];
      await show(`#/operate/device/${device}`);
      await page.waitFor(row(second.id));
      await page.click(`[aria-label="Priority ${first.id}"]`);
      await page.fill('New priority', 'FREE');
      await page.waitFor(`document.querySelector('dialog .preview:not([aria-busy])')`);
      await page.fill('Reason', reason);
      await page.choose('Set the priority');
      await page.waitFor(`${row(first.id)}?.innerText.includes('free')`);
      await page.click(`[aria-label="Cancel ${second.id}"]`);
      await page.fill('Reason', reason);
      await page.choose('Cancel this batch');
      await page.waitFor(`!document.querySelector('dialog') && !${row(second.id)}`);
      return undefined;
    },

    async 'an operator sees what the limits of a user change, sets them, and removes them'() {
      await create();
      await show('#/operate/limits');
      await page.fill('Limits of', 'user');
      const chosen = `[...document.querySelectorAll('option')].find(({ text }) => text === 'demo')`;
      await page.waitFor(chosen);
      const user = await page.evaluate<string>(`${chosen}.value`);
      await page.fill('Which user', user);
      await visit.expectRefused(404, async () => {
        await page.choose('Set them');
        await page.waitFor(`location.hash.includes(${JSON.stringify(encodeURIComponent(`user:${user}`))})`);
        await visit.rest();
      });
      await page.waitFor(`document.querySelector('main h2')?.innerText === 'Limits of demo'`);
      await page.fill('Shots this month', '0');
      await see('New batches would be refused.');
      await see('The batches that exist stay as they are: limits count when work is created.');
      await expectAccessible(page, 'the form of limits, with what they change');
      await page.fill('Shots this month', '12345678');
      await see('12,345,678');
      await see('The next batch would be accepted.');
      await page.choose('Save');
      await see('at most 12,345,678 shots a month');
      // What is set is in the form.
      await page.choose('demo');
      await page.waitFor(`[...document.querySelectorAll('form input')].some(({ value }) => value === '12345678')`);
      await show('#/operate/limits');
      await page.choose(`Remove the limits of user:${user}`);
      await page.waitFor(
        `document.querySelector('dialog[open]')?.innerText.includes('The batches that exist stay as they are')`,
      );
      await page.choose('Remove these limits');
      await page.waitFor(`!document.querySelector('dialog') && !document.body.innerText.includes('12,345,678')`);
      return undefined;
    },

    async 'the audit trail tells all of it in sentences, and by choice some of it'() {
      await show('#/operate/audit');
      await page.waitFor(`document.querySelector('main table tbody')`);
      const sentences = (await visit.rows()).slice(0, 9).map(([, sentence]) => sentence!.replace(/\s+/g, ' '));
      const expected = [
        /operator removed the limits of demo\.$/,
        /operator set the limits of demo: at most 12,345,678 shots a month \(was not set\)\.$/,
        /operator canceled demo’s batch [0-9a-f]{8}…: The laser is exchanged <b>now<\/b>\.$/,
        /operator gave demo’s batch [0-9a-f]{8}… the priority FREE \(was \w+\): The laser/,
        new RegExp(`operator removed the maintenance windows of ${device}\\.$`),
        new RegExp(`operator set the bounds of time of ${device} \\(.*a job at most none, was 10 min`),
        new RegExp(`operator set the bounds of time of ${device} \\(.*a job at most 10 min, was none`),
        new RegExp(`operator set the maintenance windows of ${device} \\(.*: Calibration\\)\\.$`),
        new RegExp(`operator paused ${device}: The laser`),
      ];
      for (const [at, sentence] of expected.entries()) assert.match(sentences[at]!, sentence);
      await page.choose('JSON');
      await see('"action": "limits.delete"');
      await page.fill('Action', 'batch.cancel');
      await page.choose('Apply');
      await page.waitFor(`location.hash.includes('action=batch.cancel')`);
      await visit.rest();
      assert((await visit.rows()).every(([, sentence]) => /canceled/.test(sentence!)));
      return undefined;
    },

    async 'usage is stacked by users, in the measure that one chooses'() {
      await show('#/operate/usage');
      await page.waitFor(`document.querySelector('.usage .chart rect.f1')`);
      const { total } = await call<{ total: { jobs: number } }>('/api/v1/usage?scope=all', { token: operator });
      const pick = (name: string) =>
        page.evaluate(
          `[...document.querySelectorAll('.usage .choice label')].find(({ innerText }) => innerText === '${name}').click()`,
        );
      await pick('Jobs');
      await page.waitFor(`location.hash.includes('measure=jobs')`);
      await see(`${total.jobs.toLocaleString('en')} jobs ended`);
      const rows = await visit.rows();
      const names = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.usage .sweep-legend bdi')].map((each) => each.innerText)`,
      );
      assert.equal(names.length, Math.min(6, rows.filter(([, , , jobs]) => jobs !== '0').length));
      const sum = rows.reduce((all, [, , , jobs]) => all + Number(jobs!.replaceAll(',', '')), 0);
      assert.equal(sum, total.jobs);
      // By keys: the first day, with its sum.
      await page.evaluate(`document.querySelector('.usage .reach').focus()`);
      await page.press('ArrowDown');
      await page.waitFor(`/^1 \\w+: /.test(document.querySelector('.usage .reach').getAttribute('aria-valuetext'))`);
      await page.evaluate(`((select) => {
        select.value = 'device_type';
        select.dispatchEvent(new Event('change'));
      })(document.querySelector('.usage .beside select'))`);
      await page.waitFor(`location.hash.includes('group_by=device_type')`);
      await visit.rest();
      await see(device);
      await pick('12 months');
      await page.waitFor(`location.hash.includes('period=month')`);
      await visit.rest();
      await page.waitFor(`document.querySelector('.usage .chart rect.f1')`);
      return undefined;
    },

    async 'an operator sees owners by name, and looks at a batch, of which the audit trail keeps an entry'() {
      const { id } = await create();
      await show(`#/operate/device/${device}`);
      await page.waitFor(`${row(id)}?.innerText.includes('demo')`);
      await page.click(`.rows .name > a[title="${id}"]`);
      await page.waitFor(`location.hash.startsWith('#/operate/batch/') && location.hash.endsWith('${id}')`);
      await see('The audit trail has that you looked at it.');
      await page.waitFor(`document.querySelector('svg.chart')`);
      await expectAccessible(page, 'the batch of a user');
      await show('#/operate/audit?action=batch.read');
      await page.waitFor(`document.querySelector('main table tbody')?.innerText.includes('looked at demo’s batch')`);
      return undefined;
    },

    async 'a worker is seen with what it runs, and the day is drawn'() {
      await call(`/api/v1/devices/${device}`, { token: operator, method: 'PATCH', body: { mode: 'OPEN' } });
      await create();
      const release = await take();
      await show('#/operate');
      await show(`#/operate/device/${device}`);
      const workers = `document.querySelector('aside .lines')?.innerText`;
      // Batches of several people wait.
      const owners = '(demo|Ada Lovelace|Max Born)';
      await page.waitFor(`/check\\s+seen .+ ago\\s+has .+ by ${owners}\\s+a job for/.test(${workers})`);
      await see('1 batch at work');
      await release();
      await page.waitFor(`document.querySelectorAll('.day-plots .chart').length === 3`);
      await page.evaluate(`document.querySelector('.day-plots .reach').focus()`);
      await page.press('ArrowDown');
      await page.waitFor(
        `document.querySelector('.day-plots .reach').getAttribute('aria-valuetext').includes('in the queue')`,
      );
      await page.choose('As a table');
      assert((await visit.rows('main details table')).length > 0);
      await expectAccessible(page, 'the page of a machine');
      const body = { mode: 'PAUSED', reason };
      await call(`/api/v1/devices/${device}`, { token: operator, method: 'PATCH', body });
      return undefined;
    },

    async 'a user reads why the device is paused, and is offered nothing of the operator'() {
      await visit.openAs('guest', `#/devices/${device}`);
      await see(reason);
      await see('Paused');
      assert.equal(await page.evaluate(`document.querySelector('a[href="#/operate"]')`), null);
      await visit.expectRefused(403, async () => {
        await show('#/operate/audit');
        await page.waitFor(`document.querySelector('[role=alert]')`);
        await visit.rest();
      });
      return undefined;
    },
  };
}
