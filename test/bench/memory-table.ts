import type { MemoryResult } from './measure-processes.ts';
import { textTable } from './text-table.ts';

export function memoryTable(size: number, results: readonly MemoryResult[]): string {
  const megabytes = (bytes: number | undefined) => (bytes === undefined ? '' : (bytes / 2 ** 20).toFixed(0));
  const rows = results.map(({ name, bytes, besideBytes }) => [name, megabytes(bytes), megabytes(besideBytes)]);
  return textTable([`a query of ${size} batches`, 'MB of memory at its peak', 'the other checkout'], rows);
}
