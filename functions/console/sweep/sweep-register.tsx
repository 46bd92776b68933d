import { useMemo } from 'preact/hooks';
import { type Point, project, rangeOf, readRegister } from '../drawing/qubit-places.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import type { Count } from '../parts/counter.ts';
import { formatNumber } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { excitations } from './measures.ts';

const { sweep: words } = texts;

/** In pixels: it is as wide as its card at most. */
const width = 344;
const maxHeight = 300;
const margin = 30;

/** Shares of more atoms than these would cover each other. */
const maxNamed = 30;

interface Props {
  readonly sequence: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly counts: readonly Count[] | undefined;
  /** Which job it is. */
  readonly name: string;
}

/** Where atoms are, and how often each was excited in a job. Nothing where that cannot be drawn. */
export function SweepRegister({ sequence, variables, counts, name }: Props) {
  const register = useMemo(() => {
    const read = readSequence(sequence);
    return read === undefined ? undefined : readRegister(read, variables);
  }, [sequence, variables]);
  const atoms = useMemo(() => (counts === undefined ? undefined : excitations(counts)), [counts]);
  if (register === undefined || register.qubits.length === 0) return null;
  const { qubits, traps, is3D } = register;
  const shown = atoms?.length === qubits.length ? atoms : undefined;
  const placed = [...qubits, ...traps].map((point) => project(point, is3D));
  const [left, right] = rangeOf(placed.map(([x]) => x));
  const [low, high] = rangeOf(placed.map(([, y]) => y));
  const scale = Math.min((width - 2 * margin) / (right - left), (maxHeight - 2 * margin) / (high - low), 30);
  const height = (high - low) * scale + 2 * margin;
  const begin = (width - (right - left) * scale) / 2;
  const at = (point: Point): [number, number] => {
    const [x, y] = project(point, is3D);
    return [begin + (x - left) * scale, margin + (high - y) * scale];
  };
  const radius = Math.min(12, Math.max(3, 60 / Math.sqrt(qubits.length)));
  const shares = shown?.map(({ value }) => `${Math.round(100 * value)} %`);
  const description = qubits
    .map(({ id }, index) => `${id}${shares === undefined ? '' : `: ${shares[index]}`}`)
    .join(', ');
  return (
    <figure class="card sweep-register">
      <div class="bar">
        <h2>{words.register}</h2>
        {shown !== undefined && <span class="aside push">{name}</span>}
      </div>
      <svg
        viewBox={`0 0 ${width} ${height + 22}`}
        role="img"
        aria-label={`${words.register}. ${description.slice(0, 2_000)}`}
      >
        {traps.map((trap, index) => {
          const [x, y] = at(trap);
          return <circle key={index} class="trap" cx={x} cy={y} r="1.5" />;
        })}
        {qubits.map((qubit, index) => {
          const [x, y] = at(qubit);
          return (
            <g key={qubit.id}>
              <title>{`${qubit.id}${shares === undefined ? '' : `: ${shares[index]}`}`}</title>
              <circle class="atom" cx={x} cy={y} r={radius} />
              {shown !== undefined && (
                <circle class="atom-fill" cx={x} cy={y} r={radius} fill-opacity={formatNumber(shown[index]!.value)} />
              )}
              {qubits.length <= maxNamed && (
                <text x={x} y={y + radius + 14}>
                  {shares?.[index] ?? (qubit.id.length > 8 ? `${qubit.id.slice(0, 7)}…` : qubit.id)}
                </text>
              )}
            </g>
          );
        })}
        <Rule scale={scale} y={height + 12} />
      </svg>
      {shown !== undefined && <figcaption>{words.fill}</figcaption>}
    </figure>
  );
}

/** A rule of a round length. */
function Rule({ scale, y }: { readonly scale: number; readonly y: number }) {
  const length = [200, 100, 50, 20, 10, 5, 2, 1].find((each) => each * scale <= width / 4);
  if (length === undefined) return null;
  const end = 8 + length * scale;
  return (
    <>
      <path class="rule" d={`M8 ${y}H${end}M8 ${y - 4}v8M${end} ${y - 4}v8`} />
      <text class="start" x={end + 8} y={y + 4}>
        {length} µm
      </text>
    </>
  );
}
