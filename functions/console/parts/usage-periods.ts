/** Sums of a usage report by period, for its bars. */

interface PeriodJobs {
  /** `2026-11-22`, or `2026-11`. */
  readonly period: string;
  readonly jobs: number;
}

/** From the first period to the last, in their order. Where nothing ended, jobs are 0. */
export function jobsByPeriod(rows: readonly PeriodJobs[]): PeriodJobs[] {
  const sums = new Map<string, number>();
  for (const { period, jobs } of rows) sums.set(period, (sums.get(period) ?? 0) + jobs);
  const known = [...sums.keys()].sort();
  const [first, last] = [known[0], known.at(-1)];
  const periods: PeriodJobs[] = [];
  if (first === undefined || last === undefined) return periods;
  for (let period = first; period <= last; period = next(period)) {
    periods.push({ period, jobs: sums.get(period) ?? 0 });
  }
  return periods;
}

function next(period: string): string {
  const date = new Date(period);
  if (period.length === 7) date.setUTCMonth(date.getUTCMonth() + 1);
  else date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, period.length);
}
