/** Which rows meet the conditions of a query, from columns. Pure. */

import { CorruptData } from '../../errors.ts';
import { type Dictionaries, facetSize, indexOfFacet } from '../columns/facets.ts';
import { maxTabulatedCodes } from '../columns/format-limits.ts';
import { type FacetColumn, facetColumn, type ListDescription } from '../columns/list-description.ts';
import { uuidAt } from '../columns/packed-uuids.ts';
import type { Condition } from './query.ts';
import { hasRow, intersect, type RowSet, spanOf } from './row-set.ts';
import { overlap, type Span } from './span.ts';

/**
 * What was read for a query. A column has a place for each row, with NaN for null; only the places
 * of the rows in `read` are filled. For each set condition there are its rows.
 */
export interface ColumnData {
  readonly rowCount: number;
  /** Ascending, without overlaps. */
  readonly read: readonly Span[];
  /** No other rows meet the conditions on their creation; undefined where there are none. */
  readonly within?: Span | undefined;
  readonly dictionaries: Dictionaries;
  readonly numbers: ReadonlyMap<string, Float64Array>;
  readonly uuids: ReadonlyMap<string, Buffer>;
  readonly sets: readonly RowSet[];
}

/**
 * The rows that were read and meet these conditions, ascending. Rows of sets that are newer than
 * the columns are left out.
 */
export function matchingRows(list: ListDescription, conditions: readonly Condition[], data: ColumnData): Int32Array {
  const marks = new Uint8Array(data.rowCount);
  const spans = markCandidates(marks, data);
  const keep = keepers(list, conditions, data);
  for (const { from, to } of spans) for (const each of keep) each({ marks, from, to: to + 1 });
  return markedRows(marks, spans);
}

/**
 * Each keeper removes the marks of rows that fail one condition, or fail the conditions on facets.
 */
function keepers(
  list: ListDescription,
  conditions: readonly Condition[],
  data: ColumnData,
): ((candidates: Candidates) => void)[] {
  const facets = conditions.filter((condition) => condition.kind === 'facet');
  const ofFacets = facets.length === 0 ? [] : [keepFacets(facets, facetColumn(list), data)];
  const others = conditions.flatMap((condition) => {
    switch (condition.kind) {
      case 'range':
        return keepRange(condition, numbersOf(data, condition.column));
      case 'ids':
        return keepIds(new Set(condition.oneOf), uuidsOf(data, 'id'));
      case 'idPrefix':
        return keepPrefix(condition.prefix, uuidsOf(data, 'id'));
      default:
        return [];
    }
  });
  return [...ofFacets, ...others];
}

/**
 * A byte for each row: 1 while it may match. Only the rows from `from` (inclusive) to `to`
 * (exclusive) are looked at.
 */
interface Candidates {
  readonly marks: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Marks the rows that may match, and returns where they lie. */
function markCandidates(marks: Uint8Array, { rowCount, read, within, sets }: ColumnData): readonly Span[] {
  const bounds = within ?? { from: 0, to: rowCount - 1 };
  const common = intersect(sets);
  if (common === undefined) {
    const spans = read.map((span) => overlap(span, bounds));
    for (const { from, to } of spans) marks.fill(1, from, Math.max(from, to + 1));
    return spans;
  }
  const span = spanOf(common);
  if (span === undefined) return [];
  const { from, to } = overlap(span, bounds);
  for (let row = from; row <= to; row++) marks[row] = hasRow(common, row) ? 1 : 0;
  return [{ from, to }];
}

function markedRows(marks: Uint8Array, spans: readonly Span[]): Int32Array {
  let count = 0;
  for (const { from, to } of spans) for (let row = from; row <= to; row++) count += marks[row] as number;
  const rows = new Int32Array(count);
  let found = 0;
  for (const { from, to } of spans) {
    // A row that is not marked is overwritten by the next.
    for (let row = from; row <= to && found < count; row++) {
      rows[found] = row;
      found += marks[row] as number;
    }
  }
  return rows;
}

/** Null never matches, because a comparison with NaN is false. */
function keepRange(
  { from: least = -Infinity, to: most = Infinity }: Condition & { kind: 'range' },
  values: Float64Array,
) {
  return ({ marks, from, to }: Candidates) => {
    for (let row = from; row < to; row++) {
      const value = values[row] as number;
      if (!(value >= least && value <= most)) marks[row] = 0;
    }
  };
}

function keepIds(ids: ReadonlySet<string>, column: Buffer) {
  return ({ marks, from, to }: Candidates) => {
    for (let row = from; row < to; row++) if (marks[row] === 1 && !ids.has(uuidAt(column, row))) marks[row] = 0;
  };
}

/**
 * An id with the prefix lies between the prefix filled with zeros and the prefix filled with ones.
 */
function keepPrefix(prefix: string, column: Buffer) {
  const digits = prefix.replaceAll('-', '');
  const least = Buffer.from(digits.padEnd(32, '0'), 'hex');
  const most = Buffer.from(digits.padEnd(32, 'f'), 'hex');
  const isPrefix = least.length === 16 && uuidAt(least, 0).startsWith(prefix);
  const [first, last] = isPrefix ? [least.readUInt32BE(), most.readUInt32BE()] : [1, 0];
  return ({ marks, from, to }: Candidates) => {
    for (let row = from; row < to; row++) {
      const start = highBits(column, row);
      if (start < first || start > last) marks[row] = 0;
      // Longer prefixes than eight digits leave few rows.
      else if (first === last && !uuidAt(column, row).startsWith(prefix)) marks[row] = 0;
    }
  };
}

/** The first 32 bits of an id. */
export function highBits(column: Buffer, row: number): number {
  const at = row * 16;
  const low = ((column[at + 1] as number) << 16) | ((column[at + 2] as number) << 8) | (column[at + 3] as number);
  return (column[at] as number) * 2 ** 24 + low;
}

function keepFacets(conditions: readonly (Condition & { kind: 'facet' })[], column: FacetColumn, data: ColumnData) {
  const test = facetTest(conditions, column, data.dictionaries);
  const codes = numbersOf(data, 'facets');
  const isMatch = tabulate(column, data.dictionaries, (code) => (test(code) ? 1 : 0));
  return ({ marks, from, to }: Candidates) => {
    for (let row = from; row < to; row++) if (isMatch(codes[row] as number) === 0) marks[row] = 0;
  };
}

/** Whether a facet code meets all these conditions. */
export function facetTest(
  conditions: readonly (Condition & { kind: 'facet' })[],
  column: FacetColumn,
  dictionaries: Dictionaries,
): (code: number) => boolean {
  const tests = conditions.map(({ facet, oneOf }) => {
    const values = facetValues(column, facet, dictionaries);
    const wanted = new Set(oneOf.map((value) => values.indexOf(value)));
    const index = indexOfFacet(column, facet);
    return (code: number) => wanted.has(index(code));
  });
  return (code) => tests.every((test) => test(code));
}

/**
 * The function of a facet code (a whole number below 2^15, or NaN) by a table: a user has few
 * different codes, so each is computed once.
 */
export function tabulate(
  column: FacetColumn,
  dictionaries: Dictionaries,
  compute: (code: number) => number,
): (code: number) => number {
  // Only owners with very many projects and device types have larger codes than the table holds.
  // Zero: not computed yet, or NaN. The table's untouched parts take no memory.
  const successors = new Int16Array(Math.min(codeLimit(column, dictionaries), maxTabulatedCodes));
  return (code) => {
    const successor = successors[code] ?? 0;
    if (successor !== 0) return successor - 1;
    const value = compute(code);
    if (code < successors.length) successors[code] = value + 1;
    return value;
  };
}

/** All codes of rows whose texts are in the dictionaries are below. */
function codeLimit(column: FacetColumn, dictionaries: Dictionaries): number {
  let [limit, scale] = [1, 1];
  for (const facet of Object.values(column.facets)) {
    const used = facet.kind === 'dictionary' ? (dictionaries[facet.attribute]?.length ?? 0) : facetSize(facet);
    limit += scale * Math.max(used - 1, 0);
    scale *= facetSize(facet);
  }
  return limit;
}

export function facetValues(
  column: FacetColumn,
  name: string,
  dictionaries: Dictionaries,
): readonly (string | boolean)[] {
  const facet = column.facets[name];
  if (facet === undefined) throw new RangeError(`No facet ${name}.`);
  if (facet.kind === 'dictionary') return dictionaries[facet.attribute] ?? [];
  return facet.kind === 'values' ? facet.values : [false, true];
}

export function numbersOf(data: ColumnData, name: string): Float64Array {
  const values = data.numbers.get(name);
  if (values === undefined) throw new CorruptData(`The column ${name} was not read.`);
  return values;
}

export function uuidsOf(data: ColumnData, name: string): Buffer {
  const values = data.uuids.get(name);
  if (values === undefined) throw new CorruptData(`The column ${name} was not read.`);
  return values;
}
