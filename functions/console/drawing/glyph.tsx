import type { Shape } from './glyph-shape.ts';

/** A bitstring in the shape of its register: full dots are 1, small ones 0. */
export function Glyph({ bits, shape: { spots, radius } }: { readonly bits: string; readonly shape: Shape }) {
  return (
    <>
      {spots.map(([x, y], at) =>
        bits[at] === '1' ? (
          <circle key={at} class="fx" cx={x} cy={y} r={radius} />
        ) : (
          <circle key={at} class="trap" cx={x} cy={y} r={radius / 2} />
        ),
      )}
    </>
  );
}
