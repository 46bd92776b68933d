import { useRef, useState } from 'preact/hooks';
import type { Drawing } from '../drawing/draw-sequence.ts';
import type { Shape } from '../drawing/glyph-shape.ts';
import { Pulses } from '../drawing/pulses.tsx';
import { Register } from '../drawing/register.tsx';
import { barsOf, type Count, excitationOf, lengthOf, type Order, totalOf } from '../parts/counter.ts';
import { formatCount } from '../ui/format.ts';
import { saveFigure } from '../ui/save-figure.ts';
import { texts } from '../ui/texts.ts';
import { Histogram } from './histogram.tsx';

const { figure: words } = texts;

/** Bars of the figure. Of up to 5 bits all outcomes have one. */
const maxBars = 12;
const maxAllBars = 32;

interface Props {
  /** Outcomes to show, most frequent first; undefined where there are none. */
  readonly counts: readonly Count[] | undefined;
  /** Of the caption: which job it is. */
  readonly title: string;
  /** Whether the job gives values to variables. */
  readonly hasValues: boolean;
  readonly by: Order;
  readonly drawing: Drawing | undefined;
  readonly shape: Shape | undefined;
  /** Of the file that it is saved as. */
  readonly name: string;
  /** Where all outcomes are. */
  readonly showAll: () => void;
}

/** One figure of a job, as in a paper: its outcomes, register and pulses, and what is drawn. */
export function JobFigure({ counts, title, hasValues, by, drawing, shape, name, showAll }: Props) {
  const figure = useRef<HTMLElement>(null);
  const [problem, setProblem] = useState(false);
  const save = (format: 'svg' | 'png') => {
    setProblem(false);
    saveFigure(figure.current!, name, format).catch(() => setProblem(true));
  };
  const register = drawing?.register;
  const excitation = counts === undefined ? undefined : excitationOf(counts);
  const isExcited = excitation !== undefined && excitation.length === register?.qubits.length;
  const { bars, others, shots } = shownOf(counts ?? [], by);
  const panels = [
    ...(counts === undefined ? [] : ['outcomes' as const]),
    ...(register === undefined ? [] : ['register' as const]),
    ...(drawing === undefined ? [] : ['pulses' as const]),
  ];
  if (panels.length === 0) return null;
  const letter = (panel: (typeof panels)[number]) => 'abc'[panels.indexOf(panel)]!;
  return (
    <figure class="card figure" ref={figure}>
      <div class={`panels of-${panels.length}`}>
        {counts !== undefined && (
          <section>
            <Heading letter={letter('outcomes')} text={words.outcomes} />
            <Histogram bars={bars} counts={counts} shape={shape} />
            {others > 0 && (
              <p class="aside">
                {words.others(others, formatCount(shots))}{' '}
                <button type="button" class="link" onClick={showAll}>
                  {words.all(formatCount(counts.length))}
                </button>
              </p>
            )}
          </section>
        )}
        {register !== undefined && (
          <section>
            <Heading letter={letter('register')} text={words.register} />
            <Register register={register} excitation={excitation} />
          </section>
        )}
        {drawing !== undefined && (
          <section>
            <Heading letter={letter('pulses')} text={words.pulses} />
            <Pulses timeline={drawing.timeline} missing={drawing.missing} />
          </section>
        )}
      </div>
      <figcaption>
        <b>
          <bdi>{title}</bdi>
        </b>{' '}
        {counts !== undefined && (
          <>
            ({letter('outcomes')}) {others > 0 ? words.captions.most(bars.length, counts.length) : words.captions.every}{' '}
            {words.captions.shots(totalOf(counts))}{' '}
          </>
        )}
        {register !== undefined && (
          <>
            ({letter('register')}) {isExcited ? words.captions.excited : words.captions.register}{' '}
          </>
        )}
        {drawing !== undefined && (
          <>
            ({letter('pulses')}) {hasValues ? words.captions.pulses : words.captions.fixedPulses}{' '}
          </>
        )}
        <span class="saves">
          <button type="button" class="link" onClick={() => save('svg')}>
            {words.svg}
          </button>
          <span class="unseen"> </span>
          <button type="button" class="link" onClick={() => save('png')}>
            {words.png}
          </button>
        </span>
        {problem && (
          <span class="fault" role="alert">
            {words.notSaved}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function Heading({ letter, text }: { readonly letter: string; readonly text: string }) {
  return (
    <h2 class="panel">
      <b>{letter}</b> {text}
    </h2>
  );
}

function shownOf(counts: readonly Count[], by: Order) {
  const isSmall = counts.length <= maxAllBars && counts.length === 2 ** (lengthOf(counts) ?? Number.NaN);
  return barsOf(counts, by, isSmall ? maxAllBars : maxBars);
}
