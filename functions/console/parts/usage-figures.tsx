import { useState } from 'preact/hooks';
import type { UsageGroup, UsageReport } from '../../schemas/usage.ts';
import type { Api, Query } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { download, Empty, Failure, type Named, Person, Shown } from '../ui/basics.tsx';
import { cutEnd } from '../ui/cut-text.ts';
import { formatShare } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { LimitLink } from './limit-link.tsx';
import { ProjectName } from './owner.tsx';
import { type Member, type OwnProject, useProjects } from './projects.ts';
import { daysOf, periodsOf, rangeOf } from './usage-periods.ts';
import { lookOf, UsagePlot } from './usage-plot.tsx';
import { RangeChoice } from './usage-range.tsx';
import { formatAmount, layersOf, type Measure, measures, sumsBy, type UsageSum } from './usage-stack.ts';

const { usage: words } = texts;

type Row = Named<UsageReport['rows'][number]>;
type Amounts = UsageReport['total'];

/** More rows than a person reads: the file has them all. */
const maxRows = 500;

/** What rows may be split by, the usual one first. */
const splitsOf = {
  own: ['device_type', 'project_id'],
  all: ['user_id', 'project_id', 'device_type'],
  project: ['user_id', 'device_type'],
} as const satisfies Record<string, readonly UsageGroup[]>;

const noSplit = 'none';

interface Props {
  /** Whose: the person's own, everyone's, or that of a project. */
  readonly scope: keyof typeof splitsOf;
  readonly projectId?: string;
  /** Who is known by name, where the report itself names no one. */
  readonly members?: readonly Member[];
}

/** Usage in a range of days, split by what the address asks for: a figure, its sums, and a file. */
export function UsageFigures({ scope, projectId, members = [] }: Props) {
  const { path, query: parameters } = useAddress();
  const splits: readonly UsageGroup[] = splitsOf[scope];
  const asked = parameters.get('group_by');
  const split = asked === noSplit ? undefined : (splits.find((each) => each === asked) ?? splits[0]!);
  const measure = measures.find((each) => each === parameters.get('measure')) ?? measures[0];
  const userId = parameters.get('user_id') ?? undefined;
  const range = rangeOf(parameters, new Date());
  const link = (changed: Readonly<Record<string, string | undefined>>) =>
    linkTo(path, { ...Object.fromEntries(parameters), ...changed });
  const query: Query = {
    ...range,
    // Of one user, this brings the name.
    group_by: [...new Set([split ?? [], userId === undefined ? [] : (['user_id'] as const)].flat())],
    user_id: userId,
    ...(scope === 'all' && userId === undefined && { scope: 'all' }),
    ...(projectId !== undefined && { project_id: projectId }),
  };
  const loaded = useCall<UsageReport>('/api/v1/usage', { query });
  return (
    <section class="card sweep usage">
      <div class="bar">
        <RangeChoice range={range} link={link} />
        <div class="bar push">
          <fieldset class="choice" aria-label={words.measure}>
            {measures.map((each) => (
              <label key={each}>
                <input
                  type="radio"
                  name="measure"
                  checked={each === measure}
                  onChange={() => go(link({ measure: each }))}
                />
                {words.measures[each]}
              </label>
            ))}
          </fieldset>
          <label class="beside">
            {words.by}
            <select
              aria-label={words.splitBy}
              value={split ?? noSplit}
              onChange={({ currentTarget }) => go(link({ group_by: currentTarget.value }))}
            >
              {[...splits, noSplit].map((each) => (
                <option key={each} value={each}>
                  {words.splits[each as keyof typeof words.splits]}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <Shown loaded={loaded}>
        {(report) => <Report {...{ report, scope, members, split, measure, range, userId, link, query }} />}
      </Shown>
    </section>
  );
}

interface ReportProps extends Required<Omit<Props, 'projectId'>> {
  readonly report: UsageReport;
  readonly split: UsageGroup | undefined;
  readonly measure: Measure;
  readonly range: ReturnType<typeof rangeOf>;
  readonly userId: string | undefined;
  readonly link: (changed: Readonly<Record<string, string | undefined>>) => string;
  readonly query: Query;
}

function Report(props: ReportProps) {
  const { report, members, split, measure, range, userId, link } = props;
  const [at, mark] = useState(-1);
  const projects = useProjects();
  const rows: readonly Row[] = report.rows;
  const nameOfUser = (id: string) =>
    rows.find((row) => row.user_id === id)?.user_name ?? members.find(({ user_id }) => user_id === id)?.user_name;
  const nameOf = (key: string | undefined) => {
    if (key === undefined) return words.others;
    const name = split === 'user_id' ? nameOfUser(key) : projects.find(({ id }) => id === key)?.name;
    return name ?? (split === 'device_type' ? key : cutEnd(key, 9));
  };
  const keyOf = (row: Row) => (split === undefined ? '' : (row[split] ?? ''));
  const periods = periodsOf(range);
  const layers = layersOf(rows, periods, keyOf, measure);
  const total = `${formatAmount(measure, report.total[measure])} ${words.ofMeasure[measure]}`;
  return (
    <>
      <div class="bar">
        <h2>{total}</h2>
        {userId !== undefined && (
          <a class="chip" href={link({ user_id: undefined })} aria-label={words.showAll}>
            <bdi>{nameOfUser(userId) ?? userId}</bdi>
            <Icon name="cross" />
          </a>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty>{words.none}</Empty>
      ) : (
        <>
          {split !== undefined && (
            <ul class="sweep-legend">
              {layers.map(({ key, total: sum }, place) => (
                <li key={key}>
                  <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
                    <rect class={lookOf(key, place)} width="10" height="10" rx="2" />
                  </svg>
                  <bdi>{nameOf(key)}</bdi> <span class="soft">{formatAmount(measure, sum)}</span>
                </li>
              ))}
            </ul>
          )}
          <UsagePlot
            {...{ layers, periods, measure, nameOf, at, mark }}
            description={`${words.measures[measure]}, ${range.from} – ${range.to}: ${total}`}
            open={(period) => period.length === 7 && go(link({ ...daysOf(period) }))}
          />
          <Sums {...props} projects={projects} nameOfUser={nameOfUser} keyOf={keyOf} />
        </>
      )}
    </>
  );
}

interface SumsProps extends ReportProps {
  readonly projects: readonly OwnProject[];
  readonly nameOfUser: (id: string) => string | null | undefined;
  readonly keyOf: (row: Row) => string;
}

/** What each has used in the whole time; on demand in each period, and as a file. */
function Sums({ report, scope, split, measure, link, query, projects, nameOfUser, keyOf }: SumsProps) {
  const save = useAction(async (api: Api) => {
    const { data } = await api.call<string>('/api/v1/usage', { query, accept: 'text/csv' });
    download('usage.csv', 'text/csv', data);
  });
  const { rows, total } = report;
  const nameCell = (key: string) => {
    if (split === 'user_id') {
      const of = scope === 'all' ? { link: link({ user_id: key, group_by: 'device_type' }) } : {};
      return <Person id={key} name={nameOfUser(key)} {...of} />;
    }
    return split === 'project_id' ? <ProjectName id={key} projects={projects} /> : <bdi>{key}</bdi>;
  };
  const share: Column<Amounts> = [
    words.share,
    (row) => (total[measure] === 0 ? '' : formatShare(row[measure] / total[measure])),
    'number',
  ];
  const limits: Column<UsageSum> = [words.limits, ({ key }) => <LimitLink userId={key} name={nameOfUser(key)} />];
  const named = split === undefined ? [] : [[words.columns[split], nameCell, 'text'] as const];
  return (
    <>
      {split !== undefined && (
        <Table
          label={words.title}
          columns={[
            [words.columns[split], ({ key }: UsageSum) => nameCell(key), 'text'],
            ...(amounts as readonly Column<UsageSum>[]),
            share as Column<UsageSum>,
            ...(split === 'user_id' && scope === 'all' ? [limits] : []),
          ]}
          rows={sumsBy(rows, keyOf, measure)}
          keyOf={({ key }) => key}
          total={[words.total, { ...total, key: '' }]}
        />
      )}
      <details open={split === undefined}>
        <summary>{words.byPeriod}</summary>
        <Table
          label={words.byPeriod}
          columns={[
            [words.columns.period, ({ period }: Partial<Row>) => period],
            ...named.map(
              ([name, cell, look]) => [name, (row: Row) => cell(keyOf(row)), look] as unknown as Column<Row>,
            ),
            ...(amounts as readonly Column<Row>[]),
          ]}
          rows={rows.slice(0, maxRows)}
          keyOf={(_, at) => at}
          total={[words.total, total as Row]}
        />
        {rows.length > maxRows && <span class="aside">{words.cut(maxRows, rows.length)}</span>}
      </details>
      <div class="actions below">
        <button type="button" disabled={save.isRunning} onClick={() => save.run()}>
          {words.download}
        </button>
      </div>
      <Failure failure={save.failure} />
    </>
  );
}

const amounts = (['device_seconds', 'batches', 'jobs', 'DONE', 'ERROR', 'CANCELED', 'shots'] as const).map(
  (name): Column<Amounts> => [
    words.columns[name],
    (row) =>
      name in row.jobs_per_status
        ? formatAmount('jobs', row.jobs_per_status[name as 'DONE'])
        : formatAmount(name as Measure, row[name as Measure]),
    'number',
  ],
);
