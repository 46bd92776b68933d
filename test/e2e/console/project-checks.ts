import assert from 'node:assert/strict';
import type { StackDescription } from '../../../infra/local/greeting.ts';
import type { Check } from '../page/run-checks.ts';
import type { Laboratory } from './laboratory.ts';
import { sweep } from './program.ts';
import type { Visit } from './world.ts';

/** What the people of a project see of each other's work, and what they are offered to do. */
export function projectChecks(visit: Visit, laboratory: Laboratory, stack: StackDescription): Record<string, Check> {
  const { page, see, show } = visit;
  const { call, device } = laboratory;
  const personOf = (name: string) => stack.users.find(({ username }) => username === name)!;
  const [admin, member] = [personOf('admin'), personOf('member')];
  const projectOf = async () =>
    (await call<{ id: string; name: string }[]>('/api/v1/projects', { token: admin.token }))[0]!;

  async function createAs({ token }: { readonly token: string }) {
    const { id: project_id } = await projectOf();
    const program = { device_type: device, sequence_builder: sweep(device, 'sweep') };
    const body = { project_id, ...program, jobs: [{ runs: 100, variables: { omega: 12.5 } }] };
    return (await call<{ id: string }>('/api/v1/batches', { token, method: 'POST', body })).id;
  }

  /** The names of the buttons in the title of a batch, or of a job. */
  const offered = () =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('main :is(.title button, .head .actions button):not(.copy)')].filter((each) => each.checkVisibility()).map((each) => each.innerText)`,
    );
  const status = `document.querySelector('.head .status')?.innerText`;
  const row = (id: string) => `document.querySelector('.rows a[title="${id}"]')`;
  let ofAdmin = '';

  return {
    async 'a member finds the batches of a fellow, by the project and by the name of their owner'() {
      ofAdmin = await createAs(admin);
      const own = await createAs(member);
      const { id, name } = await projectOf();
      await visit.openAs('member', '#/batches');
      await page.waitFor(row(own));
      assert(!(await visit.listed()).includes(ofAdmin));
      await page.choose(name);
      await page.waitFor(row(ofAdmin));
      assert.equal(await page.evaluate('location.hash'), `#/batches?scope=project&project_id=${id}`);
      await page.choose('Ada Lovelace');
      await page.waitFor(`location.hash.includes('user_id=') && !${row(own)}`);
      assert((await visit.listed()).includes(ofAdmin));
      await page.choose('Mine');
      await page.waitFor(`location.hash === '#/batches' && ${row(own)}`);
      return undefined;
    },

    async 'a member may run the batch of a fellow again, and is offered nothing else'() {
      await show(`#/batch/${ofAdmin}`);
      await see('Ada Lovelace');
      assert.deepEqual(await offered(), ['Run again']);
      await page.waitFor(`document.querySelector('td .name a[href^="#/job/"]')`);
      await page.choose('Choose all on this page');
      await see('chosen');
      const acts = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.chosen button')].map((each) => each.innerText)`,
      );
      assert.deepEqual(acts, ['Run them again', 'Choose none']);
      await page.click('td .name a[href^="#/job/"]');
      await page.waitFor(`location.hash.startsWith('#/job/')`);
      await see('Ada Lovelace');
      assert.deepEqual(await offered(), []);
      await show(`#/batch/${ofAdmin}`);
      await page.choose('Run again');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Run again');
      await page.waitFor(`location.hash.startsWith('#/batch/') && !location.hash.endsWith('${ofAdmin}')`);
      await see('Repeats');
      assert((await offered()).includes('Cancel'));
      return undefined;
    },

    async 'a member who cancels the batches of all is refused those of fellows, one by one'() {
      const { id, name } = await projectOf();
      const own = await createAs(member);
      await show(`#/batches?scope=project&project_id=${id}&status=PENDING&device_type=${device}`);
      for (const each of [own, ofAdmin]) await page.choose(`Choose ${each.slice(0, 8)}`);
      await page.choose('Cancel them');
      await see('Batches of others may be among them.');
      await page.choose('Cancel them');
      await page.waitFor(`document.querySelector('ul.failure')?.innerText.includes('${ofAdmin}')`);
      assert.doesNotMatch(await visit.textOf('ul.failure'), new RegExp(own));
      await page.waitFor(`!${row(own)}`);
      return name;
    },

    async 'a viewer sees the same, and is offered nothing'() {
      await visit.openAs('viewer', `#/batch/${ofAdmin}`);
      await see('Ada Lovelace');
      assert.deepEqual(await offered(), []);
      await page.waitFor(`document.querySelector('td .name a[href^="#/job/"]')`);
      assert.equal(await page.evaluate(`document.querySelector('td input[type=checkbox]')`), null);
      await show('#/new');
      await see('submit to none');
      return undefined;
    },

    async 'an administrator cancels the batch of a member, who reads who it was'() {
      const ofMember = await createAs(member);
      await visit.openAs('admin', `#/batch/${ofMember}`);
      await see('Max Born');
      assert.deepEqual(await offered(), ['Run again', 'Cancel']);
      await page.choose('Cancel');
      await page.waitFor(`document.querySelector('dialog[open]')`);
      await page.choose('Cancel');
      await page.waitFor(`${status} === 'Canceled'`);
      await visit.openAs('member', `#/batch/${ofMember}`);
      await see('Ada Lovelace, who administers the project');
      return undefined;
    },

    async 'the page of a project has its members, and for administrators limits, usage and acts'() {
      const { id, name } = await projectOf();
      await show(`#/projects/${id}`);
      await page.waitFor(`document.querySelector('h1')?.innerText.includes(${JSON.stringify(name)})`);
      await see('Max Born');
      assert.equal(await page.evaluate(`document.querySelector('main form')`), null);
      await visit.openAs('admin', '#/projects');
      await page.choose(name);
      await page.waitFor(`location.hash === '#/projects/${id}'`);
      // It has no limits yet.
      await visit.expectRefused(404, () => see('Operators have set none for it.'));
      await see('Total');
      await page.waitFor(
        `[...document.querySelectorAll('td')].some((each) =>
          each.innerText.replace(/\\s+/g, ' ').includes('Ada Lovelace canceled Max Born’s batch '))`,
      );
      return undefined;
    },
  };
}
