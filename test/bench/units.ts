import type { Cost } from '../support/measured-client.ts';

export type Units = Pick<Cost, 'calls' | 'depth' | 'readUnits' | 'writeUnits'>;

/** The most units that a call may cost. */
export type Budget = Partial<Units>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (place: number) => sorted[Math.floor(place)] ?? Number.NaN;
  return (at((sorted.length - 1) / 2) + at(sorted.length / 2)) / 2;
}

/** The mean of each unit over several runs. */
export function mean(costs: readonly Units[]): Units {
  return each((unit) => costs.reduce((sum, cost) => sum + cost[unit], 0) / costs.length);
}

/** The maximum of each unit over several runs. */
export function maximum(costs: readonly Units[]): Units {
  return each((unit) => Math.max(...costs.map((cost) => cost[unit])));
}

/** What exceeds its budget, such as `12 writeUnits instead of 10`. */
export function excesses(cost: Budget, budget: Budget | undefined): string[] {
  return Object.entries(budget ?? {}).flatMap(([unit, limit]) => {
    const value = cost[unit as keyof Units] ?? Number.NaN;
    return value <= limit ? [] : [`${value} ${unit} instead of ${limit}`];
  });
}

function each(unitOf: (unit: keyof Units) => number): Units {
  const [calls, depth] = [unitOf('calls'), unitOf('depth')];
  return { calls, depth, readUnits: unitOf('readUnits'), writeUnits: unitOf('writeUnits') };
}
