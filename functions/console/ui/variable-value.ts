import { cutEnd } from './cut-text.ts';
import { formatNumber } from './format.ts';

/**
 * The value of a variable as people read it: numbers with six significant digits, cut after `max`
 * characters.
 */
export function shortValue(value: unknown, max = 40): string {
  return cutEnd(wordsOf(value), max);
}

function wordsOf(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value);
  // A variable of one number may be sent as a list of one.
  if (Array.isArray(value) && value.length === 1) return wordsOf(value[0]);
  if (Array.isArray(value)) return `[${value.map(wordsOf).join(', ')}]`;
  return JSON.stringify(value);
}
