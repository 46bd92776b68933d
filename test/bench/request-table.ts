import { figure } from './figure.ts';
import type { RequestResult } from './measure-requests.ts';
import { textTable } from './text-table.ts';

/**
 * What writes and small reads cost, with their budget, and what the same writes cost on behalf of
 * an event.
 */
export function requestTable(size: number, results: readonly RequestResult[]): string {
  const headings = ['WCU', 'RCU', 'calls', 'depth', 'budget', '', 'by event: WCU', 'RCU', 'calls'];
  const rows = results.map(({ name, cost, budget, met, withEvent }) => [
    name,
    figure(cost.writeUnits),
    figure(cost.readUnits),
    figure(cost.calls),
    figure(cost.depth),
    Object.entries(budget ?? {})
      .map(([what, most]) => `${most} ${labels[what as keyof typeof labels]}`)
      .join(', '),
    met === undefined ? '' : met ? 'met' : 'MISSED',
    figure(withEvent?.writeUnits),
    figure(withEvent?.readUnits),
    figure(withEvent?.calls),
  ]);
  return textTable([`writes at ${size} batches`, ...headings], rows);
}

const labels = { writeUnits: 'WCU', readUnits: 'RCU', calls: 'calls', depth: 'deep' };
