/** Reads everything of one owner that the recount looks at. */

import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { describedAttributes, type ListDescription } from '../../functions/data/columns/list-description.ts';
import { formatsOf } from '../../functions/data/columns/lists.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { type Item, queryAll } from '../../functions/data/dynamodb/reads.ts';
import { usagePartitions, usagePrefix } from '../../functions/data/limits/usage-sums.ts';
import { BatchRow } from '../../functions/schemas/batch.ts';
import { JobRow } from '../../functions/schemas/job.ts';

/** By itself zod/mini says no more than that a value is invalid. */
const { localeError: error } = en();

/** Whose items are recounted, and where they lie. */
export interface RepairedOwner {
  readonly db: Db<'Batches' | 'Jobs' | 'Columns' | 'Usage'>;
  readonly userId: string;
}

export interface FoundRow {
  /** What the recount looks at; newer attributes that the row lacks have their defaults. */
  readonly row: Item;
  /**
   * How the row's content breaks its schema, if it does. Derived attributes may be anything: the
   * recount mends them.
   */
  readonly fault: string | undefined;
}

export interface Snapshot {
  readonly columns: readonly Item[];
  readonly batches: readonly FoundRow[];
  readonly jobs: readonly FoundRow[];
  /** What was used in these months. */
  readonly usage: { readonly months: ReadonlySet<string>; readonly items: readonly Item[] };
}

/** Attributes that follow from the rows' content, or that writers keep for themselves. */
export const derivedAttributes = {
  Batches: ['seq', 'rev', 'written_at', 'jobs_count', 'jobs_count_per_status'],
  Jobs: ['seq', 'rev', 'written_at', 'creation_order'],
} as const;

const contentSchemas = {
  Batches: z.omit(BatchRow(), {
    seq: true,
    rev: true,
    written_at: true,
    jobs_count: true,
    jobs_count_per_status: true,
  }),
  Jobs: z.omit(JobRow(), { seq: true, rev: true, written_at: true, creation_order: true }),
};

/**
 * Everything of the owner, strongly consistent, the columns before the rows: about 1 KB of memory a
 * row. Usage is read before the rows, too, if the caller knows the months; otherwise after them, in
 * all months that they name.
 */
export async function readSnapshot(owner: RepairedOwner, months?: ReadonlySet<string>): Promise<Snapshot> {
  const lists = formatsOf(owner.db);
  const before = months && (await readUsage(owner, months));
  const columns = await readColumns(owner);
  const batches = await readRows(owner, lists.batch);
  const jobs = await readRows(owner, lists.job);
  return { columns, batches, jobs, usage: before ?? (await readUsage(owner, monthsOf([...batches, ...jobs]))) };
}

const times = ['created_at', 'updated_at', 'start_datetime', 'end_datetime', 'start_timestamp', 'end_timestamp'];

/** The months in which the rows may have ended. */
export function monthsOf(rows: readonly FoundRow[]): ReadonlySet<string> {
  return new Set(
    rows.flatMap(({ row }) => times.flatMap((name) => (row[name] ? [String(row[name]).slice(0, 7)] : []))),
  );
}

async function readUsage({ db, userId }: RepairedOwner, months: ReadonlySet<string>): Promise<Snapshot['usage']> {
  const items: Item[] = [];
  for (const month of [...months].flatMap((each) => usagePartitions(each, userId))) {
    const range = { startsWith: usagePrefix(userId) };
    const read = { table: 'Usage', partition: { month }, sortKey: 'key', range, consistent: true } as const;
    items.push(...(await queryAll(db, read)));
  }
  return { months, items };
}

/** Heads, blocks and changes, but not the events that are remembered beside them. */
async function readColumns(owner: RepairedOwner): Promise<Item[]> {
  const items: Item[] = [];
  const prefixes = Object.values<ListDescription>({ ...formatsOf(owner.db) }).map(({ key }) => `${key}#`);
  for await (const page of readAll(owner, 'Columns')) {
    items.push(...page.filter(({ key }) => prefixes.some((prefix) => String(key).startsWith(prefix))));
  }
  return items;
}

/** Rows are checked whole; kept of each is what the recount looks at. */
async function readRows(owner: RepairedOwner, list: ListDescription): Promise<FoundRow[]> {
  const kept = new Set([
    ...[
      'id',
      'user_id',
      'created_at',
      'batch_id',
      'status',
      'end_datetime',
      'end_timestamp',
      'shots',
      'device_us',
      'usage_to_add',
    ],
    ...derivedAttributes[list.table],
    ...describedAttributes(list),
  ]);
  const rows: FoundRow[] = [];
  const { rowDefaults } = list;
  for await (const page of readAll(owner, list.table)) {
    for (const item of page) {
      const row = { ...rowDefaults, ...item };
      const content = contentSchemas[list.table].safeParse(row, { error });
      rows.push({
        row: Object.fromEntries(Object.entries(row).filter(([name]) => kept.has(name))),
        fault: content.success ? undefined : z.prettifyError(content.error),
      });
    }
  }
  return rows;
}

/** The owner's items of a table, page by page. */
async function* readAll(
  { db: { client, tables }, userId }: RepairedOwner,
  table: 'Batches' | 'Jobs' | 'Columns',
): AsyncGenerator<Item[]> {
  const pages = paginateQuery(
    { client },
    {
      TableName: tables[table],
      KeyConditionExpression: 'user_id = :user',
      ExpressionAttributeValues: { ':user': userId },
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages) yield Items;
}
