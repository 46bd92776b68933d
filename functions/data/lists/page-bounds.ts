/** Where summarized rows are in an order: before the page, or perhaps on it. Pure. */

import { rowsAtRanks, type ValuedRows, type Window } from './ranks.ts';
import type { Span } from './span.ts';

/**
 * Matching rows of a span that summaries count, and that were not read. In the query's order their
 * values are from `low` to `high`, both inclusive; null: they have none.
 */
export interface SummarizedRows {
  readonly rows: Span;
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
}

/** Either the rows with a value or the rows without: the latter come last in both directions. */
export interface Section extends ValuedRows {
  /** Ascending by their rows. */
  readonly summarized: readonly SummarizedRows[];
}

/** A place in the order: rows ascend by value, and rows of one value by sequence number. */
interface Place {
  readonly value: number;
  readonly row: number;
}

const comparePlaces = (a: Place, b: Place) => a.value - b.value || a.row - b.row;
export const firstPlace = ({ low, rows }: SummarizedRows): Place => ({ value: low ?? 0, row: rows.from });
export const lastPlace = ({ high, rows }: SummarizedRows): Place => ({ value: high ?? 0, row: rows.to });

/**
 * The number of summarized rows before these ranks of the section, and the summarized rows that may
 * be at them. If there are any of the latter, `before` means nothing: read them first.
 */
export function locateSummarized<Summarized extends SummarizedRows>(
  section: Section & { readonly summarized: readonly Summarized[] },
  { from, to }: Window,
): {
  before: number;
  wanted: Summarized[];
} {
  const summarized: readonly Summarized[] = section.summarized;
  if (summarized.length === 0) return { before: 0, wanted: [] };
  // The row at rank `from` if each summarized row had its first possible place. It is here or
  // later.
  const first = placeOf(from, section, firstPlace);
  // Likewise the last row of the window is here or earlier.
  const last = placeOf(to - 1, section, lastPlace);
  const later = summarized.filter((each) => comparePlaces(lastPlace(each), first) >= 0);
  const before =
    summarized.reduce((sum, { count }) => sum + count, 0) - later.reduce((sum, { count }) => sum + count, 0);
  return { before, wanted: later.filter((each) => comparePlaces(firstPlace(each), last) <= 0) };
}

/** The place at this rank, if all summarized rows were where `placeOfSummarized` says. */
export function placeOf(
  rank: number,
  section: Section,
  placeOfSummarized: (summarized: SummarizedRows) => Place,
): Place {
  // Segments may name hundreds of thousands of places with few different values: these alone are
  // sorted.
  const counts = new Map<number, number>();
  for (const each of section.summarized) {
    const { value } = placeOfSummarized(each);
    counts.set(value, (counts.get(value) ?? 0) + each.count);
  }
  const values = Array.from(Float64Array.from(counts.keys()).sort(), (value): CountedPlace => {
    return { value, row: Infinity, count: counts.get(value) as number };
  });
  const reached = findReached(values, section, { rank, before: 0 });
  const ofValue = section.summarized
    .filter((each) => placeOfSummarized(each).value === reached.place?.value)
    .map((each): CountedPlace => ({ ...placeOfSummarized(each), count: each.count }));
  const { place: ofSummarized, before } = findReached(ofValue, section, { rank, before: reached.before });
  const ofRead = placeOfRead(section, rank - before);
  if (ofSummarized === undefined || ofRead === undefined) return (ofSummarized ?? ofRead) as Place;
  return comparePlaces(ofSummarized, ofRead) < 0 ? ofSummarized : ofRead;
}

/** A place with this number of summarized rows. */
interface CountedPlace extends Place {
  readonly count: number;
}

/**
 * The first of these ascending places up to which there are more rows than the rank, and the number
 * of summarized rows before it. `before` are before all of these places.
 */
function findReached(
  places: readonly CountedPlace[],
  section: Section,
  { rank, before }: { readonly rank: number; readonly before: number },
): { place: CountedPlace | undefined; before: number } {
  let sum = before;
  const upTo = Float64Array.from(places, ({ count }) => (sum += count));
  const isReached = (at: number) => (upTo[at] as number) + rowsUpTo(section, places[at] as Place) > rank;
  let [at, end] = [0, places.length];
  while (at < end) {
    const middle = (at + end) >> 1;
    if (isReached(middle)) end = middle;
    else at = middle + 1;
  }
  return { place: places[at], before: at === 0 ? before : (upTo[at - 1] as number) };
}

/** How many of the rows that were read are at this place or before. */
function rowsUpTo({ rows, values }: ValuedRows, place: Place): number {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const value = values[index] as number;
    if (value < place.value || (value === place.value && (rows[index] as number) <= place.row)) count++;
  }
  return count;
}

/** The place of the row at this rank among the rows that were read. */
function placeOfRead(read: ValuedRows, rank: number): Place | undefined {
  if (rank >= read.rows.length) return undefined;
  const [row] = rowsAtRanks(read, { from: rank, to: rank + 1 }) as [number];
  return { row, value: read.values[read.rows.indexOf(row)] as number };
}
