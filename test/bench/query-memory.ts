/**
 * A process of its own for one query of batches: prints the peak of its resident memory, in bytes, as Linux knows it. Its argument is a
 * QueryOfOwner as JSON.
 */

import { readFileSync } from 'node:fs';
import { listBatches } from '../../functions/data/batches.ts';
import { documentClient } from '../../functions/data/dynamodb/client.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { TableNames } from '../../functions/tables.ts';

/** The endpoint, region and credentials come from the environment. */
export interface QueryOfOwner {
  readonly tables: TableNames;
  readonly userId: string;
  readonly query: BatchListQuery;
}

const { tables, userId, query }: QueryOfOwner = JSON.parse(process.argv[2] ?? '');
const list = listBatches(documentClient(60_000), tables);
await list(userId, query);
// What the operating system counts as the peak otherwise begins with the size of the process that started this one.
const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
console.log(Number(kilobytes) * 1_024);
