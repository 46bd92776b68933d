import { figure } from './figure.ts';
import type { RequestResult } from './measure-requests.ts';
import { textTable } from './text-table.ts';
import { verdict } from './units.ts';

/**
 * Write units a second of one partition. A user's columns are one, as are the rows of each table.
 */
const partitionUnits = 1_000;

/**
 * What writes and small reads cost, with their budget, and what the same writes cost on behalf of
 * an event; and how many a second one partition would bear if it had to bear all of their units.
 */
export function requestTable(size: number, results: readonly RequestResult[]): string {
  const headings = ['WCU', 'RCU', 'calls', 'depth', 'budget', '', 'a second', 'by event: WCU', 'RCU', 'calls'];
  const rows = results.map(({ name, cost, withEvent, ...judgement }) => [
    name,
    figure(cost.writeUnits),
    figure(cost.readUnits),
    figure(cost.calls),
    figure(cost.depth),
    ...verdict(judgement),
    cost.writeUnits ? String(Math.floor(partitionUnits / cost.writeUnits)) : '',
    figure(withEvent?.writeUnits),
    figure(withEvent?.readUnits),
    figure(withEvent?.calls),
  ]);
  return textTable([`writes at ${size} batches`, ...headings], rows);
}
