/** A usage report by what it is split by: sums for the table, layers for the figure. */

import type { UsageReport } from '../../schemas/usage.ts';
import { formatCount, formatSeconds } from '../ui/format.ts';

type Amounts = UsageReport['total'];
type Row = UsageReport['rows'][number];

export const measures = ['device_seconds', 'jobs', 'shots', 'batches'] as const;
export type Measure = (typeof measures)[number];

/** What is used by one user, project or device in the whole time. */
export interface UsageSum extends Amounts {
  readonly key: string;
}

/** The sums of rows with one key, those with most of the measure first. */
export function sumsBy(rows: readonly Row[], keyOf: (row: Row) => string, by: Measure): UsageSum[] {
  const groups = Map.groupBy(rows, keyOf);
  const sums = Array.from(groups, ([key, own]) => {
    const sum = (of: (row: Amounts) => number) => own.reduce((all, row) => all + of(row), 0);
    return {
      key,
      batches: sum(({ batches }) => batches),
      jobs: sum(({ jobs }) => jobs),
      jobs_per_status: {
        DONE: sum(({ jobs_per_status }) => jobs_per_status.DONE),
        ERROR: sum(({ jobs_per_status }) => jobs_per_status.ERROR),
        CANCELED: sum(({ jobs_per_status }) => jobs_per_status.CANCELED),
      },
      shots: sum(({ shots }) => shots),
      device_seconds: sum(({ device_seconds }) => device_seconds),
    };
  });
  return sums.sort((one, other) => other[by] - one[by] || (one.key < other.key ? -1 : 1));
}

/** One color of the figure. */
export interface Layer {
  /** Undefined: all that have no color of their own. */
  readonly key: string | undefined;
  readonly total: number;
  /** In each period. */
  readonly values: readonly number[];
}

/** Of a chart: the sixth color is that of all others. */
const maxLayers = 5;

/** The greatest five, and what all others have together; what has nothing has no layer. */
export function layersOf(
  rows: readonly Row[],
  periods: readonly string[],
  keyOf: (row: Row) => string,
  measure: Measure,
): Layer[] {
  const keys = sumsBy(rows, keyOf, measure).filter((sum) => sum[measure] > 0);
  const own = keys.slice(0, maxLayers).map(({ key }) => key);
  const layer = (key: string | undefined): Layer => {
    const values = new Map(periods.map((period) => [period, 0]));
    for (const row of rows) {
      const known = keyOf(row);
      const isOwn = key === undefined ? !own.includes(known) : known === key;
      const before = values.get(row.period);
      if (isOwn && before !== undefined) values.set(row.period, before + row[measure]);
    }
    return { key, total: [...values.values()].reduce((a, b) => a + b, 0), values: [...values.values()] };
  };
  return [...own.map(layer), ...(keys.length > own.length ? [layer(undefined)] : [])];
}

const units = [
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const;

/** The unit in which the highest of these seconds is at least 1, or seconds. */
export function unitOfSeconds(most: number): (typeof units)[number] {
  return units.find(([, seconds]) => most >= seconds) ?? units[2];
}

/** `72 h`, `1 h 5 min`; counts as they are. Reports have hours, and no days. */
export function formatAmount(measure: Measure, amount: number): string {
  if (measure !== 'device_seconds') return formatCount(amount);
  return amount < 172_770 ? formatSeconds(amount) : `${formatCount(Math.round(amount / 3_600))} h`;
}
