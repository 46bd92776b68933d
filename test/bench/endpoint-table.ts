import { figure } from './figure.ts';
import type { EndpointResult } from './measure-endpoints.ts';
import { textTable } from './text-table.ts';
import { verdict } from './units.ts';

/** What the calls of users to single batches and jobs cost. */
export function endpointTable(results: readonly EndpointResult[]): string {
  const rows = results.map((result) => {
    const { writeUnits, readUnits, calls, depth } = result.cost;
    return [result.name, ...[writeUnits, readUnits, calls, depth].map(figure), ...verdict(result)];
  });
  return textTable(['user endpoints', 'WCU', 'RCU', 'calls', 'depth', 'budget', ''], rows);
}
