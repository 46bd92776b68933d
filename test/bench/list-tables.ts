import { figure } from './figure.ts';
import type { ListResult } from './measure-lists.ts';
import { textTable } from './text-table.ts';

/** Read units a second of one partition, which holds one user's columns. */
const partitionUnits = 3_000;

/**
 * What each query of one size costs, with its budget as units/calls/depth, and how many a second
 * one user may ask for.
 */
export function listTable(size: number, results: readonly ListResult[]): string {
  const headings = ['matching', 'RCU', 'budget', '', 'calls', 'depth', 'kB', '1 MB pages', 'a second'];
  const rows = results.map((result) => [
    result.name,
    String(result.total),
    figure(result.readUnits),
    budgetText(result),
    result.met === undefined ? '' : result.met ? 'met' : 'MISSED',
    String(result.calls),
    String(result.depth),
    figure(result.bytes / 1000),
    String(result.pages),
    String(Math.floor(partitionUnits / result.readUnits)),
  ]);
  return textTable([`${size} batches`, ...headings], rows);
}

/**
 * How long the queries take, and what of that is CPU time; the same of another checkout, and this
 * one's CPU time as a share of that.
 */
export function timesTable(size: number, results: readonly ListResult[]): string {
  const headings = ['ms', 'CPU ms', 'at most', 'garbage ms in that run', 'the other checkout: ms', 'CPU ms', 'times'];
  const rows = results.map(({ name, beside, ...own }) => [
    name,
    figure(own.milliseconds),
    figure(own.cpuMilliseconds),
    figure(own.mostCpuMilliseconds),
    figure(own.garbageMilliseconds),
    figure(beside?.milliseconds),
    figure(beside?.cpuMilliseconds),
    beside?.cpuMilliseconds && own.cpuMilliseconds ? (own.cpuMilliseconds / beside.cpuMilliseconds).toFixed(2) : '',
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
      figure(readUnits),
      String(depth),
      figure(milliseconds),
      figure(usual?.readUnits),
      figure(usual?.calls),
      figure(usual?.depth),
      figure(usual?.milliseconds),
      figure(postgres?.count),
      figure(postgres?.page),
    ]);
  return textTable([`${size} batches`, ...headings], rows);
}

/**
 * A summary of the queries at all sizes: read units, budget, and growth between the two largest
 * sizes. At the largest size it adds the usual way in read units, and PostgreSQL in milliseconds
 * for total and page.
 */
export function listSummary(results: readonly ListResult[]): string {
  const sizes = sizesOf(results);
  const [smaller, larger] = sizes.slice(-2);
  const of = (name: string, size: number | undefined) =>
    results.find((result) => result.name === name && result.size === size);
  const rows = results
    .filter(({ size }) => size === sizes.at(-1))
    .map(({ name, readUnits, calls, depth, usual, postgres }) => [
      name,
      ...sizes.map((size) => {
        const result = of(name, size);
        const units = result?.budget?.units;
        return figure(result?.readUnits) + (units === undefined ? '' : ` / ${units}`);
      }),
      String(calls),
      String(depth),
      ratio(readUnits, larger === undefined ? undefined : of(name, smaller)?.readUnits),
      figure(usual?.readUnits),
      postgres === undefined ? '' : `${figure(postgres.count)} + ${figure(postgres.page)}`,
    ]);
  const headings = [
    ...sizes.map((size) => `RCU / budget at ${size}`),
    ...['calls', 'depth', 'growth', 'usual way: RCU', 'PostgreSQL: ms'],
  ];
  return textTable(['query', ...headings], rows);
}

/** How much more the largest size costs than the one before it. */
export function listGrowth(results: readonly ListResult[]): string {
  const [smaller, larger] = sizesOf(results).slice(-2);
  if (smaller === undefined || larger === undefined) return '';
  const rows = results
    .filter((result) => result.size === larger)
    .flatMap((result) => {
      const before = results.find(({ size, name }) => size === smaller && name === result.name);
      if (before === undefined) return [];
      return [
        [
          result.name,
          figure(before.readUnits),
          figure(result.readUnits),
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

function sizesOf(results: readonly ListResult[]): number[] {
  return [...new Set(results.map((result) => result.size))].sort((a, b) => a - b);
}

function budgetText({ budget }: ListResult): string {
  const { units, calls, depth } = budget ?? { units: undefined };
  if (units === undefined && calls === undefined && depth === undefined) return '';
  return [units ?? '-', calls ?? '-', depth ?? '-'].join('/');
}

function ratio(after: number | undefined, before: number | undefined): string {
  return after === undefined || before === undefined || before === 0 ? '' : (after / before).toFixed(1);
}
