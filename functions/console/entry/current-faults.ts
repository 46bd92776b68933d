/** Which faults hold for what is in a form now, while people type. */

import type { Fault } from '../client/fault-places.ts';
import { textOf } from './cell-values.ts';
import { type Draft, placesOfForm } from './draft.ts';
import { columnOf, jobOf } from './fault-groups.ts';

/** What a check answered, and the draft that it looked at. */
interface Checked {
  readonly verdict: { readonly faults: readonly Fault[] };
  readonly draft: Draft;
}

/**
 * The faults to show: `own` are the texts that are no values, `checked` is the last check.
 * `isInsisted` shows empty cells as faults, too: someone has asked for a check.
 */
export function currentFaults(
  draft: Draft,
  own: readonly Fault[],
  checked: Checked | undefined,
  isInsisted: boolean,
): readonly Fault[] {
  const found = own.filter((fault) => isInsisted || isTyped(fault, draft));
  return checked === undefined ? found : [...found, ...stillThere(checked, draft)];
}

/** An empty cell and a missing program are no faults before someone asks for a check. */
function isTyped(fault: Fault, { jobs, text }: Draft): boolean {
  const job = jobs[jobOf(fault) ?? -1];
  if (job === undefined) return text.trim() !== '';
  return textOf(job, columnOf(fault)).trim() !== '';
}

/** The faults of a check, where rows and members are as they were then. */
function stillThere({ verdict, draft: then }: Checked, now: Draft): readonly Fault[] {
  return placesOfForm(verdict.faults, then).filter((fault) => {
    const job = jobOf(fault);
    if (job !== undefined) return then.jobs[job] === now.jobs[job];
    const member = String(fault.loc[1]) as keyof Draft | 'sequence_builder';
    const name = member === 'sequence_builder' ? 'text' : member;
    return !(name in then) || then[name] === now[name];
  });
}
