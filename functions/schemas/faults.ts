/** Faults that schemas report in pydantic's words. */

import * as z from 'zod/mini';

export interface Fault {
  readonly type: string;
  readonly message: string;
  /** From the value that the schema reads. */
  readonly path: readonly (string | number)[];
}

/** Faults of one body after which no more are looked for: a body of 3 MB can have a million. */
export const maxFaultsCounted = 10_000;

const maxNameCharacters = 256;

/** A name as a fault shows it, shortened: the answer to a large body must not be a larger one. */
export function printable(name: string): string {
  return name.slice(0, maxNameCharacters).toWellFormed();
}

/** Reports a fault, for a transformation that then has no value. */
export function reportFault(
  context: z.core.ParsePayload,
  { type, message, path = [] }: Omit<Fault, 'path'> & Partial<Fault>,
): never {
  context.issues.push({ code: 'custom', params: { type }, path: [...path], message, input: undefined });
  return z.NEVER;
}

/**
 * A check of a whole value, also where parts of it have faults: all faults are reported at once.
 */
export function whole<Value>(faults: (value: unknown) => Iterable<Fault>) {
  const check = z.check<Value>((payload) => {
    let found = 0;
    for (const fault of faults(payload.value)) {
      if (++found > maxFaultsCounted) return;
      reportFault(payload, fault);
    }
  });
  check._zod.def.when = () => true;
  return check;
}
