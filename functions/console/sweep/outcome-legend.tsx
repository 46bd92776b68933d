import { useState } from 'preact/hooks';
import { cutMiddle } from '../ui/cut-text.ts';
import { onSubmit } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { texts } from '../ui/texts.ts';
import { maxCurves, readOutcome } from './measures.ts';

const { sweep: words } = texts;

type Outcome = readonly string[];

interface Props {
  readonly outcomes: readonly Outcome[];
  /** The most frequent bitstrings, to choose from. */
  readonly offered: readonly string[];
  /** One outcome at a time: the colors mean something else. */
  readonly isSingle: boolean;
  readonly change: (outcomes: readonly Outcome[]) => void;
}

/** The outcomes that a figure has curves of, each a sum of bitstrings. */
export function OutcomeLegend({ outcomes, offered, isSingle, change }: Props) {
  const [isOpen, setOpen] = useState(false);
  const hasRoom = isSingle || outcomes.length < maxCurves;
  const add = (text: string) => {
    const outcome = readOutcome(text);
    if (outcome === undefined) return false;
    const name = outcome.join('+');
    const others = isSingle ? [] : outcomes.filter((each) => each.join('+') !== name);
    change([...others, outcome]);
    setOpen(false);
    return true;
  };
  return (
    <ul class="sweep-legend">
      {outcomes.map((bits, at) => {
        const name = bits.join(' + ');
        return (
          <li key={name}>
            {!isSingle && <Dot series={at + 1} />}
            <span class="bits" title={name}>
              {cutMiddle(name, 40)}
            </span>
            <Ket bits={bits[0] ?? ''} />
            {!isSingle && (
              <button
                type="button"
                class="quiet tiny"
                aria-label={`${words.remove} ${name}`}
                onClick={() => change(outcomes.filter((_, other) => other !== at))}
              >
                <Icon name="cross" />
              </button>
            )}
          </li>
        );
      })}
      {hasRoom && (
        <li>
          {isOpen ? (
            <AddOutcome offered={offered} add={add} close={() => setOpen(false)} />
          ) : (
            <button type="button" class="quiet tiny" onClick={() => setOpen(true)}>
              <Icon name="plus" />
              {isSingle ? words.other : words.add}
            </button>
          )}
        </li>
      )}
    </ul>
  );
}

export function Dot({ series }: { readonly series: number }) {
  return (
    <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
      <circle class={`f${series}`} cx="5" cy="5" r="4" />
    </svg>
  );
}

/** A bitstring as atoms: full dots are excited ones. */
function Ket({ bits }: { readonly bits: string }) {
  if (bits.length > 12 || !/^[01]+$/.test(bits)) return null;
  return (
    <svg class="ket" width={bits.length * 10} height="8" aria-hidden="true">
      {Array.from(bits, (bit, at) => (
        <circle key={at} class={bit === '1' ? 'atom one' : 'atom'} cx={at * 10 + 5} cy="4" r="3" />
      ))}
    </svg>
  );
}

interface AddProps {
  readonly offered: readonly string[];
  /** False where it is no bitstring. */
  readonly add: (text: string) => boolean;
  readonly close: () => void;
}

function AddOutcome({ offered, add, close }: AddProps) {
  const [isWrong, setWrong] = useState(false);
  return (
    <form
      class="bar"
      onSubmit={onSubmit((form) => setWrong(!add(String(new FormData(form).get('bits')))))}
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <input
        name="bits"
        list="sweep-outcomes"
        class="bits"
        autocomplete="off"
        aria-label={words.bitstring}
        aria-invalid={isWrong ? 'true' : undefined}
        placeholder={words.bitstringHint}
        ref={(input) => input?.focus()}
        onInput={() => setWrong(false)}
      />
      <datalist id="sweep-outcomes">
        {offered.map((bits) => (
          <option key={bits} value={bits} />
        ))}
      </datalist>
      <button type="submit" class="tiny">
        {words.addIt}
      </button>
      <button type="button" class="quiet tiny" onClick={close}>
        {texts.common.cancel}
      </button>
    </form>
  );
}
