import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../ui/format.ts';
import type { JsonObject } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import { shortValue } from '../ui/variable-value.ts';
import { drawSequence } from './draw-sequence.ts';
import { Pulses } from './pulses.tsx';
import { Register } from './register.tsx';
import { SequenceText } from './sequence-text.tsx';

const { sequence: words } = texts;

/** Of a job: its place in its batch, from 0, and the values of its variables. */
interface Values {
  readonly creation_order: number;
  readonly variables: JsonObject | null;
}

interface Props {
  readonly text: string;
  /** Values of its variables. */
  readonly given: JsonObject;
  /** Of the file that it can be saved as. */
  readonly name: string;
  /**
   * Jobs that give values where `given` has none: the first one's are drawn, and others can be
   * chosen.
   */
  readonly jobs?: readonly Values[] | undefined;
}

/** A sequence: its qubits as atoms, its pulses as curves, and its text. */
export function SequenceView({ text, given, name, jobs = [] }: Props) {
  const [chosen, choose] = useState(0);
  const job = Object.keys(given).length === 0 ? (jobs[chosen] ?? jobs[0]) : undefined;
  const values = JSON.stringify(job?.variables ?? given);
  // Answers bring the same values as new objects.
  const drawing = useMemo(() => drawSequence(text, JSON.parse(values)), [text, values]);
  const hasChoice = drawing !== undefined && job !== undefined && Object.keys(job.variables ?? {}).length > 0;
  return (
    <>
      {hasChoice && (
        <label class="values">
          {words.valuesOf}
          <select value={jobs.indexOf(job)} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            {jobs.map((each, at) => (
              <option key={at} value={at}>
                {optionOf(each)}
              </option>
            ))}
          </select>
        </label>
      )}
      {drawing === undefined ? (
        <p>{words.noSequence}</p>
      ) : (
        <div class="drawing">
          {drawing.register !== undefined && <Register register={drawing.register} />}
          <Pulses timeline={drawing.timeline} missing={drawing.missing} />
        </div>
      )}
      <SequenceText text={text} name={name} />
    </>
  );
}

function optionOf({ creation_order, variables }: Values): string {
  const values = Object.entries(variables ?? {}).slice(0, 3);
  const list = values.map(([name, value]) => `${name} = ${shortValue(value, 24)}`).join(', ');
  return `${words.job} ${formatCount(creation_order + 1)}${list === '' ? '' : `: ${list}`}`;
}
