import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Row } from '../../functions/data/columns/column-items.ts';
import { storedHead } from '../../functions/data/columns/dictionaries.ts';
import { type Dictionaries, withTextsOf } from '../../functions/data/columns/facets.ts';
import { emptyHead, type Head, headKey } from '../../functions/data/columns/head.ts';
import type { Column, ListDescription } from '../../functions/data/columns/list-description.ts';
import { packedCount, seal, unpackIntegers } from '../../functions/data/columns/packed-integers.ts';
import {
  blocksOfSegment,
  isSummarized,
  packSummary,
  sealableSegments,
  summarize,
  summaryKey,
} from '../../functions/data/columns/summary.ts';
import { columnChanges, tailStart } from '../../functions/data/columns/tail.ts';
import type { TableNames } from '../../functions/tables.ts';
import { sideBySide } from './side-by-side.ts';

type Item = Record<string, unknown>;

interface ListToLoad {
  readonly list: ListDescription;
  readonly userId: string;
  /** In creation order, numbered from 0. */
  readonly rows: readonly Row[];
  /**
   * Only these rows are written, by their sequence numbers, but columns and sets of all. Without it
   * all are.
   */
  readonly only?: ReadonlySet<number> | undefined;
  readonly sealed?: Sealed;
  readonly progress?: (written: number, of: number) => void;
}

/**
 * Which of the columns that have summaries are sealed in which of the sealable segments. `() =>
 * true`: all in all.
 */
export type Sealed = (segment: number, column: Column) => boolean;

const nothing: Sealed = () => false;

/**
 * Writes a user's whole list (rows, columns, head and places in projects) into empty tables, many
 * times faster than the write side can.
 */
export async function loadList(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  { list, userId, rows, only, sealed = nothing, progress = () => {} }: ListToLoad,
): Promise<void> {
  const { head, blocks } = storedColumns(list, rows, sealed);
  const columnItems = [
    { user_id: userId, key: headKey(list), ...storedHead(list, head) },
    ...Array.from(blocks, ([key, v]) => ({ user_id: userId, key, v })),
  ];
  const projects = list.table === 'Batches' ? (head.dictionaries.project_id ?? []) : [];
  const contributors = projects.map((project_id) => ({ project_id, user_id: userId }));
  const writes = [
    ...columnItems.map((item) => [tables.Columns, item] as const),
    ...contributors.map((item) => [tables.Contributors, item] as const),
    ...rows.filter(({ seq }) => only?.has(seq) ?? true).map((row) => [tables[list.table], row] as const),
  ];
  await writeAll(client, writes, progress);
}

/**
 * What the write side stores of rows that are created one after the other, and what sealing leaves.
 * Summaries are among the blocks.
 */
export function storedColumns(
  list: ListDescription,
  rows: readonly Row[],
  sealed: Sealed = nothing,
): { head: Head; blocks: Map<string, Uint8Array> } {
  const dictionaries = rows.reduce<Dictionaries>(
    (learned, row) => withTextsOf(Object.values(list.columns), row, learned),
    {},
  );
  const last_created_at = (rows.at(-1)?.created_at as string | undefined) ?? null;
  const before = emptyHead(list);
  const after = { ...before, next_seq: rows.length, last_created_at, dictionaries };
  const changes = rows.map((row) => ({ before: undefined, after: row }));
  const { edits, tail } = columnChanges(list, { before, after }, changes);
  const blocks = new Map<string, Uint8Array>();
  for (const { key, apply } of edits) {
    const block = apply(blocks.get(key));
    if (block !== undefined) blocks.set(key, block);
  }
  const segments = sealableSegments(list, tailStart(list, after));
  for (const column of Object.values(list.columns).filter(isSummarized)) {
    for (let segment = 0; segment < segments; segment++) {
      if (sealed(segment, column)) sealSegment(list, column, segment, blocks);
    }
  }
  return { head: { ...after, tail }, blocks };
}

function sealSegment(list: ListDescription, column: Column, segment: number, blocks: Map<string, Uint8Array>) {
  const values = new Float64Array(list.rowsPerSegment);
  for (const [at, key] of blocksOfSegment(list, column, segment).entries()) {
    const block = blocks.get(key);
    if (block === undefined || packedCount(block) !== column.rowsPerBlock) throw new RangeError(`Cannot seal ${key}.`);
    unpackIntegers(block, values, at * column.rowsPerBlock);
    blocks.set(key, seal(block));
  }
  blocks.set(summaryKey(list, column, segment), packSummary(summarize(column, values)));
}

/** Puts items into tables, many at a time. */
export async function writeAll(
  client: DynamoDBDocumentClient,
  writes: readonly (readonly [table: string, item: Item])[],
  progress: (written: number, of: number) => void = () => {},
) {
  let written = 0;
  const chunks = Array.from({ length: Math.ceil(writes.length / 25) }, (_, at) => writes.slice(at * 25, at * 25 + 25));
  await sideBySide(chunks, 4, async (chunk) => {
    const requests: Record<string, { PutRequest: { Item: Item } }[]> = {};
    for (const [table, Item] of chunk) requests[table] = [...(requests[table] ?? []), { PutRequest: { Item } }];
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: requests }));
    if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('DynamoDB Local left items unprocessed.');
    written += chunk.length;
    progress(written, writes.length);
  });
}
