import { useRef } from 'preact/hooks';
import type { Fault } from '../client/fault-places.ts';
import { Field } from '../ui/field.tsx';
import { formatCount } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { texts } from '../ui/texts.ts';
import type { Draft } from './draft.ts';
import { labelOf, type Program } from './program.ts';

const { newBatch: words } = texts;

/** A longer text is not shown: the field would be slow. */
const maxShownCharacters = 100_000;

interface Props {
  readonly draft: Draft;
  readonly program: Program | undefined;
  readonly faults: readonly Fault[];
  readonly change: (part: Partial<Draft>) => void;
}

/** Takes a program as a file or as a text, and says what it is. */
export function ProgramPart({ draft: { text, fileName }, program, faults, change }: Props) {
  const fileField = useRef<HTMLInputElement>(null);
  const read = async (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) change({ text: await file.text(), fileName: file.name });
  };
  const textField = (
    <Field label={words.text} place={['body', 'sequence_builder']} faults={faults} wide>
      {text.length > maxShownCharacters ? (
        <input readOnly value={`${fileName ?? words.text}: ${formatCount(text.length)} ${words.characters}`} />
      ) : (
        <textarea
          class="code"
          rows={program === undefined ? 4 : 6}
          spellcheck={false}
          value={text}
          placeholder={words.placeholder}
          onInput={(event) => change({ text: event.currentTarget.value, fileName: undefined })}
          onDrop={(event) => {
            if (event.dataTransfer?.files.length === 0) return;
            event.preventDefault();
            void read(event.dataTransfer?.files);
          }}
        />
      )}
    </Field>
  );
  return (
    <section class="card" aria-labelledby="program-title">
      <div class="bar">
        <h2 id="program-title">{words.program}</h2>
        <div class="actions push">
          <input
            ref={fileField}
            class="unseen"
            type="file"
            aria-label={words.file}
            tabIndex={-1}
            accept=".json,application/json"
            onChange={(event) => void read(event.currentTarget.files)}
          />
          <button type="button" class="tiny" onClick={() => fileField.current?.click()}>
            <Icon name="upload" />
            {words.choose}
          </button>
          {text !== '' && (
            <button type="button" class="tiny" onClick={() => change({ text: '', fileName: undefined })}>
              {words.clear}
            </button>
          )}
        </div>
      </div>
      {program === undefined ? (
        <>
          <p class="aside">{words.programHint}</p>
          {textField}
        </>
      ) : (
        <>
          <ProgramFacts program={program} fileName={fileName} />
          {!program.isPulser && <p class="notice">{words.notPulser}</p>}
          <details open={faults.some(({ loc }) => loc[1] === 'sequence_builder')}>
            <summary>{words.showText}</summary>
            {textField}
          </details>
        </>
      )}
    </section>
  );
}

function ProgramFacts({ program, fileName }: { readonly program: Program; readonly fileName: string | undefined }) {
  const { name, deviceName, qubits, operations, variables, isPulser } = program;
  const facts = [
    deviceName !== undefined && words.facts.madeFor(deviceName),
    qubits !== undefined && words.facts.atoms(formatCount(qubits)),
    operations !== undefined && words.facts.operations(formatCount(operations)),
    isPulser && variables.length === 0 && words.facts.noVariables,
  ].filter((fact) => fact !== false);
  return (
    <p class="program-facts clamped">
      {(name ?? fileName) !== undefined && (
        <strong>
          <bdi>{name ?? fileName}</bdi>
        </strong>
      )}
      {name !== undefined && fileName !== undefined && (
        <span class="aside">
          <bdi>{fileName}</bdi>
        </span>
      )}
      {facts.map((fact) => (
        <bdi key={fact} class="aside">
          {fact}
        </bdi>
      ))}
      {isPulser && variables.length > 0 && (
        <span class="aside">
          {words.facts.variables} <code>{variables.map(labelOf).join(', ')}</code>
        </span>
      )}
    </p>
  );
}
