import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import { addToRequestLog, countInRequestLog } from '../../request-log.ts';
import type { TableNames } from '../../tables.ts';
import { blockKey, columnPrefix, columnValue, type Row, setPrefix, setValues } from '../columns/column-items.ts';
import { type Head, headKey, headOf, requireFormat } from '../columns/head.ts';
import { type Column, type ListDescription, type PositionSets, withRowsPerBlock } from '../columns/list-description.ts';
import { uuidAt } from '../columns/packed-uuids.ts';
import { positionsOf } from '../columns/position-set.ts';
import {
  batchGet as batchGetFrom,
  getItem,
  type Item,
  type KeyRange,
  queryAll,
  queryFirstPage,
  queryLast,
} from '../dynamodb/reads.ts';
import { retry } from '../dynamodb/retry.ts';
import { blockNumber, byKind, bytesOf, joinedColumn, type Span, StaleRead } from './joined-columns.ts';
import { pageOfRows } from './page-of-rows.ts';
import { type ColumnsPlan, columnsPlan, idBlockReads, type Plan, plan, planRowReads } from './plan.ts';
import type { Condition, ListQuery, Page } from './query.ts';
import { type ColumnData, matchingRows, select } from './select.ts';

const lastBlockNumber = 9_999_999;
const nothing: Page<Row> = { items: [], total: 0 };

/** A list needs its own table, that of its counters, and the columns; a name that is missing is told when it is needed. */
type ListTables = Partial<TableNames<'Batches' | 'Jobs' | 'Columns'>>;

/** Tests force many small blocks and many pages of few items. */
export interface ListOptions {
  readonly rowsPerBlock?: number;
  readonly pageLimit?: number;
}

/**
 * The one engine of both lists: answers any query about an owner's rows with the page and the exact total.
 *
 * The first attempt reads eventually consistent (half the price), except for the number of a batch's jobs. What is read is checked against itself: columns must reach
 * to the last row, every row of the page must be there and agree with the columns that chose it. Where it does not, everything is
 * read again strongly consistent, rows by id from the table; after five attempts (only unending writes to the page itself bring that
 * about) it throws TooBusy. A page is never served short and never holds a row that contradicts the query.
 *
 * Cost at N rows, in read units: a page in creation order 0.5 + the page itself at any offset; else about N * bytes / 8192 for each
 * column that the query names (at most 7 bytes a row, ids 16), plus the page (half a unit a row, less where the rows lie close together).
 * Sequential calls: 1 to 3; 4 where a batch and other columns are both named; one more beyond 1 MB a column.
 */
export function listReader(
  client: DynamoDBDocumentClient,
  tables: ListTables,
  described: ListDescription,
  options: ListOptions = {},
): (userId: string, query: ListQuery) => Promise<Page<Row>> {
  const { pageLimit } = options;
  const get = (table: string, key: Item, consistent: boolean) => getItem(client, table, key, { consistent });
  const firstPage = (range: KeyRange) => queryFirstPage(client, { ...range, pageLimit });
  const all = (range: KeyRange) => queryAll(client, { ...range, pageLimit });
  const last = (range: KeyRange, count: number) => queryLast(client, { ...range, pageLimit }, count);
  const batchGet = (table: string, keys: readonly Item[], consistent: boolean) =>
    batchGetFrom(client, table, keys, { consistent });
  const list = options.rowsPerBlock === undefined ? described : withRowsPerBlock(described, options.rowsPerBlock);
  const rowsTable = () => nameOf(tables, list.table);
  const idColumn = list.columns.id;
  if (idColumn === undefined) throw new RangeError('A list has a column of ids.');

  return async (userId, query) => {
    const quickest = plan(list, query);
    addToRequestLog({ plan: quickest.kind });
    try {
      return await read(userId, query, quickest, false);
    } catch (error) {
      if (!isStale(error)) throw error;
    }
    return retry(() => read(userId, query, quickest, true), {
      attempts: 4,
      firstMilliseconds: 80,
      longestMilliseconds: 320,
      mayPass: isStale,
      message: 'The rows of this page changed while they were read, through all attempts.',
    });
  };

  async function read(userId: string, query: ListQuery, chosen: Plan, consistent: boolean): Promise<Page<Row>> {
    switch (chosen.kind) {
      case 'ids': {
        const keys = chosen.ids.map((id) => ({ user_id: userId, id }));
        return pageOfRows(
          list,
          query,
          (await batchGet(rowsTable(), keys, consistent)).map((item) => rowOf(list, item)),
        );
      }
      case 'idPrefix': {
        const { items, more } = await firstPage({
          table: rowsTable(),
          partition: { user_id: userId },
          sortKey: 'id',
          range: { startsWith: chosen.prefix },
          consistent,
        });
        if (more) return readColumns(userId, query, columnsPlan(list, query), consistent);
        return pageOfRows(
          list,
          query,
          items.map((item) => rowOf(list, item)),
        );
      }
      case 'sequence':
        if (consistent) return readColumns(userId, query, columnsPlan(list, query), consistent);
        return readRange(
          query,
          { table: rowsTable(), index: 'by_creation', partition: { user_id: userId }, sortKey: 'seq' },
          async () => (await readHead(userId, consistent)).next_seq,
        );
      case 'members': {
        const members = list.sets[chosen.sets]?.members;
        if (members === undefined || consistent)
          return readColumns(userId, query, columnsPlan(list, query), consistent);
        const partition = { user_id: userId, [list.sets[chosen.sets]?.attribute ?? '']: chosen.value };
        return readRange(
          query,
          { table: rowsTable(), index: members.index, partition, sortKey: members.column },
          async () => {
            const key = { user_id: userId, id: chosen.value };
            // Whoever has just created the members must see them: an old number and a lagging index would agree with each other.
            const counter = await get(nameOf(tables, members.counter.table), key, true);
            return counter === undefined ? 0 : Number(counter[members.counter.attribute]);
          },
        );
      }
      case 'columns':
        return readColumns(userId, query, chosen, consistent);
    }
  }

  /** A page that is a range of an index whose sort key counts its rows: 0, 1, 2, … */
  async function readRange(
    { offset, limit, direction }: ListQuery,
    index: { table: string; index: string; partition: Record<string, string>; sortKey: string },
    count: () => Promise<number>,
  ): Promise<Page<Row>> {
    const between = (from: number, to: number) =>
      from > to
        ? Promise.resolve([])
        : all({ ...index, range: { between: [from, Math.min(to, Number.MAX_SAFE_INTEGER)] }, consistent: false });
    // Ascending, and for the newest rows, what to read is known before the total is.
    let early: Promise<Item[]> | undefined;
    if (direction === 'ASC') early = between(offset, offset + limit - 1);
    else if (offset === 0) early = last({ ...index, range: 'all', consistent: false }, limit);
    const [total, known] = await Promise.all([count(), early]);
    const from = direction === 'ASC' ? offset : Math.max(total - offset - limit, 0);
    const to = Math.min(direction === 'ASC' ? offset + limit : total - offset, total) - 1;
    const place = (row: Row) => Number(row[index.sortKey]);
    const rows = (known ?? (await between(from, to)))
      .map((item) => rowOf(list, item))
      .filter((row) => place(row) <= to);
    if (rows.length !== Math.max(to - from + 1, 0)) throw new StaleRead();
    const sign = direction === 'ASC' ? 1 : -1;
    return { items: rows.sort((a, b) => sign * (place(a) - place(b))), total };
  }

  async function readColumns(
    userId: string,
    query: ListQuery,
    { columns, later }: ColumnsPlan,
    consistent: boolean,
  ): Promise<Page<Row>> {
    const head = readHead(userId, consistent).then((found) => requireFormat(list, found));
    const sets = readSets(userId, query.conditions, consistent);
    // Few rows are of one batch, and they lie close together: their columns are read only there.
    const near = isNear(list, query.conditions) ? span(intersect((await Promise.all([sets, head]))[0])) : undefined;
    if (near !== undefined && near.to < near.from) return nothing;
    const read = (names: readonly string[], part: Span | undefined) =>
      Promise.all(
        names.map(async (name) => [name, await readColumn(userId, columnNamed(name), head, part, consistent)] as const),
      );
    const [{ next_seq, dictionaries }, positions, values] = await Promise.all([head, sets, read(columns, near)]);
    let data: ColumnData = { rowCount: next_seq, dictionaries, sets: positions, ...byKind(values) };
    if (later.length > 0) {
      const rest = span(
        matchingRows(
          list,
          query.conditions.filter((condition) => !isOf(condition, later)),
          data,
        ),
      );
      if (rest.to < rest.from) return nothing;
      data = { ...data, ...byKind([...values, ...(await read(later, rest))]) };
    }
    const { sequence, total } = select(list, query, data);
    const rows = await rowsAt(userId, sequence, data.uuids.get('id'), consistent);
    for (const row of rows) checkRow(row, query, data, [...columns, ...later]);
    return { items: rows, total };
  }

  function columnNamed(name: string): Column {
    const column = list.columns[name];
    if (column === undefined) throw new RangeError(`The list has no column ${name}.`);
    return column;
  }

  async function readHead(userId: string, consistent: boolean): Promise<Head> {
    return headOf(list, await get(nameOf(tables, 'Columns'), { user_id: userId, key: headKey(list) }, consistent));
  }

  /** For each set condition the rows of any of its values, ascending. */
  function readSets(userId: string, conditions: readonly Condition[], consistent: boolean): Promise<number[][]> {
    return Promise.all(
      conditions
        .filter((condition) => condition.kind === 'set')
        .map(async ({ sets: name, oneOf }) => {
          const sets = list.sets[name] as PositionSets;
          const found = await Promise.all(
            oneOf.map((value) => all(blockRange(userId, setPrefix(list, sets, value), consistent))),
          );
          const rows = found.flat().flatMap((item) => {
            const start = blockNumber(item) * sets.rowsPerBlock;
            return positionsOf(bytesOf(item)).map((position) => start + position);
          });
          return [...new Set(rows)].sort((a, b) => a - b);
        }),
    );
  }

  function blockRange(userId: string, prefix: string, consistent: boolean, from = 0, to = lastBlockNumber) {
    return {
      table: nameOf(tables, 'Columns'),
      partition: { user_id: userId },
      sortKey: 'key',
      range: { between: [blockKey(prefix, from), blockKey(prefix, to)] as const },
      consistent,
    };
  }

  /** The column at full length; only the part that `near` names is read, where it is given. */
  async function readColumn(
    userId: string,
    column: Column,
    head: Promise<Head>,
    near: Span | undefined,
    consistent: boolean,
  ): Promise<Float64Array | Buffer> {
    const from = Math.floor((near?.from ?? 0) / column.rowsPerBlock);
    const to = near === undefined ? lastBlockNumber : Math.floor(near.to / column.rowsPerBlock);
    const prefix = columnPrefix(list, column);
    const items = await readBlocks(
      userId,
      prefix,
      { from, to },
      async () => Math.floor(((await head).next_seq - 1) / column.rowsPerBlock),
      consistent,
    );
    const { next_seq: rowCount } = await head;
    const wanted = { from: near?.from ?? 0, to: Math.min(near?.to ?? rowCount - 1, rowCount - 1) };
    return joinedColumn(column, items, rowCount, wanted);
  }

  /** Blocks in key order. What the first answer (1 MB) does not hold is read in parallel parts of about its size. */
  async function readBlocks(
    userId: string,
    prefix: string,
    { from, to }: Span,
    lastBlock: () => Promise<number>,
    consistent: boolean,
  ): Promise<Item[]> {
    const { items, more } = await firstPage(blockRange(userId, prefix, consistent, from, to));
    const last = items.at(-1);
    if (!more || last === undefined) return items;
    const end = Math.min(to, await lastBlock());
    const parts: Promise<Item[]>[] = [];
    for (let start = blockNumber(last) + 1; start <= end; start += items.length) {
      parts.push(all(blockRange(userId, prefix, consistent, start, Math.min(start + items.length - 1, end))));
    }
    return [...items, ...(await Promise.all(parts)).flat()];
  }

  /** The rows at these sequence numbers, in this order; throws StaleRead when one is not there. */
  async function rowsAt(
    userId: string,
    sequence: readonly number[],
    ids: Buffer | undefined,
    consistent: boolean,
  ): Promise<Row[]> {
    if (sequence.length === 0) return [];
    const reads = planRowReads(sequence, idColumn!.rowsPerBlock);
    const items =
      consistent || reads.kind === 'ids'
        ? await rowsById(
            userId,
            ids === undefined ? await idsAt(userId, sequence, consistent) : sequence.map((row) => uuidAt(ids, row)),
            consistent,
          )
        : await rowsInRanges(userId, reads.ranges);
    const bySequence = new Map(items.map((item) => rowOf(list, item)).map((row) => [row.seq, row]));
    return sequence.map((number) => {
      const row = bySequence.get(number);
      if (row === undefined) throw new StaleRead();
      return row;
    });
  }

  async function rowsInRanges(userId: string, ranges: readonly Span[]): Promise<Item[]> {
    const found = await Promise.all(
      ranges.map(({ from, to }) =>
        all({
          table: rowsTable(),
          index: 'by_creation',
          partition: { user_id: userId },
          sortKey: 'seq',
          range: { between: [from, to] },
          consistent: false,
        }),
      ),
    );
    return found.flat();
  }

  function rowsById(userId: string, ids: readonly string[], consistent: boolean): Promise<Item[]> {
    return batchGet(
      rowsTable(),
      ids.map((id) => ({ user_id: userId, id })),
      consistent,
    );
  }

  /** The ids of the rows at these sequence numbers, where their column was not read whole. */
  async function idsAt(userId: string, sequence: readonly number[], consistent: boolean): Promise<string[]> {
    const { rowsPerBlock } = idColumn!;
    const prefix = columnPrefix(list, idColumn!);
    const {
      blocks: numbers,
      from,
      to,
      asRange,
    } = idBlockReads(
      sequence.toSorted((a, b) => a - b),
      rowsPerBlock,
    );
    const items = asRange
      ? await all(blockRange(userId, prefix, consistent, from, to))
      : await batchGet(
          nameOf(tables, 'Columns'),
          numbers.map((number) => ({ user_id: userId, key: blockKey(prefix, number) })),
          consistent,
        );
    const blocks = new Map(items.map((item) => [blockNumber(item), Buffer.from(bytesOf(item))]));
    return sequence.map((number) => {
      const block = blocks.get(Math.floor(number / rowsPerBlock));
      const index = number % rowsPerBlock;
      if (block === undefined || block.length < (index + 1) * 16) throw new StaleRead();
      return uuidAt(block, index);
    });
  }

  /** A row that a write has changed since its columns were read, or that an index still holds as it was, disagrees with them. */
  function checkRow(row: Row, query: ListQuery, data: ColumnData, columns: readonly string[]) {
    for (const name of columns) {
      const value = columnValue(columnNamed(name), row, data.dictionaries);
      const uuids = data.uuids.get(name);
      const read = uuids === undefined ? data.numbers.get(name)?.[row.seq] : uuidAt(uuids, row.seq);
      if (value !== (Number.isNaN(read) ? null : read)) throw new StaleRead();
    }
    for (const condition of query.conditions) {
      if (condition.kind !== 'set') continue;
      const values = setValues(list.sets[condition.sets] as PositionSets, row);
      if (!condition.oneOf.some((value) => values.has(value))) throw new StaleRead();
    }
  }
}

function nameOf(tables: ListTables, table: keyof ListTables): string {
  const name = tables[table];
  if (name === undefined) throw new RangeError(`The list reads ${table}, whose name it was not given.`);
  return name;
}

/** Whether a condition names sets of few rows. */
function isNear(list: ListDescription, conditions: readonly Condition[]): boolean {
  return conditions.some((condition) => condition.kind === 'set' && list.sets[condition.sets]?.members !== undefined);
}

function intersect(sets: readonly (readonly number[])[]): readonly number[] {
  const [first = [], ...others] = sets;
  return others.reduce<readonly number[]>((rows, other) => rows.filter((row) => other.includes(row)), first);
}

/** From the first to the last of ascending rows; of none, an empty one. */
function span(rows: readonly number[] | Int32Array): Span {
  return { from: rows[0] ?? 0, to: rows.at(-1) ?? -1 };
}

function isOf(condition: Condition, columns: readonly string[]): boolean {
  return condition.kind === 'range' && columns.includes(condition.column);
}

function isStale(error: unknown): boolean {
  if (!(error instanceof StaleRead)) return false;
  countInRequestLog({ stale_reads: 1 });
  return true;
}

function rowOf(list: ListDescription, item: Item): Row {
  const { seq } = item;
  if (typeof seq !== 'number') throw new CorruptData('A row has no sequence number.');
  return { ...list.rowDefaults, ...item, seq };
}
