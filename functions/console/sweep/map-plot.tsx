import { type Axis, axisOf, indexOfLeast, placeOn } from '../ui/axis.ts';
import { cutEnd } from '../ui/cut-text.ts';
import { type AxisTitle, type Guide, PlotFrame, percent } from '../ui/plot-frame.tsx';
import { PlotReach } from '../ui/plot-reach.tsx';
import { statusWord } from '../ui/status-looks.ts';
import { texts } from '../ui/texts.ts';
import { formatEstimate } from './curve-plot.tsx';
import { type Field, type PlottedJob, placesOf, sidesOf } from './curves.ts';

const { sweep: words } = texts;

/** The palest field of a map: it is still one. */
const palest = 0.05;
const ramp = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** A job without a value, at its place. */
interface EmptyField {
  readonly x: number;
  readonly y: number;
  readonly job: PlottedJob;
}

interface MapProps {
  readonly fields: readonly Field[];
  readonly empty: readonly EmptyField[];
  readonly xTitle: AxisTitle;
  readonly yTitle: AxisTitle;
  /** Rows have names instead of numbers, the first on top. */
  readonly rows?: readonly string[] | undefined;
  /** What full color means: the measure, in words. */
  readonly valueName: string;
  readonly isShare: boolean;
  readonly isNumbered: boolean;
  readonly description: string;
  readonly marked: { readonly job: string; readonly row: number } | undefined;
  readonly mark: (job: string | undefined, row: number) => void;
  readonly open: (jobId: string) => void;
  readonly whereOf: (field: EmptyField) => string;
}

/** A map over two axes: the fuller a field's color, the higher its value. */
export function MapPlot(props: MapProps) {
  const { fields, empty, rows, isShare, description, marked, mark, open, xTitle, yTitle } = props;
  const all: readonly (EmptyField & Partial<Field>)[] = [...fields, ...empty].sort(
    (a, b) => (rows === undefined ? a.y - b.y : b.y - a.y) || a.x - b.x,
  );
  const across = sidesOf(all.map((each) => each.x));
  const up = sidesOf(all.map((each) => each.y));
  const x = within(
    axisOf(
      all.map((each) => each.x),
      5,
      props.isNumbered ? 1 : 0,
    ),
    across,
  );
  const y =
    rows === undefined
      ? within(
          axisOf(
            all.map((each) => each.y),
            4,
          ),
          up,
        )
      : rowAxis(rows);
  const highest = fields.reduce((most, { value }) => Math.max(most, value), 0);
  const most = isShare ? axisOf([0, highest * 100], 4).greatest / 100 : axisOf([0, highest], 4).greatest;
  const at = all.findIndex(({ job, y: row }) => job.id === marked?.job && (rows === undefined || row === marked.row));
  const guide = guideOf(props, all[at], x, y);
  const go = (to: number) => mark(all[to]?.job.id, all[to]?.y ?? 0);
  const nearest = (left: number, top: number) =>
    indexOfLeast(all.map((each) => Math.hypot(placeOn(x, each.x) - left, 1 - placeOn(y, each.y) - top)));
  return (
    <div class="sweep-plot">
      <PlotFrame {...{ x, xTitle, y, yTitle, description, guide }} hasLine={false}>
        {[...placesOf(fields), ...empty].map((each) => (
          <FieldRect
            key={`${each.job.id} ${each.y}`}
            field={each}
            sides={[across, up]}
            axes={[x, y]}
            most={most}
            isMarked={each.x === all[at]?.x && each.y === all[at]?.y}
          />
        ))}
        <Scale most={most} isShare={isShare} />
      </PlotFrame>
      <PlotReach
        label={words.guide}
        count={all.length}
        at={at}
        text={guide === undefined ? words.unmarked : guide.lines.map(({ text }) => text).join(', ')}
        mark={go}
        nearest={nearest}
        beside={(from, step) => rowBeside(all, y, from, step)}
        open={(to) => all[to] !== undefined && open(all[to].job.id)}
      />
    </div>
  );
}

function guideOf(
  props: MapProps,
  field: (EmptyField & Partial<Field>) | undefined,
  x: Axis,
  y: Axis,
): Guide | undefined {
  if (field === undefined) return undefined;
  const { valueName, rows, isShare, whereOf } = props;
  const { value, error = 0, job } = field;
  const name = rows === undefined ? valueName : (rows[field.y] ?? '');
  const text = value === undefined ? statusWord(job.status) : `${name}: ${formatEstimate({ value, error }, isShare)}`;
  return { x: placeOn(x, field.x), y: 1 - placeOn(y, field.y), lines: [{ text: whereOf(field) }, { text }] };
}

/** The nearest field in the next row above or below. */
function rowBeside(all: readonly EmptyField[], y: Axis, from: number, step: 1 | -1): number {
  const start = all[from] ?? all[0]!;
  const far = (each: EmptyField) => (placeOn(y, each.y) - placeOn(y, start.y)) * step;
  const beyond = all.filter((each) => far(each) > 1e-9);
  const row = beyond.reduce((least, each) => Math.min(least, far(each)), Number.POSITIVE_INFINITY);
  const inRow = beyond.filter((each) => far(each) === row);
  const best = inRow.toSorted((a, b) => Math.abs(a.x - start.x) - Math.abs(b.x - start.x))[0];
  return best === undefined ? from : all.indexOf(best);
}

type Sides = ReturnType<typeof sidesOf>;

/** The ticks of an axis that lie within the fields: a map has no margin. */
function within({ ticks }: Axis, sides: Sides): Axis {
  const all = [...sides.values()];
  const least = all[0]?.[0] ?? 0;
  const greatest = all.at(-1)?.[1] ?? 1;
  return { least, greatest, ticks: ticks.filter(({ value }) => value >= least && value <= greatest) };
}

/** Rows from above, each with its name where there is room. */
function rowAxis(rows: readonly string[]): Axis {
  const step = Math.ceil(rows.length / 16);
  const ticks = rows.flatMap((label, value) => (value % step === 0 ? [{ value, label: cutEnd(label, 6) }] : []));
  return { least: rows.length - 0.5, greatest: -0.5, ticks };
}

interface FieldProps {
  readonly field: EmptyField & Partial<Field>;
  readonly sides: readonly [Sides, Sides];
  readonly axes: readonly [Axis, Axis];
  readonly most: number;
  readonly isMarked: boolean;
}

function FieldRect({ field, sides: [across, up], axes: [x, y], most, isMarked }: FieldProps) {
  const [left, right] = across.get(field.x)!.map((side) => placeOn(x, side)) as [number, number];
  const rows = up.get(field.y)!.map((side) => 1 - placeOn(y, side));
  const top = Math.min(...rows);
  const look = field.value === undefined ? (field.job.status === 'ERROR' ? 'field failed' : 'field empty') : 'field';
  return (
    <rect
      class={isMarked ? `${look} marked` : look}
      x={percent(left)}
      width={percent(right - left)}
      y={percent(top)}
      height={percent(Math.max(...rows) - top)}
      fill-opacity={
        field.value === undefined ? undefined : palest + (1 - palest) * Math.min(1, field.value / (most || 1))
      }
    />
  );
}

/** What the colors mean. */
function Scale({ most, isShare }: { readonly most: number; readonly isShare: boolean }) {
  const width = 18;
  return (
    <svg x="100%" y="0" overflow="visible" aria-hidden="true">
      <text class="end" x={-ramp.length * width - 50} y="-12">
        0
      </text>
      {ramp.map((each, at) => (
        <rect
          key={each}
          class="field"
          x={-(ramp.length - at) * width - 44}
          y="-21"
          width={width}
          height="10"
          fill-opacity={palest + (1 - palest) * each}
        />
      ))}
      <text class="end" x="0" y="-12">
        {isShare ? `${Number((100 * most).toPrecision(3))} %` : Number(most.toPrecision(3))}
      </text>
    </svg>
  );
}
