import assert from 'node:assert/strict';
import { expectAccessible } from '../page/accessible.ts';
import type { Check } from '../page/run-checks.ts';
import type { Laboratory } from './laboratory.ts';
import type { Visit } from './world.ts';

/** What an operator does, and what users see of it. `create` makes a batch that waits. */
export function operatorChecks(
  visit: Visit,
  { device }: Laboratory,
  create: () => Promise<{ readonly id: string }>,
): Record<string, Check> {
  const { page, see, show } = visit;
  const reason = 'The laser is exchanged <b>now</b>.';
  const user = 'check-user';

  return {
    async 'an operator pauses a device with a reason'() {
      await visit.openAs('operator', `#/operate/device/${device}`);
      await page.fill('Mode', 'PAUSED');
      await page.fill('Reason', reason);
      await page.choose('Save');
      await page.waitFor(`document.querySelector('.card .status')?.innerText === 'Inactive'`);
      return undefined;
    },

    async 'an operator sets a priority, and cancels a batch, with reasons'() {
      const [first, second] = [await create(), await create()];
      await show(`#/operate/queue/${device}`);
      await page.choose(`Priority ${first.id}`);
      await page.fill('New priority', 'FREE');
      await page.fill('Reason', reason);
      await page.choose('Set the priority');
      const row = (id: string) =>
        `document.querySelector('td .id code[title="${id}"], td .id a[title="${id}"]')?.closest('tr')`;
      await page.waitFor(`${row(first.id)}?.innerText.includes('FREE')`);
      await page.choose(`Cancel ${second.id}`);
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
      await show(`#/operate/queue/${device}`);
      await page.waitFor(`document.querySelector('td .id a[title="${id}"]')?.closest('tr').innerText.includes('demo')`);
      await page.click(`td .id a[title="${id}"]`);
      await page.waitFor(`location.hash.startsWith('#/operate/batch/') && location.hash.endsWith('${id}')`);
      await see('The audit trail has that you looked at it.');
      await page.waitFor(`document.querySelector('svg.chart')`);
      await expectAccessible(page, 'the batch of a user');
      await show('#/operate/audit?action=batch.read');
      await page.waitFor(`document.querySelector('main table tbody')?.innerText.includes('demo')`);
      assert.match((await visit.rows())[0]![1]!, /operator$/);
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
