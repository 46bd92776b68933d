/** Which rows of a long table are drawn: hundreds of fields would make each keystroke slow. */

/** A table of at most this number of rows is drawn whole. */
const maxWhole = 24;

/** Rows at the beginning and at the end that are always drawn. */
const edge = [4, 2] as const;

/** Of many rows that are marked, such as by a fault, the first ones. */
const maxMarked = 20;

/** Rows that are drawn once one opens a fold: a longer one opens piece by piece. */
export const pieceRows = 100;

/** Rows from `first` to before `end`; hidden ones are one line. */
interface Stretch {
  readonly first: number;
  readonly end: number;
  readonly isHidden: boolean;
}

/**
 * The rows of a table in stretches. `opened` are the ranges that someone has opened, `marked` the
 * places of rows to be seen.
 */
export function stretchesOf(
  count: number,
  opened: readonly Pick<Stretch, 'first' | 'end'>[],
  marked: readonly number[],
): readonly Stretch[] {
  const shown = new Uint8Array(count);
  const show = (first: number, end: number) => shown.fill(1, Math.max(0, first), Math.max(0, end));
  show(0, count <= maxWhole ? count : edge[0]);
  show(count - edge[1], count);
  for (const { first, end } of opened) show(first, end);
  for (const place of marked.slice(0, maxMarked)) show(place, place + 1);
  const stretches: Stretch[] = [];
  for (let at = 0; at < count; ) {
    const isHidden = shown[at] === 0;
    let end = at + 1;
    while (end < count && (shown[end] === 0) === isHidden) end++;
    // A line for one row would take as much room as the row.
    stretches.push({ first: at, end, isHidden: isHidden && end - at > 1 });
    at = end;
  }
  return stretches;
}
