/**
 * The one form of time in storage and responses: UTC, fixed width, microseconds
 * (`2026-11-21T02:59:36.123000Z`), so that strings sort as times. As a number a time is
 * microseconds since 1970, exact from 1684 to 2255 (2^53 microseconds); what is stored lies between
 * 1970 and 2255.
 */

const dateTime =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?\s*(Z|z|[+\- ]\d{2}(?::?\d{2})?)?)?$/;

/**
 * Reads ISO 8601: with an offset, `Z` or neither (then UTC), 0 to 6 fraction digits, a bare date as
 * midnight. An offset sign that arrived as a space was a `+`. Returns the canonical form, or
 * undefined when it is no time of the years 0001 to 9999.
 */
export function parseTimestamp(text: string): string | undefined {
  const match = dateTime.exec(text.trim());
  if (match === null) return undefined;
  const [, date, hours = '00', minutes = '00', seconds = '00', fraction = '', offset = ''] = match;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return undefined;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const shift = offsetSeconds(offset);
  if (shift === undefined) return undefined;
  const second = midnight + (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) - shift) * 1000;
  if (second < earliest || second > latest) return undefined;
  return `${new Date(second).toISOString().slice(0, 19)}.${fraction.padEnd(6, '0')}Z`;
}

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59Z');

/** Of `Z` no digits are left: zero. */
function offsetSeconds(offset: string): number | undefined {
  const digits = offset.replace(/\D/g, '');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset[0] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Canonical text of a whole number of microseconds since 1970. */
export function fromMicroseconds(value: number): string {
  const milliseconds = Math.floor(value / 1000);
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(value - milliseconds * 1000).padStart(3, '0')}Z`;
}

/** Canonical text of milliseconds since 1970, such as `Date.now()`. */
export function fromMilliseconds(value: number): string {
  return fromMicroseconds(value * 1000);
}

/** Microseconds since 1970 of a canonical text. */
export function toMicroseconds(canonical: string): number {
  return Date.parse(`${canonical.slice(0, 23)}Z`) * 1000 + Number(canonical.slice(23, 26));
}

/** The minute of a time in milliseconds since 1970, in minutes since then. */
export function minuteOf(milliseconds: number): number {
  return Math.floor(milliseconds / 60_000);
}

/** The later of two canonical times. */
export function laterOf(time: string, other: string | undefined): string {
  return other !== undefined && other > time ? other : time;
}

/** The earlier of two canonical times. */
export function earlierOf(time: string, other: string): string {
  return other < time ? other : time;
}

/** The months, as `2026-11`, from one time or day to another, in their order. */
export function monthsOf(from: string, to: string): string[] {
  const monthOf = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1;
  const digits = (number: number, width: number) => String(number).padStart(width, '0');
  return Array.from({ length: monthOf(to) - monthOf(from) + 1 }, (_, at) => {
    const month = monthOf(from) + at;
    return `${digits(Math.floor(month / 12), 4)}-${digits((month % 12) + 1, 2)}`;
  });
}
