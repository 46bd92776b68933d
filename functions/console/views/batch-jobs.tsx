import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { BatchDetails } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { isFinalJob } from '../../statuses.ts';
import { linkTo, useAddress } from '../address.ts';
import type { Api } from '../api.ts';
import { formatCount, formatSeconds } from '../format.ts';
import { Empty, Failure, Id, Shown, Status, Time, Wide } from '../parts/basics.tsx';
import { Pager } from '../parts/pager.tsx';
import { StatusBar } from '../parts/status-bar.tsx';
import { texts } from '../texts.ts';
import { useAction, useCall } from '../use-call.ts';
import { queryOf, Refused, Sortable } from './batches.tsx';

const { jobs: words } = texts;

const columns = ['creation_order', 'status', 'runs', 'start_timestamp', 'end_timestamp'] as const;

const defaultLimit = 25;

interface Props {
  readonly batch: BatchDetails;
  /** The latest ones: when they change, or all is erased, the page of jobs is read again. */
  readonly counts: BatchDetails['jobs_count_per_status'];
  /** Reads the batch again. */
  readonly reload: () => void;
}

/** The jobs of a batch. Filters, order and page are in the address, as the API has them. */
export function BatchJobs({ batch: { id, erased_at }, counts, reload }: Props) {
  const query = queryOf(useAddress().query);
  const { order_by, order_by_direction, limit = [String(defaultLimit)], offset, ...filtered } = query;
  const list = useCall<Job[]>('/api/v2/jobs', {
    query: { order_by: 'creation_order', order_by_direction: 'ASC', ...query, limit, batch_id: id },
  });
  const seen = JSON.stringify([counts, erased_at]);
  useEffect(() => {
    if (list.answer !== undefined) list.reload();
  }, [seen]);
  const link = (changed: Record<string, string | undefined>) =>
    linkTo(['batch', id], { ...query, offset: undefined, ...changed });
  const isFiltered = Object.keys(filtered).length > 0;
  return (
    <>
      <h2>{words.title}</h2>
      <StatusBar counts={counts} linkOf={(status) => link({ status })} />
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
            <JobTable
              batchId={id}
              jobs={jobs}
              sorting={{ by: order_by?.at(-1) ?? 'creation_order', direction: order_by_direction?.at(-1) ?? 'ASC' }}
              link={link}
              reload={() => {
                list.reload();
                reload();
              }}
            />
          )
        }
      </Shown>
      {list.answer?.pagination !== undefined && (
        <Pager
          pagination={list.answer.pagination}
          limit={Number(limit.at(-1))}
          linkTo={(to) => link({ offset: to === 0 ? undefined : String(to) })}
        />
      )}
    </>
  );
}

interface TableProps {
  readonly batchId: string;
  readonly jobs: readonly Job[];
  readonly sorting: { readonly by: string; readonly direction: string };
  readonly link: (changed: Record<string, string | undefined>) => string;
  readonly reload: () => void;
}

function JobTable({ batchId, jobs, sorting, link, reload }: TableProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const cancelable = jobs.filter((job) => !isFinalJob(job));
  const present = cancelable.filter(({ id }) => chosen.has(id));
  const areAllChosen = cancelable.length > 0 && present.length === cancelable.length;
  return (
    <>
      <Chosen batchId={batchId} jobs={present} clear={() => setChosen(new Set())} reload={reload} />
      <Wide label={words.title}>
        <table>
          <thead>
            <tr>
              <th>
                <input
                  type="checkbox"
                  aria-label={words.chooseAll}
                  checked={areAllChosen}
                  disabled={cancelable.length === 0}
                  onChange={() => setChosen(new Set(areAllChosen ? [] : cancelable.map(({ id }) => id)))}
                />
              </th>
              <th scope="col">{words.columns.id}</th>
              {columns.map((name) => (
                <Sortable key={name} name={name} label={words.columns[name]} sorting={sorting} link={link} />
              ))}
              <th scope="col">{words.columns.duration}</th>
              <th scope="col">{words.columns.variables}</th>
              <th scope="col">{words.columns.errors}</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((job) => (
              <JobRow key={job.id} job={job}>
                <input
                  type="checkbox"
                  aria-label={`${words.choose} ${job.id}`}
                  checked={chosen.has(job.id)}
                  disabled={isFinalJob(job)}
                  onChange={() => setChosen(new Set([job.id]).symmetricDifference(chosen))}
                />
              </JobRow>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

function JobRow({ job, children }: { readonly job: Job; readonly children: ComponentChildren }) {
  const { start_timestamp: start, end_timestamp: end, variables, errors } = job;
  const seconds = start !== null && end !== null ? (Date.parse(end) - Date.parse(start)) / 1_000 : undefined;
  return (
    <tr>
      <td>{children}</td>
      <td>
        <Id id={job.id} link={linkTo(['job', job.id])} />
      </td>
      <td class="number">{formatCount(job.creation_order)}</td>
      <td>
        <Status status={job.status} />
      </td>
      <td class="number">{job.runs === null ? texts.common.none : formatCount(job.runs)}</td>
      <td>
        <Time time={start} />
      </td>
      <td>
        <Time time={end} />
      </td>
      <td class="number">{seconds === undefined ? texts.common.none : formatSeconds(seconds)}</td>
      <td class="name">
        <bdi>{variables === null ? texts.common.none : shortVariables(variables)}</bdi>
      </td>
      <td class="name">
        <bdi>{errors?.join(' · ').slice(0, 200) || texts.common.none}</bdi>
      </td>
    </tr>
  );
}

/** The beginning of them: the job's own view has all. */
function shortVariables(variables: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(variables).slice(0, 4);
  return shown.map(([name, value]) => `${name} = ${JSON.stringify(value)}`.slice(0, 60)).join(', ');
}

/** What can be done to many jobs at once, and what failed. */
function Chosen({
  batchId,
  jobs,
  clear,
  reload,
}: Pick<TableProps, 'batchId' | 'jobs' | 'reload'> & { readonly clear: () => void }) {
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const cancel = useAction(async (api: Api) => {
    const { data } = await api.call<{ errors: Record<string, string> }>(`/api/v2/batches/${batchId}/cancel/jobs`, {
      method: 'PATCH',
      query: { id: jobs.map(({ id }) => id) },
    });
    setErrors(data.errors);
    clear();
    reload();
  });
  return (
    <>
      {jobs.length > 0 && (
        <section class="chosen" aria-label={words.chosen}>
          <div class="actions">
            <strong>
              {formatCount(jobs.length)} {words.chosen}
            </strong>
            <button type="button" class="danger" disabled={cancel.isRunning} onClick={() => cancel.run()}>
              {words.cancel}
            </button>
            <button type="button" onClick={clear}>
              {words.clearChosen}
            </button>
          </div>
        </section>
      )}
      <Failure failure={cancel.failure} />
      <Refused errors={errors} />
    </>
  );
}
