import { cutEnd } from '../ui/cut-text.ts';
import { formatCount, formatShare } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { type Point, project, type Register as RegisterOf, rangeOf } from './qubit-places.ts';

const { register: words } = texts;

/** The drawing is so wide, in its own units. It shrinks where there is less room. */
const width = 320;
const maxHeight = 300;
const margin = 30;

/** At the sides where each atom has its share at its right: `100 %` is as long. */
const marginOfShares = 50;

/** Names of more qubits than these would cover each other. */
const maxNames = 60;

/** Of more qubits, pairs are not compared: the browser would be busy with them. */
const maxCompared = 500;

/** Rows of the table of places. */
const maxRows = 500;

/** Parts of the scale that shows how fills and shares belong together. */
const rampParts = 20;

interface Props {
  readonly register: RegisterOf;
  /** How often each qubit was excited, from 0 to 1, in the order of the register. */
  readonly excitation?: readonly number[] | undefined;
}

/**
 * Qubits as atoms with their names, and the traps around them; or each filled by how often it was
 * excited.
 */
export function Register({ register, excitation: given }: Props) {
  const { qubits, is3D, isUnmapped } = register;
  const excitation = given?.length === qubits.length ? given : undefined;
  return (
    <div class="register">
      <Atoms register={register} excitation={excitation} />
      {excitation !== undefined && <Ramp />}
      <p class="aside">
        {summaryOf(register)}
        {is3D && ` ${words.fromAside}`}
        {isUnmapped && ` ${words.unmapped}`}
      </p>
      {qubits.length > 0 && <Places register={register} excitation={excitation} />}
    </div>
  );
}

function Atoms({ register, excitation }: Props) {
  const { qubits, traps, is3D } = register;
  const placed = [...qubits, ...traps].map((point) => project(point, is3D));
  const [left, right] = rangeOf(placed.map(([x]) => x));
  const [low, high] = rangeOf(placed.map(([, y]) => y));
  const side = excitation === undefined ? margin : marginOfShares;
  const scale = Math.min((width - 2 * side) / (right - left), (maxHeight - 2 * margin) / (high - low), 40);
  const height = (high - low) * scale + 2 * margin + 24;
  const begin = (width - (right - left) * scale) / 2;
  const at = (point: Point): readonly [number, number] => {
    const [x, y] = project(point, is3D);
    return [begin + (x - left) * scale, margin + (high - y) * scale];
  };
  const spots = qubits.map(at);
  const nearest = distanceOf(spots);
  const radius = Math.min(15, Math.max(2.5, 0.25 * nearest));
  const hasText = excitation === undefined ? qubits.length <= maxNames : nearest >= 38;
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={labelOf(register, excitation)}>
      <Bonds qubits={qubits} spots={spots} />
      {traps.map((trap, index) => {
        const [x, y] = at(trap);
        return <circle key={index} class="trap" cx={x} cy={y} r="2" />;
      })}
      {qubits.map((qubit, index) => {
        const [x, y] = spots[index]!;
        const share = excitation?.[index];
        return (
          <g key={qubit.id}>
            <title>{titleOf(qubit, is3D, share)}</title>
            <circle class="under" cx={x} cy={y} r={radius + 1} />
            <circle class="atom" cx={x} cy={y} r={radius} />
            {share !== undefined && <circle class="fx" fill-opacity={share.toFixed(3)} cx={x} cy={y} r={radius} />}
            {hasText && share !== undefined && (
              <text class="qubit" x={x + 0.8 * radius} y={y + radius + 10}>
                {percent(share)}
              </text>
            )}
            {hasText && share === undefined && (
              <text class="qubit mid" x={x} y={y + radius + 12}>
                {cutEnd(qubit.id, 8)}
              </text>
            )}
          </g>
        );
      })}
      <Rule scale={scale} y={height - 10} />
    </svg>
  );
}

/** Lines between nearest neighbors: they show the lattice. */
function Bonds({
  qubits,
  spots,
}: {
  readonly qubits: readonly Point[];
  readonly spots: readonly (readonly [number, number])[];
}) {
  if (qubits.length > maxNames) return null;
  const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
  const pairs = qubits.flatMap((one, at) =>
    qubits.slice(at + 1).map((other, after) => [at, at + 1 + after, distance(one, other)] as const),
  );
  const [nearest] = rangeOf(pairs.map(([, , length]) => length));
  return (
    <>
      {pairs.flatMap(([at, other, length]) => {
        if (length > 1.02 * nearest) return [];
        const [[x1, y1], [x2, y2]] = [spots[at]!, spots[other]!];
        return [<line key={`${at} ${other}`} class="bond" x1={x1} y1={y1} x2={x2} y2={y2} />];
      })}
    </>
  );
}

/** Between the nearest two, on the drawing. */
function distanceOf(spots: readonly (readonly [number, number])[]): number {
  if (spots.length > maxCompared) return width / Math.sqrt(spots.length) / 2;
  const distances = spots.flatMap(([x, y], at) =>
    spots.slice(at + 1).map((other) => Math.hypot(x - other[0], y - other[1])),
  );
  return Math.min(width / 3, rangeOf(distances)[0]);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function titleOf(qubit: RegisterOf['qubits'][number], is3D: boolean, share: number | undefined): string {
  const place = `${qubit.id}: ${placeOf(qubit, is3D)}`;
  return share === undefined ? place : `${place}; ${words.excited(percent(share))}`;
}

function labelOf(register: RegisterOf, excitation: readonly number[] | undefined): string {
  if (excitation === undefined) return summaryOf(register);
  const [least, most] = rangeOf(excitation);
  return `${summaryOf(register)} ${words.between(percent(least), percent(most))}`;
}

function summaryOf({ qubits, traps }: RegisterOf): string {
  const layout = traps.length > 0 ? `, ${formatCount(traps.length)} ${words.traps}` : '';
  return `${formatCount(qubits.length)} ${qubits.length === 1 ? words.qubit : words.qubits}${layout}.`;
}

function placeOf({ x, y, z }: Point, is3D: boolean): string {
  return `${[x, y, ...(is3D ? [z] : [])].map((each) => Number(each.toFixed(3))).join(', ')} µm`;
}

/** A rule of a round length. */
function Rule({ scale, y }: { readonly scale: number; readonly y: number }) {
  const length = [200, 100, 50, 20, 10, 5, 2, 1].find((each) => each * scale <= width / 3);
  if (length === undefined) return null;
  const end = 10 + length * scale;
  return (
    <>
      <path class="axis" d={`M10 ${y}H${end}M10 ${y - 4}v8M${end} ${y - 4}v8`} />
      <text x={end + 7} y={y + 4}>
        {length} µm
      </text>
    </>
  );
}

function Ramp() {
  const step = 100 / rampParts;
  return (
    <div class="ramp">
      <span>0</span>
      <svg role="img" aria-label={words.scale}>
        {Array.from({ length: rampParts }, (_, at) => (
          <rect
            key={at}
            class="fx"
            fill-opacity={(at / (rampParts - 1)).toFixed(2)}
            x={`${at * step}%`}
            width={`${step + 0.2}%`}
            height="8"
          />
        ))}
      </svg>
      <span>{words.all}</span>
    </div>
  );
}

interface Row {
  readonly id: string;
  readonly place: string;
  readonly share: number | undefined;
}

function Places({ register: { qubits, is3D }, excitation }: Props) {
  const columns: readonly Column<Row>[] = [
    [words.columns.qubit, ({ id }) => <bdi>{id}</bdi>],
    [words.columns.place, ({ place }) => place, 'number'],
    ...(excitation === undefined
      ? []
      : [[words.columns.excited, ({ share = 0 }: Row) => formatShare(share), 'number'] as const]),
  ];
  const rows = qubits.slice(0, maxRows).map((qubit, at) => {
    return { id: qubit.id, place: placeOf(qubit, is3D), share: excitation?.[at] };
  });
  return (
    <details>
      <summary>{words.places}</summary>
      <Table label={words.places} columns={columns} rows={rows} keyOf={({ id }) => id} />
      {qubits.length > maxRows && (
        <p class="aside">
          {words.first} {formatCount(maxRows)} {words.of} {formatCount(qubits.length)}.
        </p>
      )}
    </details>
  );
}
