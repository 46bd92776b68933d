/** Reads of an owner's rows: by their numbers, by their ids, or by their places in an index. */

import { CorruptData } from '../../errors.ts';
import { blockBytes, blockKey, blockNumber, columnPrefix, type Row } from '../columns/column-items.ts';
import { isOfFormat } from '../columns/head.ts';
import { uuidAt, uuidCount } from '../columns/packed-uuids.ts';
import { tailStart } from '../columns/tail.ts';
import {
  batchGet,
  type Item,
  type KeyRange,
  queryAll,
  queryFirst,
  queryFirstPage,
  queryLast,
} from '../dynamodb/reads.ts';
import { StaleRead } from './join-blocks.ts';
import { blockAttributes, blockRange, columnNamed, columnsHead, type OwnerReads, readHead } from './owner-reads.ts';
import { planIdBlockReads, planRowReads } from './plan.ts';
import type { Span } from './span.ts';

/**
 * Rows that an index keeps at places 0, 1, 2, … without gaps. An index has no consistent reads: it
 * may lag.
 */
export interface PlacedRows {
  /** How many there are, by an item that is not in the index. */
  count(): Promise<number>;
  /** The rows at these places, both inclusive. */
  between(from: number, to: number): Promise<Row[]>;
  /** The last `count` rows, or all, in any order. */
  last(count: number): Promise<Row[]>;
  placeOf(row: Row): number;
}

/** What a list knows of ids before it fetches rows. */
interface KnownIds {
  readonly ids: Buffer | undefined;
  readonly inKeyOrder: boolean;
}

/**
 * The rows at these sequence numbers, in this order. `ids` is the column of ids, if it was read;
 * `inKeyOrder`: the rows follow each other in the table, in either direction. Throws StaleRead when
 * a row is not there.
 */
export async function rowsAt(reads: OwnerReads, sequence: readonly number[], known: KnownIds): Promise<Row[]> {
  if (sequence.length === 0) return [];
  const bySequence = new Map((await readRowsAt(reads, sequence, known)).map((row) => [row.seq, row]));
  return sequence.map((number) => {
    const row = bySequence.get(number);
    if (row === undefined) throw new StaleRead('A row of the page is missing.');
    return row;
  });
}

async function readRowsAt(reads: OwnerReads, sequence: readonly number[], known: KnownIds): Promise<Row[]> {
  const { ids, inKeyOrder } = known;
  if (ids !== undefined && inKeyOrder) {
    const [first = '', last = ''] = [sequence.at(0) ?? 0, sequence.at(-1) ?? 0].map((row) => uuidAt(ids, row)).sort();
    return (await queryAll(reads.db, byId(reads, { between: [first, last] }))).map(asRow(reads));
  }
  const plan = planRowReads(sequence, columnNamed(reads, 'id').rowsPerBlock);
  if (plan.kind === 'ranges' && !reads.consistent) {
    const ranges = await Promise.all(plan.ranges.map(({ from, to }) => allRows(reads).between(from, to)));
    return ranges.flat();
  }
  return rowsWithIds(
    reads,
    ids === undefined ? await idsAt(reads, sequence) : sequence.map((number) => uuidAt(ids, number)),
  );
}

/** The ids of the rows at these sequence numbers, in this order. */
export async function idsAt(reads: OwnerReads, sequence: readonly number[]): Promise<string[]> {
  const idColumn = columnNamed(reads, 'id');
  const { rowsPerBlock } = idColumn;
  const head = await columnsHead(reads);
  const start = tailStart(reads.list, head);
  const ascending = sequence.filter((number) => number < start).sort((a, b) => a - b);
  await readIdBlocks(reads, ascending);
  const tail = Buffer.from(head.tail[idColumn.key] ?? []);
  return sequence.map((number) => {
    const isInTail = number >= start;
    const block = reads.idBlocks.get(Math.floor(number / rowsPerBlock));
    const ids = isInTail ? tail : Buffer.from(block === undefined ? [] : blockBytes(block));
    const index = isInTail ? number - start : number % rowsPerBlock;
    if (uuidCount(ids) <= index) throw new StaleRead('The id of a row is missing.');
    return uuidAt(ids, index);
  });
}

/** Reads the blocks with the ids of these ascending rows, unless they were read before. */
async function readIdBlocks(reads: OwnerReads, ascending: readonly number[]): Promise<void> {
  const { rowsPerBlock } = columnNamed(reads, 'id');
  const missing = ascending.filter((number) => !reads.idBlocks.has(Math.floor(number / rowsPerBlock)));
  if (missing.length === 0) return;
  const { numbers, from, to, asRange } = planIdBlockReads(missing, rowsPerBlock);
  await (asRange ? readIdRange(reads, { from, to }) : readIdKeys(reads, numbers));
}

/** Reads the blocks of ids with these numbers, both inclusive. */
async function readIdRange(reads: OwnerReads, { from, to }: Span): Promise<void> {
  const range = blockRange(reads, columnPrefix(reads.list, columnNamed(reads, 'id')), from, to);
  keepIdBlocks(reads, await queryAll(reads.db, range));
}

/** Reads the ids of all these rows before it is known which of the rows are on the page. */
export function readIdsEarly(reads: OwnerReads, { from, to }: Span): Promise<void> {
  const { rowsPerBlock } = columnNamed(reads, 'id');
  return readIdRange(reads, { from: Math.floor(from / rowsPerBlock), to: Math.floor(to / rowsPerBlock) });
}

async function readIdKeys(reads: OwnerReads, numbers: readonly number[]): Promise<void> {
  const { list, userId, consistent } = reads;
  const prefix = columnPrefix(list, columnNamed(reads, 'id'));
  const keys = numbers.map((number) => ({ user_id: userId, key: blockKey(prefix, number) }));
  keepIdBlocks(reads, await batchGet(reads.db, { table: 'Columns', keys, attributes: blockAttributes, consistent }));
}

function keepIdBlocks({ idBlocks }: OwnerReads, items: readonly Item[]): void {
  for (const item of items) idBlocks.set(blockNumber(item), item);
}

/** The ids of the newest rows, which are in the tail; none when the head is of another format. */
export async function newestIds(reads: OwnerReads): Promise<string[]> {
  const head = await readHead(reads);
  const ids = Buffer.from((isOfFormat(reads.list, head) && head.tail[columnNamed(reads, 'id').key]) || []);
  return Array.from({ length: uuidCount(ids) }, (_, index) => uuidAt(ids, index));
}

/** Rows by their ids, in no order. Ids without a row are left out. */
export async function rowsWithIds(reads: OwnerReads, ids: readonly string[]): Promise<Row[]> {
  const { list, userId, consistent } = reads;
  const keys = ids.map((id) => ({ user_id: userId, id }));
  return (await batchGet(reads.db, { table: list.table, keys, consistent })).map(asRow(reads));
}

/** The rows of the first answer (1 MB) whose ids have this prefix, and whether there are more. */
export async function rowsWithIdPrefix(reads: OwnerReads, prefix: string): Promise<{ rows: Row[]; more: boolean }> {
  const { items, more } = await queryFirstPage(reads.db, byId(reads, { startsWith: prefix }));
  return { rows: items.map(asRow(reads)), more };
}

/** The first `count` rows by id in this direction, or all. */
export async function rowsInIdOrder(reads: OwnerReads, direction: 'ASC' | 'DESC', count: number): Promise<Row[]> {
  const query = direction === 'ASC' ? queryFirst : queryLast;
  return (await query(reads.db, byId(reads, 'all'), count)).map(asRow(reads));
}

function byId(reads: OwnerReads, range: KeyRange['range']): KeyRange<'Batches' | 'Jobs'> {
  const { list, userId, consistent } = reads;
  return { table: list.table, partition: { user_id: userId }, sortKey: 'id', range, consistent };
}

/** All rows of the owner, placed by their sequence numbers. */
export function allRows(reads: OwnerReads): PlacedRows {
  const all: KeyRange<'Batches' | 'Jobs'> = {
    table: reads.list.table,
    index: 'by_creation',
    partition: { user_id: reads.userId },
    sortKey: 'seq',
    range: 'all',
    consistent: false,
  };
  return {
    count: async () => (await readHead(reads)).next_seq,
    async between(from, to) {
      if (from > to) return [];
      const between = [from, Math.min(to, Number.MAX_SAFE_INTEGER)] as const;
      return (await queryAll(reads.db, { ...all, range: { between } })).map(asRow(reads));
    },
    async last(most) {
      return (await queryLast(reads.db, all, most)).map(asRow(reads));
    },
    placeOf: ({ seq }) => seq,
  };
}

/** The rows of this span, placed by their distance from its first. */
export function rowsWithin(rows: PlacedRows, { from, to }: Span): PlacedRows {
  return {
    count: async () => Math.max(to - from + 1, 0),
    between: (first, last) => rows.between(from + first, Math.min(from + last, to)),
    last: (most) => rows.between(Math.max(to - most + 1, from), to),
    placeOf: (row) => rows.placeOf(row) - from,
  };
}

/** A row that was written before an attribute existed has its default. */
function asRow({ list }: OwnerReads): (item: Item) => Row {
  const defaults = Object.entries(list.rowDefaults);
  return (item) => {
    if (typeof item.seq !== 'number') throw new CorruptData('A row has no sequence number.');
    for (const [name, value] of defaults) if (item[name] === undefined) item[name] = value;
    return item as Row;
  };
}
