import { useEffect, useMemo } from 'preact/hooks';
import type { ReadBatch } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { isFinalJob, jobStatusNames } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { figureParameters } from '../sweep/figure-address.ts';
import { jobColumns } from '../sweep/job-columns.tsx';
import { pageOfJobs } from '../sweep/job-page.ts';
import type { Peaks } from '../sweep/measures.ts';
import type { Swept } from '../sweep/use-sweep.ts';
import { go, linkTo, useAddress, useListAddress } from '../ui/address.ts';
import { Empty, Shown } from '../ui/basics.tsx';
import { type Act, ChoiceTable } from '../ui/choice-table.tsx';
import { Facets } from '../ui/facets.tsx';
import { Pager } from '../ui/pager.tsx';
import type { Column } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { jobs: words } = texts;

/** Rows of a page where the address names no other number. */
const pageRows = 100;

interface Props {
  readonly batch: ReadBatch;
  /** The latest ones: when they change, or all is erased, the page of jobs is read again. */
  readonly counts: ReadBatch['jobs_count_per_status'];
  readonly swept: Swept;
  readonly peaks: Peaks;
  /** The outcomes that the figure draws. */
  readonly outcomes: readonly (readonly string[])[];
  readonly marked: string | undefined;
  /** Reads the batch again. */
  readonly reload: () => void;
}

/**
 * The jobs of a batch. Filters, order and page are in the address, as the API has them. Where all
 * jobs are here, they are sorted here: by their variables and counts, too.
 */
export function BatchJobs(props: Props) {
  const { batch, counts, swept, reload } = props;
  const { address, filters, status, limit, isHere, list, columns, page } = useJobs(props);
  const shown = isHere
    ? { answer: page, failure: undefined, isOld: false, isLoading: swept.isLoading, reload: swept.reload }
    : list;
  const pagination = isHere ? page?.pagination : list.answer?.pagination;
  return (
    <>
      <div class="section">
        <h2>{words.title}</h2>
        <Facets
          label={words.columns.status}
          counts={counts}
          chosen={status}
          statuses={jobStatusNames}
          linkOf={(each) => address.link({ status: each })}
        />
      </div>
      {filters.some((name) => name !== 'status') && (
        <p>
          {words.filtered} <a href={linkTo(['batch', batch.id])}>{words.clear}</a>
        </p>
      )}
      <Shown loaded={shown}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{filters.length > 0 ? words.noMatch : words.none}</Empty>
          ) : (
            <ChoiceTable
              kind="rows jobs"
              nameOf={(job) => `${texts.sweep.job} ${job.creation_order + 1}`}
              label={words.title}
              words={words}
              columns={columns}
              rows={rows}
              sorting={address.sorting}
              acts={actsOn(batch, rows)}
              reload={() => {
                swept.reload();
                if (!isHere) list.reload();
                reload();
              }}
            />
          )
        }
      </Shown>
      {pagination !== undefined && pagination.total > limit && (
        <Pager pagination={pagination} limit={limit} linkTo={address.pages.linkTo} />
      )}
    </>
  );
}

/** What the address asks for: from the jobs that are here, or else from the service. */
function useJobs({ batch, counts, swept: { sweep, isLoading }, peaks, outcomes, marked }: Props) {
  const { query } = useAddress();
  const address = useListAddress(['batch', batch.id], { by: 'creation_order', direction: 'ASC' });
  const filters = Object.keys(address.filters).filter((name) => !isOfFigure(name));
  const status = query.getAll('status');
  const limit = Number(query.get('limit')) || pageRows;
  const offset = Math.max(0, Number(query.get('offset')) || 0);
  // Until the first answer it is not known whether all of them fit.
  const isUnknown = sweep.total === 0 && isLoading;
  const isWhole = sweep.jobs.length > 0 && sweep.jobs.length >= sweep.total;
  const isHere = isUnknown || (isWhole && filters.every((name) => name === 'status'));
  const asked = Object.fromEntries(Object.entries(address.query).filter(([name]) => !isOfFigure(name)));
  const list = useCall<readonly Job[]>(isHere ? null : '/api/v2/jobs', {
    // Without its owner, the list would have own jobs only.
    query: { ...asked, limit, batch_id: batch.id, user_id: batch.user_id },
    keepsAnswer: true,
  });
  const seen = JSON.stringify([counts, batch.erased_at]);
  useEffect(() => {
    if (list.answer !== undefined) list.reload();
  }, [seen]);
  const jobs = isHere ? sweep.jobs : (list.answer?.data ?? noJobs);
  const { columns, sortValues } = useMemo(
    () => jobColumns({ jobs, counts: sweep.counts, peaks, outcomes, marked, isLinked: true }),
    [jobs, sweep.counts, peaks, JSON.stringify(outcomes), marked],
  );
  const { by, direction } = address.sorting;
  const { jobs: data, total } = pageOfJobs(sweep.jobs, sortValues, { status, by, direction, offset, limit });
  const pagination = { total, start: offset, end: offset + data.length };
  return {
    ...{ address, filters, status, limit, isHere, list },
    columns: isHere ? columns : columns.map(sortedByService),
    page: isUnknown ? undefined : { data, pagination, retryAfter: undefined },
  };
}

const noJobs: readonly Job[] = [];

/** The service sorts by these. */
const sortedColumns: readonly (string | undefined)[] = ['creation_order', 'status', 'start_timestamp'];

function sortedByService([name, cell, look, by]: Column<Job>): Column<Job> {
  return [name, cell, look, sortedColumns.includes(by) ? by : undefined];
}

function isOfFigure(name: string): boolean {
  return (figureParameters as readonly string[]).includes(name);
}

function actsOn({ id, rights }: ReadBatch, jobs: readonly Job[]): readonly Act<Job>[] {
  const unfinished = new Set(jobs.filter((job) => !isFinalJob(job)).map((job) => job.id));
  const cancel: Act['run'] = async (api, ids) => {
    const call = { method: 'PATCH', query: { id: ids.filter((each) => unfinished.has(each)) } } as const;
    return (await api.call<{ errors: Record<string, string> }>(`/api/v2/batches/${id}/cancel/jobs`, call)).data.errors;
  };
  const rebatch: Act['run'] = async (api, ids, { attempt }) => {
    const call = { method: 'POST', query: { id: ids }, idempotencyKey: attempt } as const;
    const { data } = await api.call<{ id: string }>(`/api/v1/batches/${id}/rebatch`, call);
    go(linkTo(['batch', data.id]));
    return {};
  };
  return [
    ...(rights.includes('repeat')
      ? [{ label: words.rebatch, question: texts.batch.questions.rebatch, run: rebatch }]
      : []),
    ...(rights.includes('end')
      ? [{ label: words.cancel, isDanger: true, fits: (job: Job) => !isFinalJob(job), run: cancel }]
      : []),
  ];
}
