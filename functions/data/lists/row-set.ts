/**
 * Rows in memory as a bitmap: one bit a row, in the order of the sequence, the lowest bit of a byte
 * first.
 */
export type RowSet = Uint8Array;

/** A set for rows below `rowCount`, without any. */
export function emptyRowSet(rowCount: number): RowSet {
  return new Uint8Array((rowCount + 7) >> 3);
}

export function addRow(set: RowSet, row: number): void {
  set[row >> 3] = (set[row >> 3] as number) | (1 << (row & 7));
}

export function hasRow(set: RowSet, row: number): boolean {
  return ((set[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
}

/** The rows that are in every set; undefined where there is no set. */
export function intersect(sets: readonly RowSet[]): RowSet | undefined {
  const [first, ...others] = sets;
  const length = Math.min(...sets.map((set) => set.length));
  const common = first?.slice(0, length);
  for (const set of others) for (let byte = 0; byte < length; byte++) (common as RowSet)[byte]! &= set[byte] as number;
  return common;
}

/** From the first to the last row of the set, both inclusive; undefined where it has none. */
export function spanOf(set: RowSet): { from: number; to: number } | undefined {
  const first = set.findIndex((bits) => bits !== 0);
  if (first < 0) return undefined;
  const last = set.findLastIndex((bits) => bits !== 0);
  const [low, high] = [set[first] as number, set[last] as number];
  return { from: first * 8 + 31 - Math.clz32(low & -low), to: last * 8 + 31 - Math.clz32(high) };
}
