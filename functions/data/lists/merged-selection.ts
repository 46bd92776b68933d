/**
 * Which rows of several owners are on a page: as select.ts for one. Rows ascend by the query's
 * value; where values are equal, by their time of creation, then by owner. Pure.
 *
 * The rows of all owners have places in one sequence: owner after owner, by their ids. No column
 * holds times of creation. So the owners' time indexes give bounds for every few rows. Only rows
 * whose bounds reach into the page, or across its ends, are wanted.
 */

import { toMicroseconds } from '../../values/timestamp.ts';
import type { Row } from '../columns/column-items.ts';
import { facetColumn, type ListDescription } from '../columns/list-description.ts';
import { boundsOfCreation, type CreationTimes, entryOf, isBeforeEntries } from './creation-times.ts';
import { type ColumnData, facetValues } from './matching-rows.ts';
import { firstPlace, lastPlace, locateSummarized, placeOf, type Section, type SummarizedRows } from './page-bounds.ts';
import type { ListQuery } from './query.ts';
import { rowsAtRanks, type Window } from './ranks.ts';
import { type Cut, cutPage, rowsIn, sortKey } from './select.ts';
import type { Span } from './span.ts';

/** What has been read of one owner. */
export interface OwnersShare {
  /** With the conditions on this owner's rows. */
  readonly query: ListQuery;
  readonly data: ColumnData;
  /** The rows that were read and match, ascending. */
  readonly matching: Int32Array;
  /** Matching rows that were not read. */
  readonly summarized: readonly SummarizedRows[];
  readonly times: CreationTimes;
  /** The rows that were fetched, by their numbers. */
  readonly rows: ReadonlyMap<number, Row>;
}

/** What the page still needs of one owner. */
export interface Wanted {
  readonly rows: readonly number[];
  /** Segments of columns. */
  readonly spans: readonly Span[];
  /** All entries of the time index. */
  readonly times: boolean;
}

export interface MergedSelection {
  /** The page's rows in the query's order, by owner and number; empty while anything is wanted. */
  readonly page: readonly { readonly owner: number; readonly row: number }[];
  readonly total: number;
  /** By owner; empty when the page is known. */
  readonly wanted: ReadonlyMap<number, Wanted>;
}

/** `shares` are by the owners' ids, ascending. */
export function selectMerged(list: ListDescription, query: ListQuery, shares: readonly OwnersShare[]): MergedSelection {
  const all = joinShares(list, shares);
  const { direction, offset, limit } = query;
  const total = rowsIn(all);
  const window = { direction, from: offset, to: Math.min(offset + limit, total) };
  const cut = cutPage(all, window, (section, ranks) =>
    section.compare ? { rows: rowsAtRanks(section, ranks), wanted: [] } : cutAscending(all, section, ranks),
  );
  const wanted = wantedOf(all, cut);
  return { page: wanted.size > 0 ? [] : cut.rows.map((place) => locate(all, place)), total, wanted };
}

/** The rows of all owners, by their places in the one sequence. */
interface JoinedRows extends Section {
  readonly shares: readonly OwnersShare[];
  /** The place of each owner's first row. */
  readonly starts: readonly number[];
}

function joinShares(list: ListDescription, shares: readonly OwnersShare[]): JoinedRows {
  const starts: number[] = [];
  let start = 0;
  for (const { data } of shares) {
    starts.push(start);
    start += data.rowCount;
  }
  const rankOfText = textRanks(list, shares);
  const parts = shares.map(({ query, data, matching, summarized }, owner) => {
    const translate = rankOfText?.(owner) ?? ownerRank(query, owner);
    const from = starts[owner] as number;
    const values = sortKey(list, query, data).valuesOf(matching);
    return {
      rows: matching.map((row) => row + from),
      values: translate === undefined ? values : values.map(translate),
      summarized: summarized.map((each) => ({
        ...each,
        rows: { from: each.rows.from + from, to: each.rows.to + from },
        ...(translate && each.low !== null && { low: translate(each.low), high: translate(each.high ?? each.low) }),
      })),
    };
  });
  const joined = {
    shares,
    starts,
    rows: concat(
      parts.map(({ rows }) => rows),
      (length) => new Int32Array(length),
    ),
    values: concat(
      parts.map(({ values }) => values),
      (length) => new Float64Array(length),
    ),
    summarized: parts.flatMap(({ summarized }) => summarized),
  };
  return { ...joined, compare: compareUuids(list, joined) };
}

function concat<Numbers extends Int32Array | Float64Array>(
  parts: readonly Numbers[],
  make: (length: number) => Numbers,
): Numbers {
  const whole = make(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** In the order of owners, each row has its owner's place. */
function ownerRank({ order }: ListQuery, owner: number): (() => number) | undefined {
  return order.kind === 'creation' && order.byOwner ? () => owner : undefined;
}

/**
 * Dictionaries number texts for each owner. By owner: the function that translates a rank among the
 * owner's texts to the rank among all texts. Undefined in other orders.
 */
function textRanks(list: ListDescription, shares: readonly OwnersShare[]) {
  const order = shares[0]?.query.order;
  if (order?.kind !== 'facet' || facetColumn(list).facets[order.facet]?.kind !== 'dictionary') return undefined;
  const ascending = (texts: Iterable<string>) => [...texts].sort((a, b) => (a < b ? -1 : 1));
  const ofShares = shares.map(({ data }) =>
    ascending(facetValues(facetColumn(list), order.facet, data.dictionaries).map(String)),
  );
  const ranks = new Map(ascending(new Set(ofShares.flat())).map((text, rank) => [text, rank]));
  const ofOwners = ofShares.map((texts) => texts.map((text) => ranks.get(text) as number));
  return (owner: number) => (rank: number) => ofOwners[owner]?.[rank] ?? Number.NaN;
}

/** Ids begin alike for their first four bytes, which are their values: these compare the rest. */
function compareUuids(list: ListDescription, joined: Pick<JoinedRows, 'shares' | 'starts'>) {
  const order = joined.shares[0]?.query.order;
  if (order?.kind !== 'column' || list.columns[order.column]?.kind !== 'uuid') return undefined;
  const bytesAt = (place: number) => {
    const { owner, row } = locate(joined, place);
    return (joined.shares[owner] as OwnersShare).data.uuids.get(order.column)?.subarray(row * 16, row * 16 + 16);
  };
  return (a: number, b: number) => Buffer.compare(bytesAt(a) as Buffer, bytesAt(b) as Buffer);
}

function locate({ starts }: Pick<JoinedRows, 'starts'>, place: number) {
  let [owner, end] = [0, starts.length - 1];
  while (owner < end) {
    const middle = (owner + end + 1) >> 1;
    if ((starts[middle] as number) <= place) owner = middle;
    else end = middle - 1;
  }
  return { owner, row: place - (starts[owner] as number) };
}

/**
 * Rows of one entry of a time index, or of one segment: they count as summarized until they are
 * read.
 */
interface Doubtful extends SummarizedRows {
  /** The rows themselves; absent where only their columns say which they are. */
  readonly members?: readonly number[];
  /** Their bounds are too wide: the older entries of the index are not read yet. */
  readonly needsTimes?: boolean;
}

/**
 * Of the first and the last value of the window only some rows may be within it: they are chosen by
 * their times. All rows between them are.
 */
function cutAscending(all: JoinedRows, section: Section, ranks: Window): Cut<Doubtful> {
  const first = placeOf(ranks.from, section, firstPlace).value;
  const last = placeOf(ranks.to - 1, section, lastPlace).value;
  const within = section.summarized.filter(({ low, high }) => (high ?? 0) >= first && (low ?? 0) <= last);
  const open = within.filter(({ low, high }) => low !== high);
  if (open.length > 0) return { rows: [], wanted: open };
  const isBetween = (value: number) => value > first && value < last;
  const between = rowsWhere(section, isBetween);
  const cuts = Array.from(new Set([first, last]), (value) => {
    const tied = {
      rows: rowsWhere(section, (each) => each === value),
      summarized: within.filter(({ low }) => low === value),
    };
    const before = countBelow(section, value);
    return cutTied(all, tied, { from: Math.max(ranks.from - before, 0), to: ranks.to - before });
  });
  const rows = [between, ...cuts.map((each) => each.rows)].flat();
  const wanted = [...within.filter(({ low }) => isBetween(low ?? 0)), ...cuts.flatMap((each) => each.wanted)];
  return { rows: wanted.length > 0 ? rows : sortPage(all, section, rows), wanted };
}

function rowsWhere({ rows, values }: Section, test: (value: number) => boolean): number[] {
  const found: number[] = [];
  for (let at = 0; at < rows.length; at++) if (test(values[at] as number)) found.push(rows[at] as number);
  return found;
}

function countBelow({ values, summarized }: Section, value: number): number {
  let count = 0;
  for (const each of values) if (each < value) count++;
  return summarized.reduce((sum, { low, count }) => sum + ((low ?? 0) < value ? count : 0), count);
}

/** The rows at these ranks, among rows of one value. */
function cutTied(
  all: JoinedRows,
  { rows, summarized }: { readonly rows: readonly number[]; readonly summarized: readonly SummarizedRows[] },
  { from, to }: Window,
): Cut<Doubtful> {
  const size = summarized.reduce((sum, { count }) => sum + count, rows.length);
  if (from === 0 && to >= size) return { rows, wanted: summarized };
  const { known, times, doubtful } = sortOut(all, rows);
  const section = {
    rows: Int32Array.from(known),
    values: Float64Array.from(times),
    summarized: [...doubtful, ...summarized.map((each) => withBounds(all, each))].sort(
      (a, b) => a.rows.from - b.rows.from,
    ),
  };
  const { before, wanted } = locateSummarized(section, { from, to: Math.min(to, size) });
  if (wanted.length > 0) return { rows: [], wanted };
  return { rows: rowsAtRanks(section, { from: from - before, to: Math.min(to, size) - before }), wanted };
}

/**
 * These ascending places: rows whose times are known, and the others by the entries of the time
 * indexes that give bounds for them.
 */
function sortOut(all: JoinedRows, places: readonly number[]) {
  const [known, times]: [number[], number[]] = [[], []];
  const groups: { owner: number; entry: number; members: number[] }[] = [];
  for (const place of places) {
    const { owner, row } = locate(all, place);
    const share = all.shares[owner] as OwnersShare;
    const fetched = share.rows.get(row);
    if (fetched !== undefined) {
      known.push(place);
      times.push(toMicroseconds(String(fetched.created_at)));
      continue;
    }
    const entry = isBeforeEntries(share.times, row) ? -1 : entryOf(share.times, row);
    const last = groups.at(-1);
    if (last?.owner === owner && last.entry === entry) last.members.push(place);
    else groups.push({ owner, entry, members: [place] });
  }
  const doubtful = groups.map(({ members }): Doubtful => {
    const rows = { from: members[0] as number, to: members.at(-1) as number };
    return { ...withBounds(all, { rows, low: 0, high: 0, count: members.length }), members };
  });
  return { known, times, doubtful };
}

/** The rows by the bounds of their times instead of their value. */
function withBounds(all: JoinedRows, { rows, count }: SummarizedRows): Doubtful {
  const { owner, row } = locate(all, rows.from);
  const { times } = all.shares[owner] as OwnersShare;
  const bounds = boundsOfCreation(times, { from: row, to: locate(all, rows.to).row });
  return { ...bounds, rows, count, needsTimes: isBeforeEntries(times, row) };
}

/** When the row was created; undefined while it is not fetched. */
function timeOf(all: JoinedRows, place: number): number | undefined {
  const { owner, row } = locate(all, place);
  const fetched = all.shares[owner]?.rows.get(row);
  return fetched && toMicroseconds(String(fetched.created_at));
}

/** By value, then by time, then by owner. Rows that are not fetched yet are somewhere. */
function sortPage(all: JoinedRows, section: Section, places: readonly number[]): number[] {
  const values = new Map<number, number>();
  const wanted = new Set(places);
  for (const [at, place] of section.rows.entries()) {
    if (wanted.has(place)) values.set(place, section.values[at] as number);
  }
  const keyed = places.map((place) => ({ place, value: values.get(place) ?? 0, time: timeOf(all, place) ?? 0 }));
  return keyed.sort((a, b) => a.value - b.value || a.time - b.time || a.place - b.place).map(({ place }) => place);
}

/** What the cut wants, and rows of it that are not fetched, by owner. */
function wantedOf(all: JoinedRows, { rows, wanted }: Cut<Doubtful>): Map<number, Wanted> {
  const found = [...wanted, ...rows.filter((place) => timeOf(all, place) === undefined).map(alone)];
  const byOwner = Map.groupBy(found, ({ rows }) => locate(all, rows.from).owner);
  return new Map(
    Array.from(byOwner, ([owner, each]) => {
      const start = all.starts[owner] as number;
      const ready = each.filter(({ needsTimes }) => !needsTimes);
      const ofColumns = ready.filter(({ members }) => members === undefined);
      return [
        owner,
        {
          rows: [...new Set(ready.flatMap(({ members = [] }) => members))].map((place) => place - start),
          spans: ofColumns.map(({ rows }) => ({ from: rows.from - start, to: rows.to - start })),
          times: ready.length < each.length,
        },
      ];
    }),
  );
}

function alone(place: number): Doubtful {
  return { rows: { from: place, to: place }, low: 0, high: 0, count: 1, members: [place] };
}
