/** The counter of a results document: how often each bitstring was measured. */

export interface Count {
  readonly bits: string;
  readonly count: number;
}

/** The counts of a document, most frequent first; undefined where it has no counter. */
export function readCounter(document: unknown): readonly Count[] | undefined {
  const { counter } = (document ?? {}) as { readonly counter?: unknown };
  if (typeof counter !== 'object' || counter === null || Array.isArray(counter)) return undefined;
  const counts = Object.entries(counter).map(([bits, count]) => ({ bits, count }));
  if (counts.length === 0 || !counts.every(({ count }) => Number.isFinite(count) && count >= 0)) return undefined;
  return counts.sort((a, b) => b.count - a.count || compare(a.bits, b.bits));
}

export const orders = ['frequent', 'bits'] as const;
export type Order = (typeof orders)[number];

export function order(counts: readonly Count[], by: Order): readonly Count[] {
  return by === 'frequent' ? counts : counts.toSorted((a, b) => compare(a.bits, b.bits));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function totalOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** The most frequent counts, in an order, and the sum of the rest. */
export function barsOf(
  counts: readonly Count[],
  by: Order,
  max = 64,
): { readonly bars: readonly Count[]; readonly others: number } {
  return { bars: order(counts.slice(0, max), by), others: totalOf(counts.slice(max)) };
}

/** As RFC 4180 has it. Spreadsheets keep the zeros of a text's beginning. */
export function csvOf(counts: readonly Count[]): string {
  const lines = counts.map(({ bits, count }) => `"${bits.replaceAll('"', '""')}",${count}`);
  return ['bitstring,count', ...lines, ''].join('\r\n');
}
