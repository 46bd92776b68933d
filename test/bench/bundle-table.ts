import type { BundleResult } from './measure-bundles.ts';
import { textTable } from './text-table.ts';

/**
 * Sizes and initialisation times of the functions' bundles, compared with a bundle that only makes
 * the SDK's document client.
 */
export function bundleTable(results: readonly BundleResult[]): string {
  const headings = ['kB', 'at most', 'AWS clients', 'init ms', 'of SDK only', 'at most', '', 'CPU ms', 'of SDK only'];
  const rows = results.map(({ name, bytes, clients, milliseconds, ratio, budget, met, cpuMilliseconds, cpuRatio }) => [
    name,
    (bytes / 1000).toFixed(1),
    budget === undefined ? '' : String(budget.bytes / 1000),
    clients.join(', '),
    milliseconds.toFixed(1),
    ratio.toFixed(2),
    budget === undefined ? '' : String(budget.ratio),
    met === undefined ? '' : met ? 'met' : 'MISSED',
    cpuMilliseconds.toFixed(1),
    cpuRatio.toFixed(2),
  ]);
  return textTable(['bundle', ...headings], rows);
}
