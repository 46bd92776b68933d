import type { PageResult } from './measure-pages.ts';
import { textTable } from './text-table.ts';

/** The CPU time of a page without the SDK. */
export function pageTable(size: number, results: readonly PageResult[]): string {
  const rows = results.map(({ name, cpuMilliseconds, bytes }) => [
    name,
    cpuMilliseconds.toFixed(2),
    (bytes / 1000).toFixed(1),
  ]);
  return textTable([`a page of ${size} batches`, 'CPU ms outside the SDK', 'kB'], rows);
}
