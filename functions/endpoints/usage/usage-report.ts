/** The two forms of a report of usage: JSON and CSV. Numbers have all their digits. */

import type { UsageSum } from '../../data/limits/read-usage.ts';
import { type Reply, success } from '../../http/reply.ts';

export function jsonReport(
  groups: readonly string[],
  rows: readonly UsageSum[],
  total: UsageSum['amounts'] = {},
): Reply {
  const shown = rows.map(({ place: [period, ...of], amounts }) => ({
    period,
    ...Object.fromEntries(groups.map((name, at) => [name, of[at]])),
    ...shownAmounts(amounts),
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

export function csvReport(groups: readonly string[], rows: readonly UsageSum[]): Reply {
  const header = ['period', ...groups, ...Object.keys(texts({}))];
  const lines = [
    header.join(),
    // Numbers stay numbers, also below zero.
    ...rows.map(({ place, amounts }) => [...place.map(csvCell), ...Object.values(texts(amounts))].join()),
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
