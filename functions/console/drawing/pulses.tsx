import { formatCount } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { rangeOf } from './qubit-places.ts';
import { lineOf, type Timeline, type Track } from './timeline.ts';

const { pulses: words } = texts;

/** Rows of the table of pulses. */
const maxRows = 200;

/** The pulses of each channel as curves against time, and what they leave out. */
export function Pulses({ timeline }: { readonly timeline: Timeline }) {
  const { tracks, nanoseconds, drawn, operations, problem, notes } = timeline;
  const shown = tracks.filter(({ pulses }) => pulses.length > 0);
  return (
    <>
      {problem !== undefined && (
        <p class="notice">
          {problem} {words.upTo} {formatCount(drawn)} {words.of} {formatCount(operations)}.
        </p>
      )}
      {shown.map((track) => (
        <Curves key={track.name} track={track} nanoseconds={nanoseconds} />
      ))}
      {shown.length === 0 && problem === undefined && <p>{words.none}</p>}
      {shown.length > 0 &&
        notes.map((note) => (
          <p key={note} class="aside">
            {note}
          </p>
        ))}
      {shown.length > 0 && <PulseTable tracks={shown} />}
    </>
  );
}

function Curves({ track, nanoseconds }: { readonly track: Track; readonly nanoseconds: number }) {
  const { name, id, pulses } = track;
  const hasAmplitude = pulses.some(({ amplitude }) => amplitude.some((value) => value !== 0));
  return (
    <figure class="curves">
      <figcaption>
        <bdi>{name}</bdi> <span class="aside">{id}</span>
      </figcaption>
      {hasAmplitude && <Curve track={track} of="amplitude" nanoseconds={nanoseconds} />}
      <Curve track={track} of="detuning" nanoseconds={nanoseconds} />
      <div class="scale">
        <span>0 ns</span>
        <span>{formatCount(nanoseconds)} ns</span>
      </div>
    </figure>
  );
}

function Curve({
  track: { name, pulses },
  of,
  nanoseconds,
}: {
  readonly track: Track;
  readonly of: 'amplitude' | 'detuning';
  readonly nanoseconds: number;
}) {
  const line = lineOf(pulses, of, nanoseconds);
  const values = line.map(([, value]) => value);
  const [low, high] = rangeOf(values);
  const range = high - low || 1;
  const y = (value: number) => 4 + ((high - value) / range) * 92;
  const path = line.map(
    ([x, value], at) => `${at === 0 ? 'M' : 'L'}${rounded((x / nanoseconds) * 1_000)} ${rounded(y(value))}`,
  );
  return (
    <div class="curve">
      <div class="scale">
        <span>{number(high)}</span>
        <span>
          {words[of]} <span class="aside">rad/µs</span>
        </span>
        <span>{low < high && number(low)}</span>
      </div>
      <svg
        class="chart"
        viewBox="0 0 1000 100"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${words[of]}, ${name}: ${number(low)} … ${number(high)} rad/µs`}
      >
        <path class="area" d={`${path.join('')}L1000 ${y(0)}L0 ${y(0)}Z`} />
        <line class="axis" x1="0" x2="1000" y1={y(0)} y2={y(0)} />
        <path class={`line ${of}`} d={path.join('')} />
      </svg>
    </div>
  );
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function number(value: number): string {
  return String(Number(value.toPrecision(4)));
}

interface Row {
  readonly track: Track;
  readonly pulse: Track['pulses'][number];
}

const columns: readonly Column<Row>[] = [
  [words.columns.channel, ({ track }) => <bdi>{track.name}</bdi>],
  [words.columns.from, ({ pulse }) => formatCount(pulse.from), 'number'],
  [words.columns.to, ({ pulse }) => formatCount(pulse.to), 'number'],
  [words.columns.phase, ({ pulse }) => number(pulse.phase), 'number'],
  [
    words.columns.targets,
    ({ track, pulse }) => <bdi>{track.isLocal ? pulse.targets.join(', ') : words.all}</bdi>,
    'text',
  ],
];

function PulseTable({ tracks }: { readonly tracks: readonly Track[] }) {
  const pulses = tracks
    .flatMap((track) => track.pulses.map((pulse) => ({ track, pulse })))
    .sort((a, b) => a.pulse.from - b.pulse.from);
  return (
    <details>
      <summary>{words.table}</summary>
      <Table label={words.table} columns={columns} rows={pulses.slice(0, maxRows)} keyOf={(_, at) => at} />
      {pulses.length > maxRows && (
        <p class="aside">
          {words.first} {formatCount(maxRows)} {words.of} {formatCount(pulses.length)}.
        </p>
      )}
    </details>
  );
}
