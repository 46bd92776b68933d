/** Everything that a list reads of one owner: the head, sets of rows, columns, and rows. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import type { TableNames } from '../../tables.ts';
import { blockBytes, blockKey, blockNumber, columnPrefix, type Row, setPrefix } from '../columns/column-items.ts';
import { readDictionaries } from '../columns/dictionaries.ts';
import type { Dictionaries } from '../columns/facets.ts';
import { formatOf, headKey, headOf, requireFormat, type StoredHead } from '../columns/head.ts';
import type { Column, ListDescription, Members, PositionSets } from '../columns/list-description.ts';
import { uuidAt, uuidCount } from '../columns/packed-uuids.ts';
import { positionsOf } from '../columns/position-set.ts';
import { type Cell, summaryPrefix, unpackSummary } from '../columns/summary.ts';
import { tailStart } from '../columns/tail.ts';
import {
  batchGet,
  getItem,
  type Item,
  type KeyRange,
  queryAll,
  queryFirst,
  queryFirstPage,
  queryLast,
} from '../dynamodb/reads.ts';
import { StaleRead } from './join-blocks.ts';
import type { Span } from './matching-rows.ts';
import { type OpenColumns, openColumnsOf } from './open-columns.ts';
import { planIdBlockReads, planRowReads } from './plan.ts';
import type { Condition } from './query.ts';
import { addRow, emptyRowSet, type RowSet } from './row-set.ts';

export interface ListSource {
  readonly client: DynamoDBDocumentClient;
  /**
   * A list reads its own table, the columns, and the table of its counters. A missing name is
   * reported when it is first used.
   */
  readonly tables: Partial<TableNames<'Batches' | 'Jobs' | 'Columns'>>;
  readonly list: ListDescription;
  /** At most so many items a page: tests force many pages with it. */
  readonly pageLimit: number | undefined;
}

/**
 * Rows that an index keeps at places 0, 1, 2, … without gaps. An index has no consistent reads: it
 * may lag.
 */
export interface PlacedRows {
  /** How many there are, by an item that is not in the index. */
  count(): Promise<number>;
  /** The rows at these places, both inclusive. */
  between(from: number, to: number): Promise<Row[]>;
  /** The last rows, in any order: `most` of them, or all. */
  last(most: number): Promise<Row[]>;
  placeOf(row: Row): number;
}

/** Summaries by the numbers of their segments and the names of columns. */
export type SegmentSummaries = ReadonlyMap<number, ReadonlyMap<string, readonly Cell[]>>;

/** What a list knows of ids before it fetches rows. */
interface KnownIds {
  readonly ids: Buffer | undefined;
  readonly inKeyOrder: boolean;
}

const lastBlockNumber = 9_999_999;
/** Blocks of ids that certainly fit into one answer. They take up to 1 KB each. */
const uuidBlocksInAnswer = 1_000;

/**
 * The owner, the third, is known: left out, it need not be sent and parsed with each of thousands
 * of blocks.
 */
const blockAttributes = ['key', 'v'];

export type OwnerReads = ReturnType<typeof ownerReads>;

/** `consistent`: strongly consistent reads, at double the price. */
export function ownerReads({ client, tables, list, pageLimit }: ListSource, userId: string, consistent: boolean) {
  const idColumn = columnNamed('id');
  let head: Promise<StoredHead> | undefined;
  return {
    list,
    columnsHead,
    dictionariesOf,
    readSets,
    openColumns,
    readSummaries,
    rowsAt,
    idsAt,
    rowsWithIds,
    rowsWithIdPrefix,
    rowsInIdOrder,
    newestIds,
    allRows,
    rowsOfSet,
  };

  function columnNamed(name: string): Column {
    const column = list.columns[name];
    if (column === undefined) throw new RangeError(`The list has no column ${name}.`);
    return column;
  }

  /**
   * The head for reading columns or sets with it. Throws OutdatedColumns when they are of another
   * format.
   */
  async function columnsHead(): Promise<StoredHead> {
    return requireFormat(list, await readHead());
  }

  /** Read once: all that is read with it is judged by the same head. */
  function readHead(): Promise<StoredHead> {
    const key = { user_id: userId, key: headKey(list) };
    head ??= getItem(client, { table: tableNamed('Columns'), key, consistent }).then((item) => headOf(list, item));
    return head;
  }

  /** The texts that the values of these columns stand for; none where no column has any. */
  async function dictionariesOf(names: readonly string[]): Promise<Dictionaries> {
    if (names.every((name) => columnNamed(name).kind !== 'facets')) return {};
    const reads = { client, table: tableNamed('Columns'), userId, list, consistent, pageLimit };
    return readDictionaries(reads, await columnsHead());
  }

  /** The ids of the newest rows, those in the tail; none where the head is of another format. */
  async function newestIds(): Promise<string[]> {
    const head = await readHead();
    const ids = Buffer.from((head.format === formatOf(list) && head.tail[idColumn.key]) || []);
    return Array.from({ length: uuidCount(ids) }, (_, index) => uuidAt(ids, index));
  }

  /** For each set condition the rows of any of its values. */
  function readSets(conditions: readonly Condition[]): Promise<RowSet[]> {
    const ofSets = conditions.filter((condition) => condition.kind === 'set');
    return Promise.all(ofSets.map(({ sets, oneOf }) => readSet(list.sets[sets] as PositionSets, oneOf)));
  }

  async function readSet(sets: PositionSets, oneOf: readonly string[]): Promise<RowSet> {
    const blocks = await Promise.all(oneOf.map((value) => queryAll(client, blockRange(setPrefix(list, sets, value)))));
    const starts = blocks.flat().map((block) => ({ block, start: blockNumber(block) * sets.rowsPerBlock }));
    const rows = emptyRowSet(Math.max(0, ...starts.map(({ start }) => start + sets.rowsPerBlock)));
    for (const { block, start } of starts) {
      for (const position of positionsOf(blockBytes(block))) addRow(rows, start + position);
    }
    return rows;
  }

  /** These columns, of which nothing is read yet. */
  function openColumns(names: readonly string[]): OpenColumns {
    const columns = names.map((name) => [name, columnNamed(name)] as const);
    return openColumnsOf(list, columns, {
      whole: readWholeColumn,
      run: readBlocks,
      newest: (column, count) => queryLast(client, blockRange(columnPrefix(list, column)), count),
    });
  }

  /** The summaries that there are, by the numbers of their segments and the names of columns. */
  async function readSummaries(names: readonly string[]): Promise<SegmentSummaries> {
    const bySegment = new Map<number, Map<string, readonly Cell[]>>();
    await Promise.all(
      names.map(async (name) => {
        for (const item of await queryAll(client, blockRange(summaryPrefix(list, columnNamed(name))))) {
          const ofSegment = bySegment.get(blockNumber(item)) ?? new Map();
          bySegment.set(blockNumber(item), ofSegment.set(name, unpackSummary(blockBytes(item))));
        }
      }),
    );
    return bySegment;
  }

  /**
   * All blocks of a column. Those of ids are read in two parts at once, because they fill an answer
   * (1 MB) with some 60,000 rows.
   */
  async function readWholeColumn(column: Column): Promise<Item[]> {
    const parts = column.kind === 'uuid' ? [0, uuidBlocksInAnswer] : [0];
    const ends = [...parts.slice(1).map((start) => start - 1), lastBlockNumber];
    const read = await Promise.all(parts.map((from, at) => readBlocks(column, { from, to: ends[at] as number })));
    return read.flat();
  }

  /**
   * A run of a column's blocks, as far as there are any. What the first answer (1 MB) does not hold
   * is read in parallel parts of about its size.
   */
  async function readBlocks(column: Column, { from, to }: Span): Promise<Item[]> {
    const prefix = columnPrefix(list, column);
    const { items, more } = await queryFirstPage(client, blockRange(prefix, from, to));
    const last = items.at(-1);
    if (!more || last === undefined) return items;
    const end = Math.min(to, Math.floor((tailStart(list, await columnsHead()) - 1) / column.rowsPerBlock));
    const parts: Promise<Item[]>[] = [];
    for (let start = blockNumber(last) + 1; start <= end; start += items.length) {
      parts.push(queryAll(client, blockRange(prefix, start, Math.min(start + items.length - 1, end))));
    }
    return [...items, ...(await Promise.all(parts)).flat()];
  }

  function blockRange(prefix: string, from = 0, to = lastBlockNumber): KeyRange {
    return {
      table: tableNamed('Columns'),
      partition: { user_id: userId },
      sortKey: 'key',
      range: { between: [blockKey(prefix, from), blockKey(prefix, to)] },
      attributes: blockAttributes,
      consistent,
      pageLimit,
    };
  }

  /**
   * The rows at these sequence numbers, in this order. `ids` is the column of ids, if it was read;
   * `inKeyOrder`: the rows follow each other in the table, in either direction. Throws StaleRead
   * when a row is not there.
   */
  async function rowsAt(sequence: readonly number[], known: KnownIds): Promise<Row[]> {
    if (sequence.length === 0) return [];
    const bySequence = new Map((await readRowsAt(sequence, known)).map((row) => [row.seq, row]));
    return sequence.map((number) => {
      const row = bySequence.get(number);
      if (row === undefined) throw new StaleRead('A row of the page is missing.');
      return row;
    });
  }

  async function readRowsAt(sequence: readonly number[], { ids, inKeyOrder }: KnownIds): Promise<Row[]> {
    if (ids !== undefined && inKeyOrder) {
      const [first = '', last = ''] = [sequence.at(0) ?? 0, sequence.at(-1) ?? 0].map((row) => uuidAt(ids, row)).sort();
      return (await queryAll(client, byId({ between: [first, last] }))).map(asRow);
    }
    const reads = planRowReads(sequence, idColumn.rowsPerBlock);
    if (reads.kind === 'ranges' && !consistent) {
      const ranges = await Promise.all(reads.ranges.map(({ from, to }) => allRows().between(from, to)));
      return ranges.flat();
    }
    return rowsWithIds(ids === undefined ? await idsAt(sequence) : sequence.map((number) => uuidAt(ids, number)));
  }

  /**
   * The ids of the rows at these sequence numbers, in this order, where their column was not read
   * whole.
   */
  async function idsAt(sequence: readonly number[]): Promise<string[]> {
    const { rowsPerBlock } = idColumn;
    const head = await columnsHead();
    const start = tailStart(list, head);
    const ascending = sequence.filter((number) => number < start).sort((a, b) => a - b);
    const blocks = new Map(
      ascending.length === 0
        ? []
        : (await readIdBlocks(ascending)).map((item) => [blockNumber(item), Buffer.from(blockBytes(item))]),
    );
    const tail = Buffer.from(head.tail[idColumn.key] ?? []);
    return sequence.map((number) => {
      const isInTail = number >= start;
      const ids = isInTail ? tail : blocks.get(Math.floor(number / rowsPerBlock));
      const index = isInTail ? number - start : number % rowsPerBlock;
      if (ids === undefined || uuidCount(ids) <= index) throw new StaleRead('The id of a row is missing.');
      return uuidAt(ids, index);
    });
  }

  /** The blocks that hold the ids of these rows, which ascend. */
  function readIdBlocks(ascending: readonly number[]): Promise<Item[]> {
    const prefix = columnPrefix(list, idColumn);
    const { numbers, from, to, asRange } = planIdBlockReads(ascending, idColumn.rowsPerBlock);
    const keys = numbers.map((number) => ({ user_id: userId, key: blockKey(prefix, number) }));
    return asRange ? queryAll(client, blockRange(prefix, from, to)) : blocksWithKeys(keys);
  }

  async function blocksWithKeys(keys: readonly Item[]): Promise<Item[]> {
    const parts = Array.from({ length: Math.ceil(keys.length / 100) }, (_, part) =>
      batchGet(client, {
        table: tableNamed('Columns'),
        keys: keys.slice(part * 100, part * 100 + 100),
        attributes: blockAttributes,
        consistent,
      }),
    );
    return (await Promise.all(parts)).flat();
  }

  /** Those of at most 100 rows that exist, in no order. */
  async function rowsWithIds(ids: readonly string[]): Promise<Row[]> {
    const keys = ids.map((id) => ({ user_id: userId, id }));
    return (await batchGet(client, { table: tableNamed(list.table), keys, consistent })).map(asRow);
  }

  /** The rows of the first answer (1 MB) whose ids start so, and whether there are more. */
  async function rowsWithIdPrefix(prefix: string): Promise<{ rows: Row[]; more: boolean }> {
    const { items, more } = await queryFirstPage(client, byId({ startsWith: prefix }));
    return { rows: items.map(asRow), more };
  }

  /** The first `count` rows by id in this direction, or all. */
  async function rowsInIdOrder(direction: 'ASC' | 'DESC', count: number): Promise<Row[]> {
    const query = direction === 'ASC' ? queryFirst : queryLast;
    return (await query(client, byId('all'), count)).map(asRow);
  }

  function byId(range: KeyRange['range']): KeyRange {
    return {
      table: tableNamed(list.table),
      partition: { user_id: userId },
      sortKey: 'id',
      range,
      consistent,
      pageLimit,
    };
  }

  /** All rows of the owner, placed by their sequence numbers. */
  function allRows(): PlacedRows {
    const count = async () => (await readHead()).next_seq;
    return readByPlace({ index: 'by_creation', partition: { user_id: userId }, sortKey: 'seq', count });
  }

  /** The rows of one set, where an index keeps them (see Members). */
  function rowsOfSet({ attribute }: PositionSets, { index, column, counter }: Members, value: string): PlacedRows {
    const count = async () => {
      const key = { user_id: userId, id: value };
      // Consistent, so that a caller who has just created rows sees them. An old count and a
      // lagging index would agree with each other, and nobody would notice that rows are missing.
      const row = await getItem(client, { table: tableNamed(counter.table), key, consistent: true });
      return row === undefined ? 0 : Number(row[counter.attribute]);
    };
    return readByPlace({ index, partition: { user_id: userId, [attribute]: value }, sortKey: column, count });
  }

  function readByPlace({
    count,
    ...index
  }: Pick<KeyRange, 'index' | 'partition' | 'sortKey'> & Pick<PlacedRows, 'count'>): PlacedRows {
    const table = tableNamed(list.table);
    const all: KeyRange = { ...index, table, range: 'all', consistent: false, pageLimit };
    return {
      count,
      async between(from, to) {
        if (from > to) return [];
        const between = [from, Math.min(to, Number.MAX_SAFE_INTEGER)] as const;
        return (await queryAll(client, { ...all, range: { between } })).map(asRow);
      },
      async last(most) {
        return (await queryLast(client, all, most)).map(asRow);
      },
      placeOf: (row) => Number(row[index.sortKey]),
    };
  }

  function tableNamed(table: keyof ListSource['tables']): string {
    const name = tables[table];
    if (name === undefined) throw new RangeError(`The list reads ${table}, whose name it was not given.`);
    return name;
  }

  /** A row that was written before an attribute existed has its default. */
  function asRow(item: Item): Row {
    if (typeof item.seq !== 'number') throw new CorruptData('A row has no sequence number.');
    for (const [name, value] of Object.entries(list.rowDefaults)) if (item[name] === undefined) item[name] = value;
    return item as Row;
  }
}
