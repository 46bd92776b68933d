import { figure } from './figure.ts';
import type { RequestResult } from './measure-requests.ts';
import { textTable } from './text-table.ts';
import { verdict } from './units.ts';

/**
 * What writes and small reads cost, with their budget, and what the same writes cost on behalf of
 * an event.
 */
export function requestTable(size: number, results: readonly RequestResult[]): string {
  const headings = ['WCU', 'RCU', 'calls', 'depth', 'budget', '', 'by event: WCU', 'RCU', 'calls'];
  const rows = results.map(({ name, cost, withEvent, ...judgement }) => [
    name,
    figure(cost.writeUnits),
    figure(cost.readUnits),
    figure(cost.calls),
    figure(cost.depth),
    ...verdict(judgement),
    figure(withEvent?.writeUnits),
    figure(withEvent?.readUnits),
    figure(withEvent?.calls),
  ]);
  return textTable([`writes at ${size} batches`, ...headings], rows);
}
