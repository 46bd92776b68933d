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
  const user = 'check-user';

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

    async 'an operator sets the limits of a user, and removes them'() {
      await visit.expectRefused(404, () =>
        show(`#/operate/limits?${new URLSearchParams({ subject: `user:${user}` })}`),
      );
      await expectAccessible(page, 'the form of limits');
      await page.fill('Shots this month', '12345');
      await page.choose('Save');
      await see(`user:${user}`);
      await see('12345');
      await page.choose(`Remove user:${user}`);
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Remove these limits');
      await page.waitFor(`!document.querySelector('dialog') && !document.body.innerText.includes('user:${user}')`);
      return undefined;
    },

    async 'the audit trail has all of it, and the report of usage is there'() {
      await show('#/operate/audit');
      await page.waitFor(`document.querySelector('main table tbody')`);
      const acts = (await visit.rows()).slice(0, 5).map(([, , action]) => action);
      assert.deepEqual(acts, ['limits.delete', 'limits.put', 'batch.cancel', 'batch.priority', 'device.set']);
      await see(reason);
      await page.fill('Action', 'batch.cancel');
      await page.choose('Apply');
      await page.waitFor(`location.hash.includes('action=batch.cancel')`);
      await visit.rest();
      assert((await visit.rows()).every(([, , action]) => action === 'batch.cancel'));
      await show('#/operate/usage');
      await see('Total');
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
      await page.waitFor(`document.querySelector('main table tbody')?.innerText.includes('demo')`);
      assert.match((await visit.rows())[0]![1]!, /operator$/);
      return undefined;
    },

    async 'a worker is seen with what it runs, and the day is drawn'() {
      await call(`/api/v1/devices/${device}`, { token: operator, method: 'PATCH', body: { mode: 'OPEN' } });
      await create();
      const release = await take();
      await show('#/operate');
      await show(`#/operate/device/${device}`);
      const workers = `document.querySelector('aside .lines')?.innerText`;
      await page.waitFor(`/check\\s+seen .+ ago\\s+has .+ by demo\\s+a job for/.test(${workers})`);
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
      });
      return undefined;
    },
  };
}
