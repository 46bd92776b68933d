import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eventMessage } from '../../../../infra/commands/event-message.ts';
import { demoData } from '../../../../infra/local/demo/demo-data.ts';
import { loadDemoData } from '../../../../infra/local/demo/load-demo-data.ts';
import { openDataFolder } from '../../../../infra/local/folder/data-folder.ts';
import { projectAccounts } from '../../../../infra/local/issuer/accounts.ts';
import type { LocalStack } from '../../../../infra/local/local-stack.ts';

type Deliver = LocalStack['events']['deliver'];

const size = { batches: 10, jobsPerBatch: 2 };
const firstDay = Date.parse('2026-03-01T12:00:00Z');
const delivered: Deliver = async (messages) => ({ accepted: messages.length, pending: 0, failures: [] });
const refused: Deliver = async () => ({ accepted: 0, pending: 0, failures: [{ reason: 'refused' } as never] });

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'data-'));
  vi.useFakeTimers({ toFake: ['Date'], now: firstDay });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

/** A start; the first delivery of each of the four accounts ends so. Returns all messages. */
async function start(first: Deliver = delivered) {
  const deliver = vi.fn<Deliver>(delivered);
  for (let account = 0; account < 4; account++) deliver.mockImplementationOnce(first);
  const stack = { deployment: { functions: [] }, objects: { write: async () => undefined }, events: { deliver } };
  await loadDemoData(stack as never, openDataFolder(directory), { size, onProgress: () => undefined });
  return deliver.mock.calls.flatMap(([messages]) => messages.map(({ body }) => body)).sort();
}

const bodiesOf = (day: number) =>
  demoData(size, day)
    .flatMap(({ events }) => events.map((event) => eventMessage(event).body))
    .sort();

it('goes on with the same data on a later day, wherever it was interrupted', async () => {
  await expect(start(() => Promise.reject(new Error('killed')))).rejects.toThrow('killed');
  vi.setSystemTime(firstDay + 86_400_000);
  expect(await start()).toEqual(bodiesOf(firstDay));
  expect(await start()).toEqual([]);
});

it('gives the people of a project their batches there, and nobody else', () => {
  const [admin, member] = projectAccounts;
  const projectsOf = Object.fromEntries(
    demoData(size, firstDay).map(({ account, events }) => [
      account.userId,
      new Set(events.flatMap(({ type, data }) => (type === 'batch.created' ? [data.project_id] : []))),
    ]),
  );
  const { [admin.userId]: ofAdmin, [member.userId]: ofMember, ...others } = projectsOf;
  expect([ofAdmin, ofMember]).toEqual([new Set([admin.project.id]), new Set([admin.project.id])]);
  expect(Object.values(others).some((projects) => projects.has(admin.project.id))).toBe(false);
  expect(Object.keys(others)).toHaveLength(2);
});

it('fails where an event is refused, unless the event may have been sent before', async () => {
  await expect(start(refused)).rejects.toThrow('A demo event was not applied: refused');
  expect(await start(refused)).toEqual(bodiesOf(firstDay));
});
