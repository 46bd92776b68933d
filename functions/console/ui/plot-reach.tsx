import type { TargetedPointerEvent } from 'preact';

interface Props {
  readonly label: string;
  /** How many places there are, and the one that is marked; -1: none. */
  readonly count: number;
  readonly at: number;
  /** What is at the marked place, in words. */
  readonly text: string;
  /** Marks another place. */
  readonly mark: (at: number) => void;
  /** The place that is nearest to a point, from 0 to 1, from the left and from above. */
  readonly nearest: (x: number, y: number) => number;
  /** The place above or below; undefined where the figure has one row. */
  readonly beside?: ((at: number, rows: 1 | -1) => number) | undefined;
  readonly open: (at: number) => void;
}

/**
 * Lies over a figure: the pointer and the arrow keys mark a place in it, and a screen reader hears
 * what is there. Enter or a click opens it.
 */
export function PlotReach({ label, count, at, text, mark, nearest, beside, open }: Props) {
  const placeOf = ({
    currentTarget,
    clientX,
    clientY,
  }: Pick<TargetedPointerEvent<HTMLElement>, 'currentTarget' | 'clientX' | 'clientY'>) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    return nearest((clientX - left) / width, (clientY - top) / height);
  };
  const go = (to: number) => mark(Math.min(count - 1, Math.max(0, to)));
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => go(at + 1),
    ArrowLeft: () => go(at < 0 ? count - 1 : at - 1),
    ArrowUp: () => go(beside === undefined ? at + 1 : beside(at, 1)),
    ArrowDown: () => go(beside === undefined ? at - 1 : beside(at, -1)),
    PageUp: () => go(at + 10),
    PageDown: () => go(at - 10),
    Home: () => go(0),
    End: () => go(count - 1),
    Escape: () => mark(-1),
    Enter: () => at >= 0 && open(at),
  };
  return (
    <div
      class="reach"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={count}
      aria-valuenow={at + 1}
      aria-valuetext={text}
      onKeyDown={(event) => {
        const act = keys[event.key];
        if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act();
      }}
      onPointerMove={(event) => {
        if (event.pointerType !== 'touch') mark(placeOf(event));
      }}
      onClick={(event) => {
        // A finger marks first: it cannot point without a touch.
        const place = placeOf(event);
        if (place === at) open(place);
        else mark(place);
      }}
    />
  );
}
