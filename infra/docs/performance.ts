/** The figures that `npm run bench` writes to docs/performance.json, as the tables of its page. */

/** What one page of a list costs. */
export interface ListFigure {
  readonly name: string;
  /** Rows that match. */
  readonly total: number;
  readonly readUnits: number;
  readonly calls: number;
  readonly depth: number;
  readonly cpuMilliseconds?: number;
  readonly peakMegabytes?: number;
}

export interface CallFigure {
  readonly name: string;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly calls: number;
  readonly depth: number;
}

/** `name` is the number of workers; races are counted for each claim. */
export interface ClaimFigure {
  readonly name: string;
  readonly claimsPerSecond: number;
  readonly lostRaces: number;
}

export interface WriterFigure {
  readonly name: string;
  readonly changesPerSecond: number;
  readonly conflictsPerChange: number;
}

export interface BundleFigure {
  readonly name: string;
  readonly kilobytes: number;
  /** To start, in a new process. */
  readonly cpuMilliseconds: number;
  /** The same as a multiple of the start of a bundle that only makes the SDK's document client. */
  readonly cpuRatio: number;
}

export interface Figures {
  /** By the number of batches of the user. */
  readonly lists?: Readonly<Record<string, readonly ListFigure[]>>;
  readonly events?: readonly CallFigure[];
  readonly endpoints?: readonly CallFigure[];
  readonly devices?: readonly CallFigure[];
  readonly claims?: readonly ClaimFigure[];
  readonly writers?: readonly WriterFigure[];
  readonly bundles?: readonly BundleFigure[];
}

type Cell = string | number | undefined;

/** Read units a second of one partition. A user's columns are one. */
const maxReadUnitsPerSecond = 3_000;

/** What lists cost: read units at each size; the rest at the largest. */
export function listTable(lists: NonNullable<Figures['lists']>): string {
  const sizes = Object.keys(lists).sort((a, b) => Number(a) - Number(b));
  const largest = sizes.at(-1) ?? '';
  const of = (size: string, name: string) => lists[size]?.find((figure) => figure.name === name);
  const headings = [
    'page of 100',
    ...sizes.map((size) => Number(size).toLocaleString('en')),
    'calls',
    'depth',
    'a second',
  ];
  const rows = (lists[largest] ?? []).map(({ name, readUnits, calls, depth }) => [
    name,
    ...sizes.map((size) => of(size, name)?.readUnits),
    calls,
    depth,
    Math.floor(maxReadUnitsPerSecond / readUnits),
  ]);
  return markdownTable(headings, rows);
}

/** CPU time and memory of lists, at each size. */
export function listProcessTable(lists: NonNullable<Figures['lists']>): string {
  const sizes = Object.keys(lists).sort((a, b) => Number(a) - Number(b));
  const names = (lists[sizes.at(-1) ?? ''] ?? []).flatMap(({ name, cpuMilliseconds }) =>
    cpuMilliseconds ? [name] : [],
  );
  const of = (size: string, name: string) => lists[size]?.find((figure) => figure.name === name);
  const rows = names.map((name) => [
    name,
    ...sizes.map((size) => of(size, name)?.cpuMilliseconds),
    ...sizes.map((size) => Math.round(of(size, name)?.peakMegabytes ?? Number.NaN)),
  ]);
  const titles = sizes.map((size) => Number(size).toLocaleString('en'));
  return markdownTable(
    ['page of 100', ...titles.map((size) => `CPU ms, ${size}`), ...titles.map((size) => `MB, ${size}`)],
    rows,
  );
}

export function callTable(heading: string, figures: readonly CallFigure[]): string {
  const rows = figures.map(({ name, writeUnits, readUnits, calls, depth }) => [
    name,
    writeUnits,
    readUnits,
    calls,
    depth,
  ]);
  return markdownTable([heading, 'write units', 'read units', 'calls', 'depth'], rows);
}

export function claimTable(figures: readonly ClaimFigure[]): string {
  const rows = figures.map(({ name, claimsPerSecond, lostRaces }) => [name, claimsPerSecond, lostRaces]);
  return markdownTable(['workers', 'claims a second', 'lost races for each claim'], rows);
}

export function writerTable(figures: readonly WriterFigure[]): string {
  const rows = figures.map(({ name, changesPerSecond, conflictsPerChange }) => [
    name,
    changesPerSecond,
    conflictsPerChange,
  ]);
  return markdownTable(['writers of one user', 'changes a second', 'conflicts for each change'], rows);
}

export function bundleTable(figures: readonly BundleFigure[]): string {
  const rows = figures.map(({ name, kilobytes, cpuMilliseconds, cpuRatio }) => [
    name,
    Math.round(kilobytes),
    cpuMilliseconds,
    cpuRatio.toFixed(2),
  ]);
  return markdownTable(['bundle', 'kB', 'CPU ms to start', "times the SDK's client alone"], rows);
}

/**
 * A table of Markdown. Columns of numbers are aligned to the right; numbers have one decimal,
 * unless that is zero or they are large.
 */
export function markdownTable(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) => `| ${cells.map(textOf).join(' | ')} |`;
  const isNumeric = (at: number) => at > 0 && rows.every((row) => /^[\d.,]*$/.test(textOf(row[at])));
  const rule = `|${headings.map((_, at) => (isNumeric(at) ? '---:|' : '---|')).join('')}`;
  return [line(headings), rule, ...rows.map(line)].join('\n');
}

function textOf(cell: Cell): string {
  if (typeof cell !== 'number') return cell ?? '';
  const rounded = cell >= 100 ? Math.round(cell) : Math.round(cell * 10) / 10;
  return rounded.toLocaleString('en');
}
