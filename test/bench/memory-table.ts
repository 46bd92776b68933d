import type { MemoryResult } from './measure-memory.ts';
import { textTable } from './text-table.ts';

export function memoryTable(size: number, results: readonly MemoryResult[]): string {
  const rows = results.map(({ name, bytes }) => [name, (bytes / 2 ** 20).toFixed(0)]);
  return textTable([`a query of ${size} batches`, 'MB of memory at its peak'], rows);
}
