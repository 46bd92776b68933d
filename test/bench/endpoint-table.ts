import { figure } from './figure.ts';
import type { ClaimRate } from './measure-devices.ts';
import type { EndpointResult } from './measure-endpoints.ts';
import { textTable } from './text-table.ts';
import { verdict } from './units.ts';

/** What the calls of users or devices to single batches and jobs cost. */
export function endpointTable(heading: string, results: readonly EndpointResult[]): string {
  const rows = results.map((result) => {
    const { writeUnits, readUnits, calls, depth } = result.cost;
    return [result.name, ...[writeUnits, readUnits, calls, depth].map(figure), ...verdict(result)];
  });
  return textTable([heading, 'WCU', 'RCU', 'calls', 'depth', 'budget', ''], rows);
}

/** How fast workers claim. */
export function claimTable(rates: readonly ClaimRate[]): string {
  const rows = rates.map(({ workers, claims, claimsPerSecond, lostRaces }) =>
    [workers, claims, Math.round(claimsPerSecond), lostRaces].map(String),
  );
  return textTable(['workers', 'claims', 'claims a second', 'lost races'], rows);
}
