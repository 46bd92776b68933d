import type { ListResult } from './measure-lists.ts';
import { textTable } from './text-table.ts';

/** What each query of one size costs, beside its budget: units/calls/depth. */
export function listTable(size: number, results: readonly ListResult[]): string {
  const headings = ['matching', 'RCU', 'budget', '', 'calls', 'depth', 'kB', '1 MB pages', 'ms', 'CPU ms'];
  const rows = results.map((result) => [
    result.name,
    String(result.total),
    number(result.readUnits),
    budgetText(result),
    result.met === undefined ? '' : result.met ? 'met' : 'MISSED',
    String(result.calls),
    String(result.depth),
    number(result.bytes / 1000),
    String(result.pages),
    number(result.milliseconds),
    number(result.cpuMilliseconds),
  ]);
  return textTable([`${size} batches`, ...headings], rows);
}

/** The same queries answered in other ways. */
export function comparisonTable(size: number, results: readonly ListResult[]): string {
  const headings = [
    ...['RCU', 'depth', 'ms', 'usual: RCU', 'calls', 'depth', 'ms'],
    ...['PostgreSQL: count ms', 'page ms'],
  ];
  const rows = results
    .filter(({ usual, postgres }) => usual !== undefined || postgres !== undefined)
    .map(({ name, readUnits, depth, milliseconds, usual, postgres }) => [
      name,
      number(readUnits),
      String(depth),
      number(milliseconds),
      number(usual?.readUnits),
      number(usual?.calls),
      number(usual?.depth),
      number(usual?.milliseconds),
      number(postgres?.count),
      number(postgres?.page),
    ]);
  return textTable([`${size} batches`, ...headings], rows);
}

/** How much more the largest size costs than the one before it. */
export function listGrowth(results: readonly ListResult[]): string {
  const sizes = [...new Set(results.map((result) => result.size))].sort((a, b) => a - b);
  const [smaller, larger] = sizes.slice(-2);
  if (smaller === undefined || larger === undefined) return '';
  const rows = results
    .filter((result) => result.size === larger)
    .flatMap((result) => {
      const before = results.find(({ size, name }) => size === smaller && name === result.name);
      if (before === undefined) return [];
      return [
        [
          result.name,
          number(before.readUnits),
          number(result.readUnits),
          ratio(result.readUnits, before.readUnits),
          ratio(result.milliseconds, before.milliseconds),
          ratio(result.usual?.readUnits, before.usual?.readUnits),
          ratio(result.usual?.milliseconds, before.usual?.milliseconds),
          ratio(result.postgres?.count, before.postgres?.count),
          ratio(result.postgres?.page, before.postgres?.page),
        ],
      ];
    });
  return textTable(
    [
      `growth from ${smaller} to ${larger}`,
      ...['RCU', 'RCU', 'times', 'ms times', 'usual: RCU times', 'ms times', 'PostgreSQL: count times', 'page times'],
    ],
    rows,
  );
}

function budgetText({ budget }: ListResult): string {
  const { units, calls, depth } = budget ?? { units: undefined };
  if (units === undefined && calls === undefined && depth === undefined) return '';
  return [units ?? '-', calls ?? '-', depth ?? '-'].join('/');
}

function number(value: number | undefined): string {
  if (value === undefined) return '';
  return Number.isInteger(value) || value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function ratio(after: number | undefined, before: number | undefined): string {
  return after === undefined || before === undefined || before === 0 ? '' : (after / before).toFixed(1);
}
