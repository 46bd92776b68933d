/**
 * A process of its own for list queries: what it measures is theirs alone. It answers each message,
 * an AskedQuery, with a QueryRun. Its argument is a ReadOwner as JSON; the endpoint, region and
 * credentials come from the environment.
 */

import { readFileSync } from 'node:fs';
import { GCProfiler } from 'node:v8';
import type { TableNames } from '../../functions/tables.ts';
import { partsOf } from './checkout.ts';
import type { ListName, ListQuery } from './list-cases.ts';

export interface ReadOwner {
  /** The checkout whose lists are read. */
  readonly root: string;
  readonly tables: TableNames;
  readonly userId: string;
}

export interface AskedQuery {
  readonly list: ListName;
  readonly query: ListQuery;
}

export interface QueryRun {
  readonly ids: readonly string[];
  readonly total: number;
  readonly milliseconds: number;
  /** CPU time of the process, the SDK included. */
  readonly cpuMilliseconds: number;
  /** Of these, how long the collection of garbage stopped the process. */
  readonly garbageMilliseconds: number;
  /** The most memory that the process has had so far, in bytes. */
  readonly peakBytes: number;
}

const { root, tables, userId }: ReadOwner = JSON.parse(process.argv[2] ?? '');
const { listBatches, listJobs, documentClient } = await partsOf(root);
const client = documentClient(60_000);
const lists = { batches: listBatches(client, tables), jobs: listJobs(client, tables) };

process.on('message', async ({ list, query }: AskedQuery) => {
  const garbage = new GCProfiler();
  garbage.start();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { items, total } = await lists[list](userId, query as never);
  const milliseconds = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const collections = garbage.stop()?.statistics ?? [];
  const run: QueryRun = {
    ids: items.map(({ id }) => id),
    total,
    milliseconds,
    cpuMilliseconds: (user + system) / 1_000,
    garbageMilliseconds: collections.reduce((sum, { cost }) => sum + cost, 0) / 1_000,
    peakBytes: peakBytes(),
  };
  process.send?.(run);
});
process.send?.('ready');

/** As Linux knows it. What Node knows begins with the size of the process that started this one. */
function peakBytes(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
