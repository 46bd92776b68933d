/** How numbers and times look. Times are shown in the reader's zone. */

const count = new Intl.NumberFormat('en');
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export function formatCount(value: number): string {
  return count.format(value);
}

/** The API's times are UTC, some without a zone. */
export function dateOf(time: string): Date {
  return new Date(/Z|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`);
}

export function formatTime(time: string): string {
  return dateTime.format(dateOf(time));
}

/** A time as `datetime-local` fields hold it: in the reader's zone, by the minute. */
export function toField(time: string): string {
  const date = dateOf(time);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time that such a field holds, in UTC; empty where it holds none. */
export function fromField(value: string): string {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `3 minutes ago`, `in 2 hours`. */
export function formatAgo(time: string, now = Date.now()): string {
  const seconds = Math.round((dateOf(time).getTime() - now) / 1_000);
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? units[units.length - 1]!;
  return relative.format(Math.trunc(seconds / length), unit);
}

/** `1 h 5 min`, `42 s`, `2 d`: the two largest units that are not zero. */
export function formatSeconds(seconds: number): string {
  if (seconds < 59.5) return `${seconds < 9.95 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return pair(minutes, 'min', whole % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return pair(hours, 'h', minutes % 60, 'min');
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function pair(many: number, unit: string, few: number, smaller: string): string {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${smaller}`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const clockWithSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/**
 * A time as lists show it: `14:20` today, `Sun 18:22` within six days, `21 Nov 09:05` this year,
 * `21 Nov 2024` before. Times to come look the same.
 */
export function formatMoment(time: string, now = new Date()): string {
  const date = dateOf(time);
  if (date.toDateString() === now.toDateString()) return clock.format(date);
  if (Math.abs(now.getTime() - date.getTime()) < 6 * 86_400_000) return `${weekday.format(date)} ${clock.format(date)}`;
  if (date.getFullYear() === now.getFullYear()) return `${day.format(date)} ${clock.format(date)}`;
  return dayOfYear.format(date);
}

/** Milliseconds since 1970. */
export function timeOf(time: string): number {
  return dateOf(time).getTime();
}

/** `14:20`. */
export function formatTimeOfDay(time: Date): string {
  return clock.format(time);
}

const weekdayAndDay = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });

/** From one time to another: `Tue 24 Nov, 08:00 – 09:00`; on another day that is named, too. */
export function formatSpan(start: string, end: string): string {
  const [from, to] = [dateOf(start), dateOf(end)];
  const dayOf = (date: Date) => weekdayAndDay.format(date).replace(',', '');
  const first = `${dayOf(from)}, ${clock.format(from)}`;
  return from.toDateString() === to.toDateString()
    ? `${first} – ${clock.format(to)}`
    : `${first} – ${dayOf(to)}, ${clock.format(to)}`;
}

/** The time of day, with seconds. */
export function formatClock(time: string): string {
  return clockWithSeconds.format(dateOf(time));
}

/** `21 Nov 2024, 14:20:05`. */
export function formatDayAndClock(time: string): string {
  return `${dayOfYear.format(dateOf(time))}, ${formatClock(time)}`;
}

/** A number with `digits` significant digits, without the zeros behind them: `3.4`, `1.25e−7`. */
export function formatNumber(value: number, digits = 6): string {
  return String(Number(value.toPrecision(digits))).replaceAll('-', '−');
}

/** A share from 0 to 1: `12.3 %`. */
export function formatShare(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A share from 0 to 1, of what is not known to the thousandth: `67 %`. */
export function formatPercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
