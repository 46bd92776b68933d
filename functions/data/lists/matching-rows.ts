/** Which rows meet the conditions of a query, from columns. Pure. */

import { CorruptData } from '../../errors.ts';
import { type Dictionaries, facetSize, indexOfFacet } from '../columns/facets.ts';
import type { FacetColumn, ListDescription } from '../columns/list-description.ts';
import { uuidAt } from '../columns/packed-uuids.ts';
import type { Condition } from './query.ts';
import { hasRow, intersect, type RowSet, spanOf } from './row-set.ts';

/**
 * What was read for a query. Columns are at full length, with NaN for null. For each set condition
 * there are its rows.
 */
export interface ColumnData {
  readonly rowCount: number;
  readonly dictionaries: Dictionaries;
  readonly numbers: ReadonlyMap<string, Float64Array>;
  readonly uuids: ReadonlyMap<string, Buffer>;
  readonly sets: readonly RowSet[];
}

/**
 * The rows that meet these conditions, ascending. Rows of sets that are newer than the columns are
 * left out.
 */
export function matchingRows(list: ListDescription, conditions: readonly Condition[], data: ColumnData): Int32Array {
  const candidates = markCandidates(data);
  const facets = conditions.filter((condition) => condition.kind === 'facet');
  if (facets.length > 0) keepFacets(candidates, facets, facetColumn(list), data);
  for (const condition of conditions) {
    if (condition.kind === 'range') keepRange(candidates, condition, numbersOf(data, condition.column));
    if (condition.kind === 'ids') keepIds(candidates, new Set(condition.oneOf), uuidsOf(data, 'id'));
    if (condition.kind === 'idPrefix') keepPrefix(candidates, condition.prefix, uuidsOf(data, 'id'));
  }
  return markedRows(candidates);
}

/** A byte for each row: 1 while it may match. The rows from `from` on, up to `to` and without it, are looked at. */
interface Candidates {
  readonly marks: Uint8Array;
  readonly from: number;
  readonly to: number;
}

function markCandidates({ rowCount, sets }: ColumnData): Candidates {
  const marks = new Uint8Array(rowCount);
  const common = intersect(sets);
  if (common === undefined) return { marks: marks.fill(1), from: 0, to: rowCount };
  const span = spanOf(common);
  if (span === undefined) return { marks, from: 0, to: 0 };
  const [from, to] = [span.from, Math.min(span.to + 1, rowCount)];
  for (let row = from; row < to; row++) marks[row] = hasRow(common, row) ? 1 : 0;
  return { marks, from, to };
}

function markedRows({ marks, from, to }: Candidates): Int32Array {
  let count = 0;
  for (let row = from; row < to; row++) count += marks[row] as number;
  const rows = new Int32Array(count);
  // A row that is not marked is overwritten by the next.
  for (let row = from, found = 0; found < count; row++) {
    rows[found] = row;
    found += marks[row] as number;
  }
  return rows;
}

/** Null never matches, because a comparison with NaN is false. */
function keepRange(
  { marks, from, to }: Candidates,
  { from: least = -Infinity, to: most = Infinity }: Condition & { kind: 'range' },
  values: Float64Array,
) {
  for (let row = from; row < to; row++) {
    const value = values[row] as number;
    if (!(value >= least && value <= most)) marks[row] = 0;
  }
}

function keepIds({ marks, from, to }: Candidates, ids: ReadonlySet<string>, column: Buffer) {
  for (let row = from; row < to; row++) if (marks[row] === 1 && !ids.has(uuidAt(column, row))) marks[row] = 0;
}

/** An id with the prefix lies between the prefix filled with zeros and the prefix filled with ones. */
function keepPrefix({ marks, from, to }: Candidates, prefix: string, column: Buffer) {
  const digits = prefix.replaceAll('-', '');
  const least = Buffer.from(digits.padEnd(32, '0'), 'hex');
  const most = Buffer.from(digits.padEnd(32, 'f'), 'hex');
  const isPrefix = least.length === 16 && uuidAt(least, 0).startsWith(prefix);
  const [first, last] = isPrefix ? [least.readUInt32BE(), most.readUInt32BE()] : [1, 0];
  for (let row = from; row < to; row++) {
    const start = highBits(column, row);
    if (start < first || start > last) marks[row] = 0;
    // Longer prefixes than eight digits leave few rows.
    else if (first === last && !uuidAt(column, row).startsWith(prefix)) marks[row] = 0;
  }
}

/** The first 32 bits of an id. */
export function highBits(column: Buffer, row: number): number {
  const at = row * 16;
  const low = ((column[at + 1] as number) << 16) | ((column[at + 2] as number) << 8) | (column[at + 3] as number);
  return (column[at] as number) * 2 ** 24 + low;
}

function keepFacets(
  { marks, from, to }: Candidates,
  conditions: readonly (Condition & { kind: 'facet' })[],
  column: FacetColumn,
  data: ColumnData,
) {
  const tests = conditions.map(({ facet, oneOf }) => {
    const values = facetValues(column, facet, data.dictionaries);
    const wanted = new Set(oneOf.map((value) => values.indexOf(value)));
    const index = indexOfFacet(column, facet);
    return (code: number) => wanted.has(index(code));
  });
  const codes = numbersOf(data, 'facets');
  const isMatch = tabulate(column, data.dictionaries, (code) => (tests.every((test) => test(code)) ? 1 : 0));
  for (let row = from; row < to; row++) if (isMatch(codes[row] as number) === 0) marks[row] = 0;
}

/** Only owners with very many projects and device types have larger codes. */
const mostCodes = 2 ** 22;

/**
 * The function of a facet code (a whole number below 2^15, or NaN) by a table: a user has few
 * different codes, so each is computed once.
 */
export function tabulate(
  column: FacetColumn,
  dictionaries: Dictionaries,
  compute: (code: number) => number,
): (code: number) => number {
  // Zero: not computed yet, or NaN. The table's untouched parts take no memory.
  const successors = new Int16Array(Math.min(codeLimit(column, dictionaries), mostCodes));
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

export function facetColumn(list: ListDescription): FacetColumn {
  const column = list.columns.facets;
  if (column?.kind !== 'facets') throw new RangeError('The list has no facets.');
  return column;
}

export function facetValues(
  column: FacetColumn,
  name: string,
  dictionaries: Dictionaries,
): readonly (string | boolean)[] {
  const facet = column.facets[name];
  if (facet === undefined) throw new RangeError(`No facet ${name}.`);
  if (facet.kind === 'presence') return [false, true];
  return facet.kind === 'values' ? facet.values : (dictionaries[facet.attribute] ?? []);
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
