/** The days and months of a usage report. All are in UTC, as the report has them. */

export interface UsageRange {
  /** The first and the last day: `2026-11-01`. */
  readonly from: string;
  readonly to: string;
  /** What a bar of the figure is. */
  readonly period: 'day' | 'month';
}

const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' });
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const shortMonth = new Intl.DateTimeFormat('en-GB', { month: 'short', year: '2-digit', timeZone: 'UTC' });

/** `2 Nov`; of a month `Nov 26`. */
export function shortPeriod(period: string): string {
  return (period.length === 7 ? shortMonth : shortDay).format(new Date(period));
}

/** The ranges that are offered: this month, the one before, and a year by its months. */
export function usualRanges(now: Date, year: string): readonly (UsageRange & { readonly name: string })[] {
  const [first, before] = [firstOf(now), firstOf(now, 1)];
  const lastDay = dayText(new Date(first.getTime() - 86_400_000));
  return [
    { name: monthName.format(now), from: dayText(first), to: dayText(now), period: 'day' },
    { name: monthName.format(before), from: dayText(before), to: lastDay, period: 'day' },
    { name: year, ...lastYear(now) },
  ];
}

/** Twelve months, this one included. */
export function lastYear(now: Date): UsageRange {
  return { from: dayText(firstOf(now, 11)), to: dayText(now), period: 'month' };
}

function firstOf(now: Date, monthsBack = 0): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, 1));
}

/** What a range is where the address leaves out some of it: as the API has it. */
export function rangeOf(parameters: URLSearchParams, now: Date): UsageRange {
  const to = parameters.get('to') ?? dayText(now);
  const from = parameters.get('from') ?? `${to.slice(0, 7)}-01`;
  return { from, to, period: parameters.get('period') === 'month' ? 'month' : 'day' };
}

/** At most as many days as a report may have. */
const maxPeriods = 367;

/** Each period from the first to the last, in their order: `2026-11-22`, or `2026-11`. */
export function periodsOf({ from, to, period }: UsageRange): readonly string[] {
  const length = period === 'month' ? 7 : 10;
  const periods: string[] = [];
  for (let next = from.slice(0, length); next <= to.slice(0, length) && periods.length < maxPeriods; ) {
    periods.push(next);
    const date = new Date(next);
    if (period === 'month') date.setUTCMonth(date.getUTCMonth() + 1);
    else date.setUTCDate(date.getUTCDate() + 1);
    next = dayText(date).slice(0, length);
  }
  return periods;
}

/** The first and the last day of a month, for a look at its days. */
export function daysOf(month: string): UsageRange {
  const next = new Date(month);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return { from: `${month}-01`, to: dayText(new Date(next.getTime() - 86_400_000)), period: 'day' };
}

function dayText(date: Date): string {
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}
