import { useEffect } from 'preact/hooks';
import type { ReadBatch } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { jobStatusNames } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { go, linkTo, useListAddress } from '../ui/address.ts';
import { Empty, Id, Shown, Time } from '../ui/basics.tsx';
import { type Act, ChoiceTable } from '../ui/choice-table.tsx';
import { Facets } from '../ui/facets.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { Pager } from '../ui/pager.tsx';
import { Status } from '../ui/status.tsx';
import type { Column } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { jobs: words } = texts;

/** What is shown of a job besides its id. */
export const jobColumns: readonly Column<Job>[] = [
  [words.columns.creation_order, (job) => formatCount(job.creation_order), 'number', 'creation_order'],
  [words.columns.status, ({ status }) => <Status status={status} />, undefined, 'status'],
  [words.columns.runs, ({ runs }) => (runs === null ? texts.common.none : formatCount(runs)), 'number', 'runs'],
  [words.columns.start_timestamp, (job) => <Time time={job.start_timestamp} />, undefined, 'start_timestamp'],
  [words.columns.end_timestamp, (job) => <Time time={job.end_timestamp} />, undefined, 'end_timestamp'],
  [words.columns.duration, durationOf, 'number'],
  [words.columns.variables, (job) => <bdi>{shortVariables(job)}</bdi>, 'text'],
  [words.columns.errors, ({ errors }) => <bdi>{errors?.join(' · ').slice(0, 200) || texts.common.none}</bdi>, 'text'],
];

const columns: readonly Column<Job>[] = [
  [words.columns.id, ({ id }) => <Id id={id} link={linkTo(['job', id])} />],
  ...jobColumns,
];

function durationOf({ start_timestamp: start, end_timestamp: end }: Job): string {
  if (start === null || end === null) return texts.common.none;
  return formatSeconds((Date.parse(end) - Date.parse(start)) / 1_000);
}

/** The beginning of them: the job's own view has all. */
function shortVariables({ variables }: Job): string {
  if (variables === null) return texts.common.none;
  const shown = Object.entries(variables).slice(0, 4);
  return shown.map(([name, value]) => `${name} = ${JSON.stringify(value)}`.slice(0, 60)).join(', ');
}

interface Props {
  readonly batch: ReadBatch;
  /** The latest ones: when they change, or all is erased, the page of jobs is read again. */
  readonly counts: ReadBatch['jobs_count_per_status'];
  /** Reads the batch again. */
  readonly reload: () => void;
}

/** The jobs of a batch. Filters, order and page are in the address, as the API has them. */
export function BatchJobs({ batch: { id, user_id, rights, erased_at }, counts, reload }: Props) {
  const { query, filters, isFiltered, link, sorting, pages } = useListAddress(['batch', id], {
    by: 'creation_order',
    direction: 'ASC',
  });
  const list = useCall<Job[]>('/api/v2/jobs', {
    // Without its owner, the list would have own jobs only.
    query: { ...query, batch_id: id, user_id },
    keepsAnswer: true,
  });
  const seen = JSON.stringify([counts, erased_at]);
  useEffect(() => {
    if (list.answer !== undefined) list.reload();
  }, [seen]);
  const cancel: Act['run'] = async (api, ids) => {
    const call = { method: 'PATCH', query: { id: ids } } as const;
    return (await api.call<{ errors: Record<string, string> }>(`/api/v2/batches/${id}/cancel/jobs`, call)).data.errors;
  };
  const rebatch: Act['run'] = async (api, ids, { attempt }) => {
    const call = { method: 'POST', query: { id: ids }, idempotencyKey: attempt } as const;
    const { data } = await api.call<{ id: string }>(`/api/v1/batches/${id}/rebatch`, call);
    go(linkTo(['batch', data.id]));
    return {};
  };
  const acts: readonly Act[] = [
    ...(rights.includes('repeat')
      ? [{ label: words.rebatch, question: texts.batch.questions.rebatch, run: rebatch }]
      : []),
    ...(rights.includes('end') ? [{ label: words.cancel, isDanger: true, run: cancel }] : []),
  ];
  return (
    <>
      <h2>{words.title}</h2>
      <Facets
        label={words.columns.status}
        counts={counts}
        chosen={filters.status ?? []}
        order={jobStatusNames}
        linkOf={(status) => link({ status })}
      />
      {isFiltered && (
        <p>
          {words.filtered} <a href={linkTo(['batch', id])}>{words.clear}</a>
        </p>
      )}
      <Shown loaded={list}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Empty>{isFiltered ? words.noMatch : words.none}</Empty>
          ) : (
            <ChoiceTable
              label={words.title}
              words={words}
              columns={columns}
              rows={jobs}
              sorting={sorting}
              acts={acts}
              reload={() => {
                list.reload();
                reload();
              }}
            />
          )
        }
      </Shown>
      <Pager pagination={list.answer?.pagination} {...pages} />
    </>
  );
}
