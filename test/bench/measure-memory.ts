import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { Bench } from './measure-lists.ts';
import type { QueryOfOwner } from './query-memory.ts';

export interface MemoryResult {
  readonly name: string;
  readonly size: number;
  /** The peak of a process that does nothing else, in bytes. Most of it is Node, the SDK and what reads TypeScript. */
  readonly bytes: number;
}

const measured = new Set([
  'unfiltered, first page',
  'status, 85 % match',
  'three filters, 3 % match',
  'start_date and end_date, 1 % between',
  'order_by updated_at',
  'order_by jobs_count',
  'order_by id',
  'order_by id, status',
]);

/** Measures the memory of queries of batches, each in a process of its own. */
export async function* measureMemory({ cases, tables, userId, size }: Bench): AsyncGenerator<MemoryResult> {
  for (const { name, asked } of cases.filter((each) => measured.has(each.name))) {
    const argument: QueryOfOwner = { tables, userId, query: asked as BatchListQuery };
    const file = `${import.meta.dirname}/query-memory.ts`;
    const { stdout } = await promisify(execFile)(process.execPath, [file, JSON.stringify(argument)]);
    yield { name, size, bytes: Number(stdout) };
  }
}
