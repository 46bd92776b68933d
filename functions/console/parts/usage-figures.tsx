import { useMemo } from 'preact/hooks';
import type { UsageGroup, UsageReport } from '../../schemas/usage.ts';
import type { Api, Query } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { download, Empty, Failure, Id, type Named, Person, Shown } from '../ui/basics.tsx';
import { AddressForm } from '../ui/form.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import type { Member } from './projects.ts';
import { jobsByPeriod } from './usage-periods.ts';

const { usage: words } = texts;

type Row = Named<UsageReport['rows'][number]>;

/** More rows than a person reads: the file has them all. */
const maxRows = 500;

/** What rows are split by where the address does not say. */
const defaultGroups = { own: ['device_type'], all: ['user_id'], project: ['user_id'] };

/** What rows may be split by. */
const groupsOf = {
  own: ['project_id', 'device_type'],
  all: ['project_id', 'user_id', 'device_type'],
  project: ['user_id', 'device_type'],
} as const;

type Scope = keyof typeof groupsOf;

interface Props {
  /** Whose: the person's own, everyone's, or that of a project. */
  readonly scope: Scope;
  readonly projectId?: string;
  /** Who is known by name, where the report itself names no one. */
  readonly members?: readonly Member[];
}

/** Usage by day or month and by what the address asks for, as bars and figures. */
export function UsageFigures({ scope, projectId, members = [] }: Props) {
  const { path, query: parameters } = useAddress();
  const groups = parameters.has('group_by') ? parameters.getAll('group_by') : defaultGroups[scope];
  const query: Query = {
    ...Object.fromEntries(parameters),
    group_by: groups.filter((each) => each !== 'none'),
    ...(scope === 'all' && !parameters.has('user_id') && { scope: 'all' }),
    ...(projectId !== undefined && { project_id: projectId }),
  };
  const loaded = useCall<UsageReport>('/api/v1/usage', { query });
  const save = useAction(async (api: Api) => {
    const { data } = await api.call<string>('/api/v1/usage', { query, accept: 'text/csv' });
    download('usage.csv', 'text/csv', data);
  });
  return (
    <>
      <UsageForm path={path} parameters={parameters} groups={groups} scope={scope} />
      <Shown loaded={loaded}>
        {(report) =>
          report.rows.length === 0 ? (
            <Empty>{words.none}</Empty>
          ) : (
            <>
              <PeriodBars rows={report.rows} />
              <Table
                label={words.title}
                columns={columnsOf(query.group_by as UsageGroup[], members)}
                rows={report.rows.slice(0, maxRows)}
                keyOf={(_, at) => at}
                total={[words.total, report.total]}
              />
              <div class="actions below">
                <button type="button" disabled={save.isRunning} onClick={() => save.run()}>
                  {words.download}
                </button>
                {report.rows.length > maxRows && <span class="aside">{words.cut(maxRows, report.rows.length)}</span>}
              </div>
              <Failure failure={save.failure} />
            </>
          )
        }
      </Shown>
    </>
  );
}

interface FormProps {
  readonly path: readonly string[];
  readonly parameters: URLSearchParams;
  readonly groups: readonly string[];
  readonly scope: Scope;
}

function UsageForm({ path, parameters, groups, scope }: FormProps) {
  const apply = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const group_by = data.getAll('group_by').map(String);
    const texts = ['from', 'to', 'period', 'user_id'].map((name) => [name, String(data.get(name) ?? '').trim()]);
    go(linkTo(path, { ...Object.fromEntries(texts), group_by: group_by.length === 0 ? 'none' : group_by }));
  };
  return (
    <AddressForm address={parameters.toString()} look="card form" apply={apply}>
      {(['from', 'to'] as const).map((name) => (
        <label key={name}>
          {words.form[name]}
          <input type="date" name={name} value={parameters.get(name) ?? ''} />
        </label>
      ))}
      <label>
        {words.form.period}
        <select name="period" value={parameters.get('period') ?? 'day'}>
          <option value="day">{words.form.day}</option>
          <option value="month">{words.form.month}</option>
        </select>
      </label>
      {scope === 'all' && (
        <label>
          {words.form.user_id}
          <input name="user_id" value={parameters.get('user_id') ?? ''} placeholder={words.form.everyone} />
        </label>
      )}
      <fieldset class="full actions">
        <legend>{words.form.by}</legend>
        {groupsOf[scope].map((name) => (
          <label key={name}>
            <input type="checkbox" name="group_by" value={name} checked={groups.includes(name)} />
            {words.columns[name]}
          </label>
        ))}
      </fieldset>
      <div class="actions">
        <button type="submit" class="main">
          {words.form.apply}
        </button>
        <span class="aside">{words.form.zone}</span>
      </div>
    </AddressForm>
  );
}

/** Jobs by period, also of periods without any. The table has the figures. */
function PeriodBars({ rows }: { readonly rows: readonly Row[] }) {
  const periods = useMemo(() => jobsByPeriod(rows), [rows]);
  const [first, last] = [periods[0], periods.at(-1)];
  if (first === undefined || last === undefined || periods.length < 2) return null;
  const most = Math.max(1, ...periods.map(({ jobs }) => jobs));
  const width = 1_000 / periods.length;
  return (
    <figure class="card">
      <svg class="chart strip" viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
        {periods.map(({ period, jobs }, at) => {
          const height = (jobs / most) * 100;
          return (
            <rect key={period} class="bar" x={at * width} width={width * 0.8} y={100 - height} height={height}>
              <title>{`${period}: ${formatCount(jobs)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="aside">{words.bars(first.period, last.period, formatCount(most))}</figcaption>
    </figure>
  );
}

const figures = ['batches', 'jobs', 'DONE', 'ERROR', 'CANCELED', 'shots', 'device_seconds'] as const;

function figureOf(row: UsageReport['total'], name: (typeof figures)[number]): string {
  if (name === 'device_seconds') return formatSeconds(row.device_seconds);
  return formatCount(name in row.jobs_per_status ? row.jobs_per_status[name as 'DONE'] : row[name as 'jobs']);
}

function columnsOf(
  groups: readonly UsageGroup[],
  members: readonly Member[],
): readonly Column<UsageReport['total'] & Partial<Row>>[] {
  return [
    [words.columns.period, ({ period }) => period],
    ...groups.map((name): Column<Partial<Row>> => {
      const cell = (row: Partial<Row>) => {
        const text = row[name] ?? '';
        const known = members.find(({ user_id }) => user_id === text);
        if (name === 'user_id') return <Person id={text} name={row.user_name ?? known?.user_name} />;
        return name === 'device_type' ? <bdi>{text}</bdi> : <Id id={text} />;
      };
      return [words.columns[name], cell, name === 'device_type' ? 'text' : undefined];
    }),
    ...figures.map(
      (name): Column<UsageReport['total']> => [words.columns[name], (row) => figureOf(row, name), 'number'],
    ),
  ];
}
