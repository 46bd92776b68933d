/** Makes the tables of docs/reference/performance.md from the figures in performance.json. */

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

/** Of a list by this service, and by PostgreSQL with the same rows. */
export interface PostgresqlFigure extends ListFigure {
  /** Of the process that answers. */
  readonly postgresqlCpuMilliseconds: number;
  /** Pages of 8 KB that it touches. */
  readonly postgresqlBuffers: number;
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

/** Of eight workers that empty a queue. */
export interface WorkerFigure {
  readonly name: string;
  readonly jobsPerSecond: number;
  readonly transactionsPerJob: number;
  /** Transactions whose conditions failed. */
  readonly failedPerJob: number;
  /** Transactions that wrote an item while another one did. */
  readonly overlappingPerJob: number;
  /** Calls that failed with TooBusy. */
  readonly tooBusy: number;
}

/** Of calls at once, and of a worker's reports beside them. */
export interface ThrottlingFigure {
  readonly name: string;
  /** Until the last of them ended. */
  readonly seconds: number;
  /** Of calls that stopped, because they had no time. */
  readonly repetitions: number;
  /** Calls that DynamoDB refused. */
  readonly refused: number;
  readonly reports: number;
  readonly failedReports: number;
  readonly slowestReportSeconds: number;
}

export interface BundleFigure {
  readonly name: string;
  readonly kilobytes: number;
  /** To start, in a new process. */
  readonly cpuMilliseconds: number;
  /** As a multiple of the start of a bundle that only makes the service's document client. */
  readonly cpuRatio: number;
}

/** Of `npm start` and all that it starts. */
export interface LocalStackFigure {
  readonly name: string;
  /** Since its start. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
  readonly cpuMillisecondsOfCall?: number;
}

export interface Figures {
  /** By the number of batches of the user. */
  readonly lists?: Readonly<Record<string, readonly ListFigure[]>>;
  /** By the number of batches of the user. */
  readonly postgresql?: Readonly<Record<string, readonly PostgresqlFigure[]>>;
  readonly events?: readonly CallFigure[];
  readonly endpoints?: readonly CallFigure[];
  readonly devices?: readonly CallFigure[];
  readonly claims?: readonly ClaimFigure[];
  readonly writers?: readonly WriterFigure[];
  readonly workers?: readonly WorkerFigure[];
  readonly throttling?: readonly ThrottlingFigure[];
  readonly bundles?: readonly BundleFigure[];
  readonly localStack?: readonly LocalStackFigure[];
}

type Cell = string | number | undefined;

/** A page costs more, by this factor, where a user has ten times as many batches: it is named. */
const growing = 1.6;

/** The lists whose read units grow with the number of rows, most of all first. */
export function growthTable(lists: NonNullable<Figures['lists']>): string {
  const [before, largest] = Object.keys(lists).slice(-2);
  const found = (lists[largest ?? ''] ?? []).flatMap(({ name, readUnits }) => {
    const of = lists[before ?? '']?.find((figure) => figure.name === name)?.readUnits ?? readUnits;
    return readUnits > growing * of ? [{ name, of, readUnits }] : [];
  });
  const rows = found
    .toSorted((one, other) => other.readUnits / other.of - one.readUnits / one.of)
    .map(({ name, of, readUnits }) => [name, of, readUnits, `${(readUnits / of).toFixed(1)}`]);
  const sizes = [before, largest].map((size) => Number(size).toLocaleString('en'));
  return markdownTable(['page of 100', ...sizes, 'times'], rows);
}

/** Read units a second of one partition. A user's columns are one. */
const maxReadUnitsPerSecond = 3_000;

/** What lists cost: read units at each size; the rest at the largest. */
export function listTable(lists: NonNullable<Figures['lists']>): string {
  const { largest, atEachSize } = bySize(lists);
  return figureTable('page of 100', largest, [
    ...atEachSize('', ({ readUnits }) => readUnits),
    ['calls', ({ calls }) => calls],
    ['depth', ({ depth }) => depth],
    ['a second', ({ readUnits }) => Math.floor(maxReadUnitsPerSecond / readUnits)],
  ]);
}

/** CPU time and memory of lists, at each size. */
export function listProcessTable(lists: NonNullable<Figures['lists']>): string {
  const { largest, atEachSize } = bySize(lists);
  const measured = largest.filter(({ cpuMilliseconds }) => cpuMilliseconds);
  return figureTable('page of 100', measured, [
    ...atEachSize('CPU ms, ', ({ cpuMilliseconds }) => cpuMilliseconds),
    ...atEachSize('MB, ', ({ peakMegabytes }) => Math.round(peakMegabytes ?? Number.NaN)),
  ]);
}

/** This service beside PostgreSQL. */
export function postgresqlTable(lists: NonNullable<Figures['postgresql']>): string {
  const { largest, atEachSize } = bySize(lists);
  return figureTable('page of 100', largest, [
    ...atEachSize('read units, ', ({ readUnits }) => readUnits),
    ['calls', ({ calls }) => calls],
    ['depth', ({ depth }) => depth],
    ...atEachSize('CPU ms, ', ({ cpuMilliseconds }) => cpuMilliseconds),
    ...atEachSize('PostgreSQL CPU ms, ', ({ postgresqlCpuMilliseconds }) => postgresqlCpuMilliseconds),
    ...atEachSize('buffers, ', ({ postgresqlBuffers }) => postgresqlBuffers),
  ]);
}

/** The figures at the largest size, and columns with a value of the same list at each size. */
function bySize<Figure extends ListFigure>(lists: Readonly<Record<string, readonly Figure[]>>) {
  const sizes = Object.keys(lists).sort((a, b) => Number(a) - Number(b));
  return {
    largest: lists[sizes.at(-1) ?? ''] ?? [],
    atEachSize: (prefix: string, cellOf: (figure: Figure) => Cell) =>
      sizes.map((size): Column<Figure> => {
        const ofSize = new Map(lists[size]?.map((figure) => [figure.name, cellOf(figure)]));
        return [prefix + Number(size).toLocaleString('en'), ({ name }) => ofSize.get(name)];
      }),
  };
}

export function callTable(heading: string, figures: readonly CallFigure[]): string {
  return figureTable(heading, figures, [
    ['write units', ({ writeUnits }) => writeUnits],
    ['read units', ({ readUnits }) => readUnits],
    ['calls', ({ calls }) => calls],
    ['depth', ({ depth }) => depth],
  ]);
}

export function claimTable(figures: readonly ClaimFigure[]): string {
  return figureTable('workers', figures, [
    ['claims a second', ({ claimsPerSecond }) => claimsPerSecond],
    ['lost races for each claim', ({ lostRaces }) => lostRaces],
  ]);
}

export function writerTable(figures: readonly WriterFigure[]): string {
  return figureTable('writers of one user', figures, [
    ['changes a second', ({ changesPerSecond }) => changesPerSecond],
    ['conflicts for each change', ({ conflictsPerChange }) => conflictsPerChange],
  ]);
}

export function workerTable(figures: readonly WorkerFigure[]): string {
  return figureTable('8 workers', figures, [
    ['jobs a second', ({ jobsPerSecond }) => jobsPerSecond],
    ['transactions a job', ({ transactionsPerJob }) => transactionsPerJob],
    ['of them failed', ({ failedPerJob }) => failedPerJob],
    ['overlapping', ({ overlappingPerJob }) => overlappingPerJob],
    ['TooBusy', ({ tooBusy }) => tooBusy],
  ]);
}

export function throttlingTable(figures: readonly ThrottlingFigure[]): string {
  return figureTable('calls of one user at once', figures, [
    ['seconds', ({ seconds }) => seconds],
    ['repeated', ({ repetitions }) => repetitions],
    ['refused by DynamoDB', ({ refused }) => refused],
    ["worker's reports", ({ reports }) => reports],
    ['failed', ({ failedReports }) => failedReports],
    ['slowest, s', ({ slowestReportSeconds }) => slowestReportSeconds],
  ]);
}

export function bundleTable(figures: readonly BundleFigure[]): string {
  return figureTable('bundle', figures, [
    ['kB', ({ kilobytes }) => Math.round(kilobytes)],
    ['CPU ms to start', ({ cpuMilliseconds }) => cpuMilliseconds],
    ['times the document client', ({ cpuRatio }) => cpuRatio.toFixed(2)],
  ]);
}

export function localStackTable(figures: readonly LocalStackFigure[]): string {
  return figureTable('`npm start`', figures, [
    ['CPU seconds', ({ cpuSeconds }) => cpuSeconds],
    ['MB', ({ megabytes }) => megabytes],
    ['CPU ms of a call', ({ cpuMillisecondsOfCall }) => cpuMillisecondsOfCall],
  ]);
}

type Column<Figure> = readonly [heading: string, cellOf: (figure: Figure) => Cell];

/** A row for each figure: its name, and its value in each column. */
function figureTable<Figure extends { readonly name: string }>(
  heading: string,
  figures: readonly Figure[],
  columns: readonly Column<Figure>[],
): string {
  const rows = figures.map((figure) => [figure.name, ...columns.map(([, cellOf]) => cellOf(figure))]);
  return markdownTable([heading, ...columns.map(([title]) => title)], rows);
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
