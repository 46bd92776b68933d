import { Wide } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { type Point, project, type Register as RegisterOf, rangeOf } from './qubit-places.ts';

const { register: words } = texts;

/** The drawing is so wide, in its own units. It grows with the screen up to 28 rem. */
const width = 360;
const maxHeight = 320;
const margin = 28;

/** Names of more qubits than these would cover each other. */
const maxNames = 60;

/** Rows of the table of places. */
const maxRows = 500;

/** Qubits as points with their names, and the traps around them. */
export function Register({ register }: { readonly register: RegisterOf }) {
  const { qubits, traps, is3D, isUnmapped } = register;
  const placed = [...qubits, ...traps].map((point) => project(point, is3D));
  const [left, right] = rangeOf(placed.map(([x]) => x));
  const [low, high] = rangeOf(placed.map(([, y]) => y));
  const scale = Math.min((width - 2 * margin) / (right - left), (maxHeight - 2 * margin) / (high - low), 40);
  const height = (high - low) * scale + 2 * margin + 20;
  const begin = (width - (right - left) * scale) / 2;
  const at = (point: Point): [number, number] => {
    const [x, y] = project(point, is3D);
    return [begin + (x - left) * scale, margin + (high - y) * scale];
  };
  const radius = Math.min(8, Math.max(2, 60 / Math.sqrt(qubits.length)));
  return (
    <figure class="register">
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summaryOf(register)}>
        {traps.map((trap, index) => {
          const [x, y] = at(trap);
          return <circle key={index} class="trap" cx={x} cy={y} r="1.5" />;
        })}
        {qubits.map((qubit) => {
          const [x, y] = at(qubit);
          return (
            <g key={qubit.id}>
              <title>{`${qubit.id}: ${placeOf(qubit, is3D)}`}</title>
              <circle class="qubit" cx={x} cy={y} r={radius} />
              {qubits.length <= maxNames && (
                <text x={x} y={y + radius + 11} text-anchor="middle">
                  {qubit.id.length > 8 ? `${qubit.id.slice(0, 7)}…` : qubit.id}
                </text>
              )}
            </g>
          );
        })}
        <Rule scale={scale} y={height - 8} />
      </svg>
      <figcaption class="aside">
        {summaryOf(register)}
        {is3D && ` ${words.fromAside}`}
        {isUnmapped && ` ${words.unmapped}`}
      </figcaption>
      {qubits.length > 0 && <Places register={register} />}
    </figure>
  );
}

function summaryOf({ qubits, traps }: RegisterOf): string {
  const layout = traps.length > 0 ? `, ${formatCount(traps.length)} ${words.traps}` : '';
  return `${formatCount(qubits.length)} ${words.qubits}${layout}.`;
}

function placeOf({ x, y, z }: Point, is3D: boolean): string {
  return `${[x, y, ...(is3D ? [z] : [])].map((each) => Number(each.toFixed(3))).join(', ')} µm`;
}

/** A rule of a round length. */
function Rule({ scale, y }: { readonly scale: number; readonly y: number }) {
  const length = [200, 100, 50, 20, 10, 5, 2, 1].find((each) => each * scale <= width / 3);
  if (length === undefined) return null;
  return (
    <>
      <line class="axis" x1="8" x2={8 + length * scale} y1={y} y2={y} />
      <text x={14 + length * scale} y={y + 4}>
        {length} µm
      </text>
    </>
  );
}

function Places({ register: { qubits, is3D } }: { readonly register: RegisterOf }) {
  return (
    <details>
      <summary>{words.places}</summary>
      <Wide label={words.places}>
        <table>
          <tbody>
            {qubits.slice(0, maxRows).map((qubit) => (
              <tr key={qubit.id}>
                <th scope="row">
                  <bdi>{qubit.id}</bdi>
                </th>
                <td class="number">{placeOf(qubit, is3D)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </details>
  );
}
