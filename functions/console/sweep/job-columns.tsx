import type { Job } from '../../schemas/job.ts';
import type { Count } from '../parts/counter.ts';
import { linkTo } from '../ui/address.ts';
import { Id, Time } from '../ui/basics.tsx';
import { cutMiddle } from '../ui/cut-text.ts';
import { dateOf, formatClock, formatCount, formatNumber, formatSeconds, formatShare } from '../ui/format.ts';
import { Status } from '../ui/status.tsx';
import type { Column } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { visible } from '../ui/visible-text.ts';
import { readersOf } from './curves.ts';
import type { SortValue } from './job-page.ts';
import { meanOnes, type Peaks } from './measures.ts';
import { Spark, sparkBits } from './spark.tsx';
import { readVariables, type Variable } from './variables.ts';

const { jobs: words, sweep } = texts;

/** Columns of variables; a job's own view has all. */
const maxVariables = 6;

/** What a table of jobs shows besides the jobs themselves. */
interface Given {
  /** All that are known of the batch, so that pages of it have the same columns. */
  readonly jobs: readonly Job[];
  readonly counts: ReadonlyMap<string, readonly Count[]>;
  /** The bitstrings that are drawn of each job. */
  readonly peaks: Peaks;
  /** The outcomes of the figure, in the order of its colors. The share of the first is a column. */
  readonly outcomes?: readonly (readonly string[])[] | undefined;
  /** The job that is marked in the figure. */
  readonly marked?: string | undefined;
  readonly isLinked: boolean;
}

/**
 * The columns that say something of these jobs: what is empty, or one value in all of them, is left
 * out.
 */
export function jobColumns(given: Given): {
  readonly columns: readonly Column<Job>[];
  /** By the names that columns are sorted by. */
  readonly sortValues: ReadonlyMap<string, SortValue>;
} {
  const { jobs, counts } = given;
  const sortValues = new Map<string, SortValue>([
    ['creation_order', (job) => job.creation_order],
    ['status', (job) => job.status],
    ['start_timestamp', (job) => job.start_timestamp ?? undefined],
    ['took', secondsOf],
  ]);
  const columns: Column<Job>[] = [
    [words.columns.id, (job) => <JobName job={job} {...given} />, undefined, 'creation_order'],
    ...readVariables(jobs)
      .differing.slice(0, maxVariables)
      .map((variable) => variableColumn(variable, sortValues)),
    ...(counts.size > 0 ? countColumns(given, sortValues) : []),
    [words.columns.status, ({ status }) => <Status status={status} />, undefined, 'status'],
  ];
  if (jobs.some((job) => job.start_timestamp !== null)) {
    columns.push([words.columns.start_timestamp, (job) => <Started job={job} />, 'number', 'start_timestamp']);
  }
  if (jobs.some((job) => secondsOf(job) !== undefined)) {
    const took = (job: Job) => formatOr(secondsOf(job), formatSeconds);
    columns.push([words.columns.duration, took, 'number', 'took']);
  }
  if (jobs.some(({ errors }) => errors !== null && errors.length > 0)) {
    columns.push([words.columns.errors, (job) => <Errors job={job} />, 'reason']);
  }
  return { columns, sortValues };
}

function formatOr(value: number | undefined, format: (value: number) => string) {
  return value === undefined ? '' : format(value);
}

function JobName({ job, isLinked, marked }: Given & { readonly job: Job }) {
  const number = formatCount(job.creation_order + 1);
  return (
    <div class={marked === job.id ? 'name marked' : 'name'}>
      {isLinked ? (
        <a href={linkTo(['job', job.id])} title={job.id} aria-label={`${sweep.job} ${number}`}>
          {number}
        </a>
      ) : (
        <>
          {number} <Id id={job.id} />
        </>
      )}
    </div>
  );
}

/** The names of other columns: no two have one name. */
const taken: ReadonlySet<string> = new Set(Object.values(words.columns));

function variableColumn({ name, values, isNumeric }: Variable, sortValues: Map<string, SortValue>): Column<Job> {
  const sortedBy = `=${name}`;
  sortValues.set(sortedBy, ({ id }) => values.get(id));
  const format = formatOf([...values.values()]);
  const cell = ({ id }: Job) => {
    const value = values.get(id);
    if (value === undefined) return '';
    const shown = typeof value === 'number' ? format(value) : cutMiddle(value, 40);
    return <bdi title={String(value)}>{visible(shown)}</bdi>;
  };
  return [taken.has(name) ? `${name} =` : name, cell, isNumeric ? 'number' : undefined, sortedBy];
}

/** Numbers below each other have as many decimals, where a few do. */
function formatOf(values: readonly (number | string)[]): (value: number) => string {
  const shown = values.map((value) => (typeof value === 'number' ? formatNumber(value) : ''));
  const decimals = Math.max(0, ...shown.slice(0, 1_000).map((each) => each.split('.')[1]?.length ?? 0));
  if (decimals > 4 || shown.some((each) => each.includes('e'))) return formatNumber;
  return (value) => value.toFixed(decimals).replace('-', '−');
}

function countColumns(
  { counts, peaks, outcomes = [] }: Given,
  sortValues: Map<string, SortValue>,
): readonly Column<Job>[] {
  const bits = sparkBits(peaks);
  const [outcome] = outcomes;
  const lookOf = (each: string) => {
    const at = outcomes.findIndex((bits) => bits.includes(each));
    return `f${at < 0 ? 6 : at + 1}`;
  };
  const columns: Column<Job>[] = [
    [sweep.counts, ({ id }) => counts.has(id) && <Spark counts={counts.get(id)!} bits={bits} lookOf={lookOf} />],
  ];
  const add = (
    name: string,
    sortedBy: string,
    read: (own: readonly Count[]) => number | undefined,
    format: (value: number) => string,
  ) => {
    const value: SortValue = ({ id }) => (counts.has(id) ? read(counts.get(id)!) : undefined);
    sortValues.set(sortedBy, value);
    columns.push([name, (job) => formatOr(value(job) as number | undefined, format), 'number', sortedBy]);
  };
  if (outcome !== undefined) {
    const name = cutMiddle(outcome.join(' + '), 20);
    const [reader] = readersOf('bits', [outcome], '');
    add(name, 'share', (own) => reader?.read(own)?.value, formatShare);
  }
  if ([...counts.values()].some((own) => meanOnes(own) !== undefined)) {
    add(
      sweep.meanOnes,
      'ones',
      (own) => meanOnes(own)?.value,
      (value) => value.toFixed(2),
    );
  }
  return columns;
}

function secondsOf({ start_timestamp: start, end_timestamp: end }: Job): number | undefined {
  if (start === null || end === null) return undefined;
  return (Date.parse(end) - Date.parse(start)) / 1_000;
}

/** The time of day; the day, too, where the batch began on another one. */
function Started({ job: { start_timestamp: start, created_at } }: { readonly job: Job }) {
  if (start === null) return null;
  const isSameDay = dateOf(start).toDateString() === dateOf(created_at).toDateString();
  return <Time time={start} {...(isSameDay && { format: formatClock })} />;
}

function Errors({ job: { errors } }: { readonly job: Job }) {
  if (errors === null || errors.length === 0) return null;
  return <bdi title={errors.join(' · ').slice(0, 2_000)}>{errors.join(' · ').slice(0, 200)}</bdi>;
}
