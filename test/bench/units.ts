import type { Cost } from '../support/measured-client.ts';

export type Units = Pick<Cost, 'calls' | 'depth' | 'readUnits' | 'writeUnits'>;

/** Of several runs of the same, the most of each unit. */
export function dearest(costs: readonly Units[]): Units {
  const most = (what: keyof Units) => Math.max(...costs.map((cost) => cost[what]));
  return { calls: most('calls'), depth: most('depth'), readUnits: most('readUnits'), writeUnits: most('writeUnits') };
}

/** Of several runs, the mean of each unit. */
export function mean(costs: readonly Units[]): Units {
  const meanOf = (what: keyof Units) => costs.reduce((sum, cost) => sum + cost[what], 0) / costs.length;
  return {
    calls: meanOf('calls'),
    depth: meanOf('depth'),
    readUnits: meanOf('readUnits'),
    writeUnits: meanOf('writeUnits'),
  };
}

/** The budget, if there is one, and whether the cost keeps it. */
export function judge(budget: Partial<Units> | undefined, cost: Partial<Units>) {
  if (budget === undefined) return {};
  const met = Object.entries(budget).every(([what, most]) => (cost[what as keyof Units] ?? Number.NaN) <= most);
  return { budget, met };
}

const labels = { writeUnits: 'WCU', readUnits: 'RCU', calls: 'calls', depth: 'deep' };

/** A budget as the tables show it, and whether it was met. */
export function verdict({ budget, met }: { readonly budget?: Partial<Units>; readonly met?: boolean }): string[] {
  const limits = Object.entries(budget ?? {}).map(([what, most]) => `${most} ${labels[what as keyof Units]}`);
  return [limits.join(', '), met === undefined ? '' : met ? 'met' : 'MISSED'];
}
