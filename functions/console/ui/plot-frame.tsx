import type { ComponentChildren } from 'preact';
import { type Axis, placeOn } from './axis.ts';

export interface AxisTitle {
  readonly symbol: string;
  readonly unit?: string | undefined;
  /** It is a variable of physics, not a word. */
  readonly isVariable?: boolean;
}

/** Where the reader is in the figure: a place, and what is there. */
export interface Guide {
  /** From 0 to 1, from the left and from above. */
  readonly x: number;
  readonly y: number;
  /** The most important one first, each with the class of its curve, if it has one. */
  readonly lines: readonly { readonly text: string; readonly look?: string }[];
}

interface Props {
  readonly x: Axis;
  readonly xTitle: AxisTitle;
  readonly y: Axis;
  readonly yTitle: AxisTitle;
  /** What the picture shows, in a sentence. */
  readonly description: string;
  readonly guide: Guide | undefined;
  /** The guide is a line over the whole height. */
  readonly hasLine?: boolean;
  /** In pixels. */
  readonly height?: number;
  readonly children: ComponentChildren;
}

/** A share of the width or height. */
export function percent(share: number): string {
  return `${Math.round(share * 100_000) / 1_000}%`;
}

/**
 * Axes, and a guide with its values. Places are in percent and letters in pixels, so that nothing
 * is scaled: the drawing has no `viewBox`.
 */
export function PlotFrame(props: Props) {
  const { x, xTitle, y, yTitle, description, guide, hasLine = true, height = 376, children } = props;
  const widest = Math.max(...x.ticks.map(({ label }) => label.length));
  const isTight = x.ticks.length * (widest + 2) > 36;
  return (
    <svg class="chart sweep-drawing" height={height} role="img" aria-label={description}>
      {y.ticks.map(({ value, label }) => {
        const place = percent(1 - placeOn(y, value));
        return (
          <g key={value}>
            <line class="grid" x1="0" x2="100%" y1={place} y2={place} />
            <text class="end" x="-10" y={place} dy="4">
              {label}
            </text>
          </g>
        );
      })}
      {x.ticks.map(({ value, label }, at) => (
        <g key={value} class={isTight && at % 2 === 1 ? 'minor' : undefined}>
          <svg x={percent(placeOn(x, value))} y="100%" overflow="visible" aria-hidden="true">
            <line class="axis" y2="4" />
            <text class="mid" y="20">
              {label}
            </text>
          </svg>
        </g>
      ))}
      <line class="axis" x1="0" x2="100%" y1="100%" y2="100%" />
      <text class="axis-title end" x="100%" y="100%" dy="40">
        <Title {...xTitle} />
      </text>
      <text class="axis-title" x="-44" y="-16">
        <Title {...yTitle} />
      </text>
      {guide !== undefined && hasLine && (
        <line class="guide" x1={percent(guide.x)} x2={percent(guide.x)} y1="0" y2="100%" />
      )}
      {children}
      {guide !== undefined && guide.lines.length > 0 && <Tip guide={guide} />}
    </svg>
  );
}

function Title({ symbol, unit, isVariable }: AxisTitle) {
  return (
    <>
      <tspan class={isVariable ? 'var' : undefined}>{symbol}</tspan>
      {unit !== undefined && <tspan dx="4">{`(${unit})`}</tspan>}
    </>
  );
}

/** The values at the guide, on the side where there is room. */
function Tip({ guide: { x, y, lines } }: { readonly guide: Guide }) {
  const width = Math.min(300, Math.max(...lines.map(({ text }) => text.length)) * 6.4 + 36);
  const height = lines.length * 17 + 10;
  const left = x > 0.55 ? -width - 12 : 12;
  return (
    <svg class="tip" x={percent(x)} y={percent(Math.min(0.7, Math.max(0.02, y - 0.15)))} aria-hidden="true">
      <rect class="box" x={left} width={width} height={height} rx="5" />
      {lines.map(({ text, look }, at) => (
        <g key={at}>
          {look !== undefined && <circle class={look} cx={left + 13} cy={at * 17 + 14} r="4" />}
          <text class={at === 0 ? 'first' : undefined} x={left + (look === undefined ? 10 : 23)} y={at * 17 + 18}>
            {text}
          </text>
        </g>
      ))}
    </svg>
  );
}
