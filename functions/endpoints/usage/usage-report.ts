/** The two forms of a report of usage: JSON and CSV. Numbers have all their digits. */

import type { UsageSum } from '../../data/limits/read-usage.ts';
import { type Reply, success } from '../../http/reply.ts';

interface UsageRows {
  readonly groups: readonly string[];
  readonly rows: readonly UsageSum[];
  /** What users are called, by their ids: for operators who ask for rows by user. */
  readonly names?: ReadonlyMap<string, string>;
}

/** The place of the user in a row: the period comes first. */
const userOf = ({ groups }: UsageRows, { place }: UsageSum) => place[1 + groups.indexOf('user_id')]!;

export function jsonReport(report: UsageRows, total: UsageSum['amounts'] = {}): Reply {
  const { groups, rows, names } = report;
  const shown = rows.map((row) => ({
    period: row.place[0],
    ...Object.fromEntries(groups.map((name, at) => [name, row.place[1 + at]])),
    ...(names && { user_name: names.get(userOf(report, row)) ?? null }),
    ...shownAmounts(row.amounts),
  }));
  return success({ rows: shown, total: shownAmounts(total) });
}

function shownAmounts(amounts: UsageSum['amounts']) {
  const { batches, jobs, jobs_done: DONE, jobs_error: ERROR, jobs_canceled: CANCELED, ...rest } = texts(amounts);
  const raw = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, JSON.rawJSON(text)]));
  return { ...raw({ batches, jobs }), jobs_per_status: raw({ DONE, ERROR, CANCELED }), ...raw(rest) };
}

/** In the order of the CSV's columns. */
function texts({
  batches = 0n,
  jobs_done = 0n,
  jobs_error = 0n,
  jobs_canceled = 0n,
  shots = 0n,
  device_us = 0n,
}: UsageSum['amounts']) {
  return {
    batches: String(batches),
    jobs: String(jobs_done + jobs_error + jobs_canceled),
    jobs_done: String(jobs_done),
    jobs_error: String(jobs_error),
    jobs_canceled: String(jobs_canceled),
    shots: String(shots),
    device_seconds: secondsText(device_us),
  };
}

/** Seconds as a decimal number, without zeros at its end. */
function secondsText(microseconds: bigint): string {
  const digits = String(microseconds < 0n ? -microseconds : microseconds).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${microseconds < 0n ? '-' : ''}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Names come last: the columns of before keep their places. */
export function csvReport(report: UsageRows): Reply {
  const { groups, rows, names } = report;
  const header = ['period', ...groups, ...Object.keys(texts({})), ...(names ? ['user_name'] : [])];
  const lines = [
    header.join(),
    ...rows.map((row) => {
      const name = names && [csvCell(names.get(userOf(report, row)) ?? '')];
      // Numbers stay numbers, also below zero.
      return [...row.place.map(csvCell), ...Object.values(texts(row.amounts)), ...(name ?? [])].join();
    }),
  ];
  return {
    body: lines.map((line) => `${line}\r\n`).join(''),
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': 'attachment; filename="usage.csv"',
    },
  };
}

/** Spreadsheets run cells that begin so, unless an apostrophe comes before. */
function csvCell(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Whether the caller would rather have CSV than JSON. */
export function prefersCsv({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }): boolean {
  const accept = Object.entries(headers).find(([name]) => name.toLowerCase() === 'accept')?.[1] ?? '';
  const weightOf = (type: string) => {
    const range = new RegExp(`(?:^|,)\\s*${type}\\s*(?:;[^,]*?\\bq=([\\d.]+)|[;,]|$)`, 'i').exec(accept);
    return range === null ? 0 : Number(range[1] ?? 1);
  };
  return weightOf('text/csv') > weightOf('application/json');
}
