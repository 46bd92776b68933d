/** Rows by their ranks in an order, without sorting all of them. Pure. */

/** Ranks from `from` on, up to `to` and without it. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/**
 * Rows, ascending, and the value of each. They are ordered by value, and where values are equal by
 * `compare`, then by row.
 */
export interface ValuedRows {
  readonly rows: Int32Array;
  readonly values: Float64Array;
  /** Only where equal values leave a difference. */
  readonly compare?: ((a: number, b: number) => number) | undefined;
}

/** The rows that have a value, and those whose value is NaN. */
export function splitNulls(rows: Int32Array, values: Float64Array): { valued: ValuedRows; nulls: Int32Array } {
  let count = 0;
  for (let index = 0; index < values.length; index++) if (!Number.isNaN(values[index])) count++;
  if (count === rows.length) return { valued: { rows, values }, nulls: rows.subarray(0, 0) };
  const valued = { rows: new Int32Array(count), values: new Float64Array(count) };
  const nulls = new Int32Array(rows.length - count);
  for (let index = 0, found = 0; index < rows.length; index++) {
    const row = rows[index] as number;
    const value = values[index] as number;
    if (Number.isNaN(value)) nulls[index - found] = row;
    else {
      valued.rows[found] = row;
      valued.values[found++] = value;
    }
  }
  return { valued, nulls };
}

const bucketCount = 1024;
/** So few rows are sorted rather than counted once more. */
const fewRows = 1024;

/**
 * The rows whose ranks in ascending order lie in the window. The values are counted into equal
 * intervals (buckets), and the counts say in which buckets the window begins and ends. With a
 * window from 6 to 14:
 *
 *   bucket        0     1    2     3      4
 *   rows in it    5     0    3     4      6
 *   their ranks  0..4   -   5..7  8..11  12..17
 *   window                   [............]
 *
 * Here fromBucket is 2, with 5 rowsBefore; toBucket is 4, with 12 rowsBeforeLast.
 *
 * All rows of the buckets between these two are in the window and are sorted. Within the two the
 * same is done again, on fewer rows. The work is linear in the number of rows, whatever their
 * values, except that ids which begin alike are all sorted.
 */
export function rowsAtRanks(valued: ValuedRows, { from, to }: Window): number[] {
  const { rows, values, compare } = valued;
  const [least, most] = bounds(values);
  if (least === most && compare === undefined) return Array.from(rows.subarray(from, to));
  if (least === most || rows.length <= fewRows) return sortRows(valued).slice(from, to);
  const buckets = bucketsOf(values, least, most);
  const counts = new Uint32Array(bucketCount);
  for (let index = 0; index < buckets.length; index++) (counts[buckets[index] as number] as number) += 1;
  const countIn = (bucket: number) => counts[bucket] as number;

  let [fromBucket, rowsBefore] = [0, 0];
  while (rowsBefore + countIn(fromBucket) <= from) rowsBefore += countIn(fromBucket++);
  let [toBucket, rowsBeforeLast] = [fromBucket, rowsBefore];
  while (rowsBeforeLast + countIn(toBucket) < to) rowsBeforeLast += countIn(toBucket++);

  const within = (bucket: number, part: Window) => {
    const ofBucket = pickBuckets(valued, buckets, { first: bucket, last: bucket, length: countIn(bucket) });
    return rowsAtRanks(ofBucket, part);
  };
  if (fromBucket === toBucket) return within(fromBucket, { from: from - rowsBefore, to: to - rowsBefore });
  const length = rowsBeforeLast - rowsBefore - countIn(fromBucket);
  const between = pickBuckets(valued, buckets, { first: fromBucket + 1, last: toBucket - 1, length });
  return [
    ...within(fromBucket, { from: from - rowsBefore, to: countIn(fromBucket) }),
    ...sortRows(between),
    ...within(toBucket, { from: 0, to: to - rowsBeforeLast }),
  ];
}

/** Least and greatest of at least one value. */
function bounds(values: Float64Array): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

function bucketsOf(values: Float64Array, least: number, most: number): Uint16Array {
  const buckets = new Uint16Array(values.length);
  const scale = bucketCount / (most - least);
  for (let index = 0; index < values.length; index++) {
    const bucket = Math.floor(((values[index] as number) - least) * scale);
    buckets[index] = bucket < bucketCount ? bucket : bucketCount - 1;
  }
  return buckets;
}

/** The rows in these buckets, both inclusive; `length` is their number. */
function pickBuckets(
  { rows, values, compare }: ValuedRows,
  buckets: Uint16Array,
  { first, last, length }: { readonly first: number; readonly last: number; readonly length: number },
): ValuedRows {
  const picked = { rows: new Int32Array(length), values: new Float64Array(length), compare };
  for (let index = 0, count = 0; count < length; index++) {
    const bucket = buckets[index] as number;
    if (bucket < first || bucket > last) continue;
    picked.rows[count] = rows[index] as number;
    picked.values[count++] = values[index] as number;
  }
  return picked;
}

/** Ties stay ascending, because the sort is stable. */
function sortRows({ rows, values, compare }: ValuedRows): number[] {
  return Array.from(rows, (row, index) => ({ row, value: values[index] as number }))
    .sort((a, b) => a.value - b.value || (compare?.(a.row, b.row) ?? 0))
    .map(({ row }) => row);
}
