import { useMemo } from 'preact/hooks';
import { download, Pre } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import type { JsonObject } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import { Pulses } from './pulses.tsx';
import { readRegister } from './qubit-places.ts';
import { readSequence } from './readable-sequence.ts';
import { Register } from './register.tsx';
import { schedule } from './timeline.ts';

const { sequence: words } = texts;

/** A longer text is shown in part: the browser would be busy with it. */
const maxShown = 200_000;

interface Props {
  readonly text: string;
  /** Values of its variables. */
  readonly given: JsonObject;
  /** Of the file that it can be saved as. */
  readonly name: string;
}

/** A sequence: its qubits as points, its pulses as curves, and its text. */
export function SequenceView({ text, given, name }: Props) {
  const values = JSON.stringify(given);
  const drawing = useMemo(() => {
    const sequence = readSequence(text);
    if (sequence === undefined) return undefined;
    return { register: readRegister(sequence, given), timeline: schedule(sequence, given) };
    // Answers bring the same values as new objects.
  }, [text, values]);
  return (
    <>
      {drawing === undefined ? (
        <p>{words.notJson}</p>
      ) : (
        <div class="drawing">
          {drawing.register !== undefined && <Register register={drawing.register} />}
          <div>
            <Pulses timeline={drawing.timeline} />
          </div>
        </div>
      )}
      <details>
        <summary>{words.text}</summary>
        <div class="actions">
          <button type="button" onClick={() => download(`${name}.json`, 'application/json', text)}>
            {words.download}
          </button>
          {text.length > maxShown && (
            <span class="aside">
              {words.shown} {formatCount(maxShown)} {words.of} {formatCount(text.length)}.
            </span>
          )}
        </div>
        <Pre text={text.slice(0, maxShown)} />
      </details>
    </>
  );
}
