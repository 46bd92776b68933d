/**
 * Compares one owner's heads, columns, sets, counts, sequence numbers and usage with what the rows
 * themselves say. Pure.
 */

import { isDeepStrictEqual } from 'node:util';
import { changedRowsOf, changesPrefix, foldKey } from '../../functions/data/columns/changes.ts';
import {
  type BlockEdit,
  blockKey,
  columnPrefix,
  columnValue,
  packColumn,
  type Row,
  setPrefix,
  setValues,
} from '../../functions/data/columns/column-items.ts';
import { dictionaryEdits, storedHead, textsOf } from '../../functions/data/columns/dictionaries.ts';
import { type Dictionaries, facetSize, withTextsOf } from '../../functions/data/columns/facets.ts';
import {
  emptyHead,
  formatOf,
  formerFormatOf,
  type Head,
  headKey,
  StoredHead,
} from '../../functions/data/columns/head.ts';
import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import type { OwnerFormats } from '../../functions/data/columns/lists.ts';
import { isSealed, seal } from '../../functions/data/columns/packed-integers.ts';
import { packPositions } from '../../functions/data/columns/position-set.ts';
import {
  blocksOfSegment,
  isSummarized,
  packSummary,
  summarize,
  summaryKey,
} from '../../functions/data/columns/summary.ts';
import { foldedColumns, tailStart } from '../../functions/data/columns/tail.ts';
import { timeIndexEdits } from '../../functions/data/columns/time-index.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import {
  amountsOfItem,
  carriedUsage,
  keyOfFirst,
  negative,
  storedAmount,
  sumUsage,
  usageAmounts,
  usageKey,
  usageKeyOf,
  usageOfBatch,
  usageOfJob,
} from '../../functions/data/limits/usage-sums.ts';
import { blockWrites } from '../../functions/data/lists/column-writes.ts';
import { CorruptData } from '../../functions/errors.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import { JobStatus } from '../../functions/schemas/values.ts';
import { derivedAttributes, type FoundRow, type Snapshot } from './snapshot.ts';

/** Something that is not as the rows say, and what it should be. */
export type Difference =
  | {
      readonly kind: 'row';
      readonly table: 'Batches' | 'Jobs';
      readonly key: string;
      /** Its wrong derived attributes. */
      readonly found: Item;
      readonly expected: Item;
      /** As stored, whatever it is; undefined where the row has none. */
      readonly rev: unknown;
    }
  | {
      readonly kind: 'head';
      readonly key: string;
      readonly found: Item | undefined;
      readonly folded?: Item | undefined;
      readonly expected: StoredHead;
    }
  /** A block or a summary. That a summary is missing is no difference. */
  | {
      readonly kind: 'block';
      readonly key: string;
      readonly found: Item | undefined;
      /** What it says with the changes beside the head, where there are any of its rows. */
      readonly folded?: Item | undefined;
      readonly expected: Uint8Array | undefined;
    }
  | {
      readonly kind: 'usage';
      /** Its sort key: the month is part of it. */
      readonly key: string;
      readonly found: Item | undefined;
      /** The other items of its place: it makes up for what they hold. */
      readonly others: readonly Item[];
      readonly expected: Item;
    }
  /** What no recount can mend: a row whose content breaks its schema, a job without its batch. */
  | { readonly kind: 'broken'; readonly key: string; readonly found: string };

/**
 * Rows are numbered in the order of `created_at`. Rows of the same time follow their present
 * number, then their id. In sound data that is the order they already have. Everything else is
 * derived from these numbers and the rows' content. If the content of any row breaks its schema,
 * only such rows are reported, because nothing can be counted without them.
 */
export function recount(lists: OwnerFormats, snapshot: Snapshot): Difference[] {
  const broken = [...brokenRows('Batches', snapshot.batches), ...brokenRows('Jobs', snapshot.jobs)];
  if (broken.length > 0) return broken;
  const items = new Map(snapshot.columns.map((item) => [String(item.key), item]));
  const jobs = placeInBatches(assignNumbers(snapshot.jobs));
  const batches = countJobs(assignNumbers(snapshot.batches), jobs);
  return [
    ...orphanedJobs(batches, jobs),
    ...rowDifferences('Batches', snapshot.batches, batches),
    ...rowDifferences('Jobs', snapshot.jobs, jobs),
    ...columnDifferences(lists.batch, batches, items),
    ...columnDifferences(lists.job, jobs, items),
    ...usageDifferences(batches, jobs, snapshot),
  ];
}

/** A place without an item is one where nothing was used. */
function usageDifferences(
  batches: readonly NumberedRow[],
  jobs: readonly NumberedRow[],
  { usage: { months, items } }: Snapshot,
): Difference[] {
  const types = new Map(batches.map((batch) => [batch.id, String((batch as Item).device_type)]));
  const used = sumUsage([
    ...batches.flatMap((batch) => {
      const row = batch as Item as BatchRow;
      return [usageOfBatch(row), negative(carriedUsage(row))];
    }),
    // Jobs without their batch are reported as such.
    ...jobs.map((job) => types.has(job.batch_id) && usageOfJob(job as Item as JobRow, types.get(job.batch_id))),
  ]);
  const expected = new Map(
    used
      .map((usage) => [usageKey(usage), usage] as const)
      .filter(([{ month }]) => months.has(month.slice(0, 7)))
      .map(([{ key }, usage]) => [key, usage]),
  );
  const found = Map.groupBy(items, ({ key }) => keyOfFirst(String(key)));
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((key): Difference[] => {
    const { month } = usageKeyOf(key);
    const ofPlace = found.get(key) ?? [];
    const item = ofPlace.find((each) => each.key === key && each.month === month);
    const others = ofPlace.filter((each) => each !== item);
    const ofOthers = others.map(amountsOfItem);
    const { amounts = {}, deviceType = ofPlace[0]?.device_type } = expected.get(key) ?? {};
    const right = usageAmounts.map((name) => {
      const amount = ofOthers.reduce((left, each) => left - each[name], amounts[name] ?? 0n);
      return [name, storedAmount(amount)] as const;
    });
    if (right.every(([name, amount]) => (item?.[name] ?? 0) === amount)) return [];
    return [
      { kind: 'usage', key, found: item, others, expected: { ...Object.fromEntries(right), device_type: deviceType } },
    ];
  });
}

type NumberedRow = Item & Row;

function brokenRows(table: 'Batches' | 'Jobs', rows: readonly FoundRow[]): Difference[] {
  return rows.flatMap(({ row, fault }): Difference[] =>
    fault === undefined ? [] : [{ kind: 'broken', key: `${table} ${row.id}`, found: fault }],
  );
}

/** The rows in the order of their numbers, with the version and times that writers need. */
function assignNumbers(rows: readonly FoundRow[]): NumberedRow[] {
  const presentNumber = (row: Item) => (isCount(row.seq) ? row.seq : Number.POSITIVE_INFINITY);
  return rows
    .map(({ row }) => row)
    .sort(
      (a, b) =>
        compare(a.created_at, b.created_at) || compare(presentNumber(a), presentNumber(b)) || compare(a.id, b.id),
    )
    .map((row, seq) => ({ ...row, seq, rev: isCount(row.rev) ? row.rev : 0, written_at: validTimes(row.written_at) }));
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function validTimes(writtenAt: unknown): Record<string, unknown> {
  if (typeof writtenAt !== 'object' || writtenAt === null) return {};
  return Object.fromEntries(Object.entries(writtenAt).filter(([, time]) => Number.isSafeInteger(time)));
}

/** Jobs join a batch in the order in which they are created. */
function placeInBatches(jobs: readonly NumberedRow[]): NumberedRow[] {
  const places = new Map<string, number>();
  return jobs.map((job) => {
    const creation_order = places.get(job.batch_id) ?? 0;
    places.set(job.batch_id, creation_order + 1);
    return { ...job, creation_order };
  });
}

function countJobs(batches: readonly NumberedRow[], jobs: readonly NumberedRow[]): NumberedRow[] {
  const byBatch = Map.groupBy(jobs, (job) => job.batch_id);
  return batches.map((batch) => {
    const ofBatch = byBatch.get(batch.id) ?? [];
    const count = (status: JobStatus) => ofBatch.filter((job) => job.status === status).length;
    return {
      ...batch,
      jobs_count: ofBatch.length,
      jobs_count_per_status: Object.fromEntries(JobStatus.options.map((status) => [status, count(status)])),
    };
  });
}

function orphanedJobs(batches: readonly NumberedRow[], jobs: readonly NumberedRow[]): Difference[] {
  const batchIds = new Set(batches.map((batch) => batch.id));
  return [...Map.groupBy(jobs, (job) => job.batch_id)].flatMap(([batchId, ofBatch]): Difference[] => {
    if (batchIds.has(batchId)) return [];
    return [{ kind: 'broken', key: `Batches ${batchId}`, found: `missing, but ${ofBatch.length} jobs name it` }];
  });
}

function rowDifferences(
  table: 'Batches' | 'Jobs',
  found: readonly FoundRow[],
  expected: readonly NumberedRow[],
): Difference[] {
  const byId = new Map(found.map(({ row }) => [row.id, row]));
  return expected.flatMap((row): Difference[] => {
    const stored = byId.get(row.id) ?? {};
    const wrong = derivedAttributes[table].filter((name) => !isDeepStrictEqual(stored[name], row[name]));
    if (wrong.length === 0) return [];
    const pick = (from: Item) => Object.fromEntries(wrong.map((name) => [name, from[name]]));
    return [{ kind: 'row', table, key: row.id, found: pick(stored), expected: pick(row), rev: stored.rev }];
  });
}

/**
 * The items as they are once all changes are folded, so that they can be compared with rows. As
 * they are, while a rebuild is at work: it leaves no changes.
 */
function foldItems(list: ListDescription, items: ReadonlyMap<string, Item>): ReadonlyMap<string, Item> {
  const head = StoredHead.safeParse(items.get(headKey(list))).data;
  if (head?.format !== formatOf(list)) return items;
  const ofChanges = [...items.values()].filter(({ key }) => String(key).startsWith(changesPrefix(list)));
  try {
    const changes = new Map(ofChanges.flatMap((item) => [...changedRowsOf(list, item)]));
    if ([...changes.keys()].some((seq) => seq >= head.next_seq)) return items;
    const { edits, tail } = foldedColumns(list, head, changes);
    const folded = new Map(items);
    if (changes.size > 0) folded.set(headKey(list), { ...items.get(headKey(list)), tail });
    const blocks = new Map(Array.from(items, ([key, { v }]) => [key, v as Uint8Array]));
    for (const { key, item } of blockWrites(edits, blocks)) {
      if (item === undefined) folded.delete(key);
      else folded.set(key, { key, ...item });
    }
    for (const key of [foldKey(list), ...ofChanges.map((item) => String(item.key))]) folded.delete(key);
    return folded;
  } catch (error) {
    if (!(error instanceof CorruptData || error instanceof RangeError)) throw error;
    return items;
  }
}

function columnDifferences(
  list: ListDescription,
  rows: readonly NumberedRow[],
  stored: ReadonlyMap<string, Item>,
): Difference[] {
  const items = foldItems(list, stored);
  const foundHead = items.get(headKey(list));
  const complete = expectedHead(list, rows, items);
  const head = storedHead(list, complete);
  const sameHead = isDeepStrictEqual(
    foundHead === undefined ? emptyHead(list) : StoredHead.safeParse(foundHead).data,
    head,
  );
  const inBlocks = rows.slice(0, tailStart(list, head));
  const expected = new Map([
    ...columnItems(list, inBlocks, { dictionaries: complete.dictionaries, items }),
    ...setBlocks(list, rows),
    ...itemsOf(dictionaryEdits(list, {}, complete.dictionaries)),
    ...itemsOf(timeIndexEdits(list, rows)),
  ]);
  const found = new Map([...items].filter(([key]) => key.startsWith(`${list.key}#`) && key !== headKey(list)));
  const wrong = [...new Set([...expected.keys(), ...found.keys()])].filter(
    (key) => !holds(found.get(key), expected.get(key)),
  );
  const foundAt = (key: string) => {
    const [found, folded] = [stored.get(key), items.get(key)];
    return { key, found, ...(folded !== found && { folded }) };
  };
  return [
    ...(sameHead ? [] : [{ kind: 'head', ...foundAt(headKey(list)), expected: head } satisfies Difference]),
    ...wrong.map((key): Difference => ({ kind: 'block', ...foundAt(key), expected: expected.get(key) })),
  ];
}

function expectedHead(list: ListDescription, rows: readonly NumberedRow[], items: ReadonlyMap<string, Item>): Head {
  const found = StoredHead.safeParse(items.get(headKey(list))).data;
  const known = soundDictionaries(list, found, items);
  const dictionaries = rows.reduce((learned, row) => withTextsOf(Object.values(list.columns), row, learned), known);
  const head: Head = {
    ...emptyHead(list),
    // The next change raises it.
    ...(found?.format === formerFormatOf(list) && { format: found.format }),
    next_seq: rows.length,
    last_created_at: rows.at(-1)?.created_at ?? null,
    dictionaries,
    // No row says it.
    ...(found?.n !== undefined && { n: found.n }),
  };
  const newest = rows.slice(tailStart(list, head));
  const tail = Object.values(list.columns).map((column) => {
    const values = newest.map((row) => columnValue(column, row, dictionaries));
    return [column.key, packColumn(column, values)] as const;
  });
  return { ...head, tail: newest.length === 0 ? {} : Object.fromEntries(tail) };
}

/**
 * The dictionaries that the list still has. They keep their order, because a text's index is in the
 * columns already. A dictionary that lacks texts, or has a text twice, is learned from the rows as
 * if they were created anew: unless rows were renumbered since, that gives every text its index
 * back.
 */
function soundDictionaries(
  list: ListDescription,
  head: StoredHead | undefined,
  items: ReadonlyMap<string, Item>,
): Dictionaries {
  if (head === undefined) return {};
  const facets = Object.values(list.columns).flatMap((column) =>
    column.kind === 'facets' ? Object.values(column.facets) : [],
  );
  const sound = facets.flatMap((facet) => {
    if (facet.kind !== 'dictionary') return [];
    const texts = textsOf(list, facet.attribute, head, (key) => items.get(key)?.v);
    const isSound = texts !== undefined && texts.length <= facetSize(facet) && new Set(texts).size === texts.length;
    return isSound && texts.length > 0 ? [[facet.attribute, texts] as const] : [];
  });
  return Object.fromEntries(sound);
}

/**
 * The blocks of the columns, each sealed where it is found sealed: sealing changes no value. Of the
 * summaries that are found, also the right bytes if all blocks of their segments are sealed.
 */
function* columnItems(
  list: ListDescription,
  rows: readonly Row[],
  { dictionaries, items }: { readonly dictionaries: Dictionaries; readonly items: ReadonlyMap<string, Item> },
): Generator<[string, Uint8Array]> {
  const { rowsPerSegment } = list;
  for (const column of Object.values(list.columns)) {
    const isSealable = isSummarized(column);
    const values = rows.map((row) => columnValue(column, row, dictionaries));
    for (let start = 0; start < values.length; start += column.rowsPerBlock) {
      const key = blockKey(columnPrefix(list, column), start / column.rowsPerBlock);
      const block = packColumn(column, values.slice(start, start + column.rowsPerBlock));
      yield [key, isSealable && isSealedItem(items.get(key)) ? seal(block) : block];
    }
    for (let segment = 0; isSealable && (segment + 1) * rowsPerSegment <= rows.length; segment++) {
      const key = summaryKey(list, column, segment);
      const blocks = blocksOfSegment(list, column, segment);
      if (!items.has(key) || !blocks.every((block) => isSealedItem(items.get(block)))) continue;
      const ofSegment = values.slice(segment * rowsPerSegment, (segment + 1) * rowsPerSegment);
      const numbers = Float64Array.from(ofSegment, (value) => (value as number | null) ?? Number.NaN);
      yield [key, packSummary(summarize(column, numbers))];
    }
  }
}

function isSealedItem(item: Item | undefined): boolean {
  return item?.v instanceof Uint8Array && isSealed(item.v);
}

function* setBlocks(list: ListDescription, rows: readonly Row[]): Generator<[string, Uint8Array]> {
  for (const sets of Object.values(list.sets)) {
    const positions = new Map<string, number[]>();
    for (const row of rows) {
      for (const value of setValues(sets, row)) {
        const key = blockKey(setPrefix(list, sets, value), Math.floor(row.seq / sets.rowsPerBlock));
        const block = positions.get(key) ?? [];
        block.push(row.seq % sets.rowsPerBlock);
        positions.set(key, block);
      }
    }
    for (const [key, block] of positions) {
      const bytes = packPositions(block);
      if (bytes !== undefined) yield [key, bytes];
    }
  }
}

/** What the edits make where nothing is. */
function itemsOf(edits: readonly BlockEdit[]): [string, Uint8Array | undefined][] {
  return edits.map(({ key, apply }) => [key, apply(undefined)]);
}

/** Whether the item holds exactly these bytes; without bytes, whether there is none. */
function holds(item: Item | undefined, bytes: Uint8Array | undefined): boolean {
  if (item === undefined || bytes === undefined) return item === bytes;
  return item.v instanceof Uint8Array && Buffer.compare(item.v, bytes) === 0;
}

function compare<Value extends number | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
