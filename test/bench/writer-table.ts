import { figure } from './figure.ts';
import type { WriterResult } from './measure-writers.ts';
import { textTable } from './text-table.ts';

/**
 * How many changes a second writers of one owner get done, and how many transactions in vain each
 * change takes.
 */
export function writerTable(results: readonly WriterResult[]): string {
  const variants = [...new Set(results.flatMap(({ rates }) => Object.keys(rates)))];
  const rows = results.map(({ name, rates }) => [
    name,
    ...variants.flatMap((variant) => {
      const rate = rates[variant];
      return [figure(rate?.changesPerSecond), rate?.conflictsPerChange.toFixed(2) ?? '', figure(rate?.failures)];
    }),
  ]);
  const headings = variants.flatMap((variant) => [`${variant}: a second`, 'conflicts each', 'given up']);
  return textTable(['writers of one owner', ...headings], rows);
}
