import { useState } from 'preact/hooks';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import type { JobDraft } from './cell-values.ts';
import type { Variable } from './program.ts';
import { type Axis, axisValues, emptyAxis, maxJobs, type Swept, sweepRows, sweptOf } from './sweep.ts';

const { sweep: words } = texts.newBatch;

interface Props {
  readonly variables: readonly Variable[];
  readonly jobs: readonly JobDraft[];
  readonly change: (jobs: readonly JobDraft[]) => void;
}

/** Makes a row for each value of one variable, or for each pair of values of two. */
export function SweepMaker({ variables, jobs, change }: Props) {
  const [axes, setAxes] = useState<readonly Axis[]>([emptyAxis]);
  const offered = sweptOf(variables);
  if (offered.length === 0) return null;
  const chosen = axes.map(({ of }, at) => offered.find(({ label }) => label === of) ?? offered[at] ?? offered[0]!);
  const made = rowsOf(jobs[0]!, axes, chosen);
  const isBegun = axes.every(({ from, to, steps, list }) => [from, to, steps, list ?? ''].join('') !== '');
  const set = (at: number, part: Partial<Axis>) => setAxes(axes.with(at, { ...axes[at]!, ...part }));
  const make = () => {
    if ('rows' in made) change(made.rows);
  };
  return (
    <fieldset
      class="maker"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        // Enter would send the batch.
        event.preventDefault();
        make();
      }}
    >
      <legend class="unseen">{words.title}</legend>
      {axes.map((axis, at) => (
        <AxisFields
          key={at}
          axis={axis}
          at={at}
          swept={chosen[at]!}
          offered={offered}
          set={(part) => set(at, part)}
          action={
            at === axes.length - 1 && (
              <button type="button" disabled={!('rows' in made)} onClick={make}>
                {'rows' in made ? words.make(formatCount(made.rows.length)) : words.makeAny}
              </button>
            )
          }
        />
      ))}
      <p class="hint" role="status">
        {isBegun && 'problem' in made ? <span class="fault">{made.problem}</span> : words.hint}{' '}
        {axes.map((axis, at) => (
          <button
            key={at}
            type="button"
            class="link"
            aria-label={words.ofAxis(axis.list === undefined ? words.byList : words.byRange, at)}
            onClick={() => set(at, { list: axis.list === undefined ? '' : undefined })}
          >
            {axis.list === undefined ? words.byList : words.byRange}
          </button>
        ))}
        {offered.length > 1 && (
          <button
            type="button"
            class="link"
            onClick={() => setAxes(axes.length === 1 ? [...axes, emptyAxis] : axes.slice(0, 1))}
          >
            {axes.length === 1 ? words.second : words.onlyOne}
          </button>
        )}
      </p>
    </fieldset>
  );
}

function AxisFields({
  axis,
  at,
  swept,
  offered,
  set,
  action,
}: {
  readonly axis: Axis;
  readonly at: number;
  readonly swept: Swept;
  readonly offered: readonly Swept[];
  readonly set: (part: Partial<Axis>) => void;
  readonly action: preact.ComponentChildren;
}) {
  const field = (name: 'from' | 'to' | 'steps' | 'list', label: string) => (
    <label class={name === 'list' ? 'axis-list' : undefined}>
      {label}
      <input
        aria-label={words.ofAxis(label, at)}
        inputMode={name === 'list' ? 'text' : name === 'steps' ? 'numeric' : 'decimal'}
        autocomplete="off"
        value={axis[name] ?? ''}
        onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
      />
    </label>
  );
  return (
    <div class="axis">
      <label class="axis-of">
        {at === 0 ? words.variable : words.and}
        <select
          aria-label={words.ofAxis(words.variable, at)}
          value={swept.label}
          onChange={({ currentTarget }) => set({ of: currentTarget.value })}
        >
          {offered.map(({ label }) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      </label>
      {axis.list === undefined ? (
        <>
          {field('from', words.from)}
          {field('to', words.to)}
          {field('steps', words.steps)}
        </>
      ) : (
        field('list', words.values)
      )}
      {action}
    </div>
  );
}

type Made = { readonly rows: readonly JobDraft[] } | { readonly problem: string };

function rowsOf(base: JobDraft, axes: readonly Axis[], chosen: readonly Swept[]): Made {
  if (new Set(chosen.map(({ label }) => label)).size < chosen.length) return { problem: words.same };
  const filled: { swept: Swept; values: readonly string[] }[] = [];
  for (const [at, axis] of axes.entries()) {
    const read = axisValues(axis, chosen[at]!.variable.type);
    if ('problem' in read) return read;
    filled.push({ swept: chosen[at]!, values: read.values });
  }
  const count = filled.reduce((product, { values }) => product * values.length, 1);
  if (count > maxJobs) return { problem: words.tooMany(formatCount(count)) };
  return { rows: sweepRows(base, filled) };
}
