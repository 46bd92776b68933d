import { useState } from 'preact/hooks';
import { formatCount } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import type { ChannelBounds } from './channel-bounds.ts';
import { Curves } from './curves.tsx';
import type { Timeline, Track } from './timeline.ts';

const { pulses: words } = texts;

/** Rows of the table of pulses. */
const maxRows = 200;

interface Props {
  readonly timeline: Timeline;
  /** Variables without a value: what needs them is not drawn, and that is no fault. */
  readonly missing?: readonly string[];
  /** The same sequence with other values: in pale lines. */
  readonly others?: readonly Timeline[];
  readonly bounds?: ChannelBounds | undefined;
}

const noOthers: readonly Timeline[] = [];

/** The pulses of each channel as curves against time, and what they leave out. */
export function Pulses({ timeline, missing = [], others = noOthers, bounds }: Props) {
  const { tracks, drawn, operations, problem, notes } = timeline;
  const nanoseconds = Math.max(timeline.nanoseconds, ...others.map((other) => other.nanoseconds));
  const shown = tracks.filter(({ pulses }) => pulses.length > 0);
  const [time, setTime] = useState<number>();
  return (
    <div class="tracks">
      {problem !== undefined &&
        (missing.length > 0 ? (
          <p class="soft">{words.needsValues(missing.slice(0, 8).join(', '))}</p>
        ) : (
          <p class="notice">
            {problem} {words.upTo} {formatCount(drawn)} {words.of} {formatCount(operations)}.
          </p>
        ))}
      {shown.map((track) => (
        <Curves
          key={track.name}
          track={track}
          others={others.flatMap((other) => other.tracks.filter(({ name }) => name === track.name))}
          bounds={bounds}
          nanoseconds={nanoseconds}
          time={time}
          setTime={setTime}
        />
      ))}
      {shown.length === 0 && problem === undefined && <p class="soft">{words.none}</p>}
      {shown.length > 0 &&
        notes.map((note) => (
          <p key={note} class="aside">
            {note}
          </p>
        ))}
      {shown.length > 0 && <PulseTable tracks={shown} />}
    </div>
  );
}

interface Row {
  readonly track: Track;
  readonly pulse: Track['pulses'][number];
}

const columns: readonly Column<Row>[] = [
  [words.columns.channel, ({ track }) => <bdi>{track.name}</bdi>],
  [words.columns.from, ({ pulse }) => formatCount(pulse.from), 'number'],
  [words.columns.to, ({ pulse }) => formatCount(pulse.to), 'number'],
  [words.columns.phase, ({ pulse }) => String(Number(pulse.phase.toPrecision(4))), 'number'],
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
