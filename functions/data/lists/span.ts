/**
 * Sequence numbers from one row to another, or numbers of blocks, both inclusive; none where `to`
 * is less than `from`.
 */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What is in both. */
export function overlap(a: Span, b: Span): Span {
  return { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
}

/**
 * The same numbers in as few spans as possible, ascending. With a `maxStep` above 1, spans that are
 * this close are joined with the numbers between them.
 */
export function joinSpans(spans: readonly Span[], maxStep = 1): Span[] {
  const joined: { from: number; to: number }[] = [];
  const ascending = spans.filter(({ from, to }) => from <= to).sort((a, b) => a.from - b.from);
  for (const { from, to } of ascending) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.to + maxStep) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** These numbers in spans, as joinSpans joins them. */
export function spansOf(numbers: readonly number[], maxStep?: number): Span[] {
  return joinSpans(
    numbers.map((number) => ({ from: number, to: number })),
    maxStep,
  );
}
