import { NoValue } from '../../pulser/parameter-values.ts';
import { texts } from '../ui/texts.ts';

const { sequence: words } = texts;

/** Something cannot be drawn as it is; the message says what. */
export class NotDrawn extends Error {}

/** What stopped a drawing, in words. Throws any other error again. */
export function whyNotDrawn(error: unknown): string {
  if (error instanceof NotDrawn) return error.message;
  // Expressions that are nested without end.
  if (error instanceof RangeError) return words.noTerm;
  if (!(error instanceof NoValue)) throw error;
  const { reason, subject } = error;
  return subject === undefined ? words[reason] : `${words[reason]} ${subject}.`;
}
