/** Failed jobs among many are seen, too: a part that exists has at least this share of the bar. */
const leastShare = 0.06;

const order = ['DONE', 'ERROR', 'CANCELED', 'CANCELING', 'RUNNING'] as const;

export type Counts = Readonly<Partial<Record<string, number>>>;

/**
 * Jobs by status as parts of a bar: done, failed, canceled, running; what waits is the ground. The
 * parts of 1 in their order.
 */
export function partsOf(counts: Counts): { readonly status: string; readonly share: number }[] {
  const total = Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0);
  const shown = order.filter((status) => (counts[status] ?? 0) > 0);
  const wanted = shown.map((status) => Math.max(leastShare, counts[status]! / total));
  const waits = (counts.PENDING ?? 0) > 0 ? leastShare : 0;
  const sum = wanted.reduce((all, share) => all + share, 0);
  // What the small ones take, the others give.
  const scale = sum > 1 - waits ? (1 - waits) / sum : 1;
  return shown.map((status, at) => ({ status, share: wanted[at]! * scale }));
}
