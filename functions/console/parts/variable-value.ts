import { formatNumber } from '../ui/format.ts';

/**
 * The value of a variable as people read it: numbers with six significant digits, cut after `max`
 * characters.
 */
export function shortValue(value: unknown, max = 40): string {
  const text = wordsOf(value);
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function wordsOf(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value);
  // A variable of one number may be sent as a list of one.
  if (Array.isArray(value) && value.length === 1) return wordsOf(value[0]);
  if (Array.isArray(value)) return `[${value.map(wordsOf).join(', ')}]`;
  return JSON.stringify(value);
}
