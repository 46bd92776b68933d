import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ReadBatch } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { finalBatchStatuses } from '../../statuses.ts';
import type { CallFailed } from '../client/public-api.ts';
import { useCall } from '../client/use-call.ts';
import { readRegister } from '../drawing/qubit-places.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import { Register } from '../drawing/register.tsx';
import { SequenceView } from '../drawing/sequence-view.tsx';
import { type Count, excitationOf } from '../parts/counter.ts';
import { useProjects } from '../parts/projects.ts';
import { linesOfBatch, PythonCode } from '../parts/python-code.tsx';
import { TimelineBar } from '../parts/timeline-bar.tsx';
import { constantsOf } from '../sweep/caption.ts';
import { useFigureAddress } from '../sweep/figure-address.ts';
import { firstOutcomes, meanOnes, peaksOf } from '../sweep/measures.ts';
import { programOf } from '../sweep/program.ts';
import { SweepFigure } from '../sweep/sweep-figure.tsx';
import { type Sweep, sourceOf } from '../sweep/sweep-source.ts';
import { useSweep } from '../sweep/use-sweep.ts';
import { readVariables } from '../sweep/variables.ts';
import { linkTo, useAddress } from '../ui/address.ts';
import { Failure, Shown } from '../ui/basics.tsx';
import { NoAnswer } from '../ui/no-answer.tsx';
import { texts } from '../ui/texts.ts';
import { BatchActions } from './batch-actions.tsx';
import { BatchFacts, type Progress, Waiting } from './batch-facts.tsx';
import { BatchHead, BatchLine, titleOf } from './batch-head.tsx';
import { BatchJobs } from './batch-jobs.tsx';
import { BatchWebhook } from './batch-webhook.tsx';

const { batch: words } = texts;

/** Seconds between two looks where the service asks for no other pace. */
const lookSeconds = 5;

export function BatchView() {
  const { path } = useAddress();
  const id = path[1] ?? '';
  const batch = useCall<ReadBatch>(`/api/v2/batches/${encodeURIComponent(id)}`);
  const isKnown = batch.answer !== undefined;
  const progress = useCall<Progress>(isKnown ? `/api/v1/batches/${encodeURIComponent(id)}/status` : null, {
    again: ({ data }) => (isFinal((data as Progress).status) ? undefined : lookSeconds),
  });
  const now = progress.answer?.data;
  // Counts come with each look; what else there is of a batch changes with its status.
  useEffect(() => {
    if (batch.answer !== undefined && now !== undefined && now.status !== batch.answer.data.status) batch.reload();
  }, [now?.status]);
  const reload = () => {
    batch.reload();
    progress.reload();
  };
  return (
    <>
      <NoAnswer loaded={batch} title={words.title} id={id} />
      <Shown loaded={batch}>
        {(shown) => (
          <BatchContent key={shown.id} batch={shown} progress={now} failure={progress.failure} reload={reload} />
        )}
      </Shown>
    </>
  );
}

interface ContentProps {
  readonly batch: ReadBatch;
  readonly progress: Progress | undefined;
  readonly failure: CallFailed | undefined;
  readonly reload: () => void;
}

function BatchContent({ batch, progress, failure, reload }: ContentProps) {
  const status = progress?.status ?? batch.status;
  const counts = progress?.jobs_count_per_status ?? batch.jobs_count_per_status;
  const projects = useProjects();
  const swept = useSweep(batch, JSON.stringify(counts));
  const { sweep } = swept;
  const title = titleOf(batch);
  const { choice } = useFigureAddress();
  const peaks = useMemo(() => peaksOf(sweep.counts.values()), [sweep.counts]);
  const outcomes = choice.outcomes ?? firstOutcomes(peaks);
  const [marked, mark] = useState<string>();
  const { units, atoms } = useMemo(() => programOf(batch.sequence_builder), [batch.sequence_builder]);
  const constants = useMemo(() => constantsOf(readVariables(sweep.jobs).constant, units), [sweep.jobs, units]);
  const drawn = useMemo(() => drawnJob(sweep, marked), [sweep, marked]);
  const sources = useMemo(() => [sourceOf(title, linkTo(['batch', batch.id]), sweep)], [title, batch.id, sweep]);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  useEffect(() => {
    document.title = `${title} · ${texts.title}`;
  }, [title]);
  return (
    <>
      <BatchHead {...{ batch, title, status, counts, sweep }}>
        <BatchActions batch={{ ...batch, jobs_count_per_status: counts }} reload={reload} />
      </BatchHead>
      <BatchLine
        {...{ batch, total, projects }}
        constants={sweep.jobs.length > 1 ? constants : undefined}
        runs={new Set(sweep.jobs.map(({ runs }) => runs))}
      />
      <TimelineBar
        created={batch.created_at}
        started={batch.start_datetime}
        ended={batch.end_datetime}
        status={status}
        likely={progress?.estimated_start?.likely}
      />
      {batch.erased_at !== null && (
        <p class="notice">
          <strong>{words.erased}</strong> {words.whatIsLeft}
        </p>
      )}
      <Failure failure={failure} />
      <Failure failure={swept.failure} retry={swept.reload} />
      {progress !== undefined && !isFinal(status) && <Waiting progress={progress} />}
      {sweep.jobs.length > 1 && batch.erased_at === null && (
        <div class="split">
          <SweepFigure
            {...{ title, units, atoms, marked, mark, peaks }}
            sources={sources}
            isReading={!sweep.isWhole && swept.isLoading}
            isAtWork={!isFinal(status)}
          />
          <div class="stack">
            {batch.sequence_builder !== null && drawn !== undefined && (
              <JobRegister
                sequence={batch.sequence_builder}
                job={drawn}
                counts={sweep.counts.get(drawn.id) ?? noCounts}
              />
            )}
            <PythonCode lines={linesOfBatch(batch.id)} />
          </div>
        </div>
      )}
      <BatchJobs {...{ batch, counts, swept, peaks, outcomes, marked, reload }} />
      <Program batch={batch} jobs={sweep.jobs} />
      {batch.webhook !== null && (
        <BatchWebhook
          batchId={batch.id}
          mayTest={batch.rights.includes('change')}
          address={batch.webhook}
          attemptedAt={progress?.webhook_attempt?.attempted_at ?? null}
        />
      )}
      <h2>{words.details}</h2>
      <BatchFacts batch={batch} progress={progress} />
    </>
  );
}

const noCounts: readonly Count[] = [];

function isFinal(status: ReadBatch['status']): boolean {
  return finalBatchStatuses.includes(status);
}

/** The job that is drawn: the marked one, or else the one with the most excited atoms. */
function drawnJob({ jobs, counts }: Sweep, marked: string | undefined): Job | undefined {
  const ones = ({ id }: Job) => meanOnes(counts.get(id) ?? [])?.value ?? -1;
  const most = jobs.reduce<Job | undefined>(
    (best, job) => (best === undefined || ones(job) > ones(best) ? job : best),
    undefined,
  );
  return jobs.find(({ id }) => id === marked) ?? most;
}

/** Where atoms are, and how often each was excited in a job. Nothing where that cannot be drawn. */
function JobRegister({
  sequence,
  job,
  counts,
}: {
  readonly sequence: string;
  readonly job: Job;
  readonly counts: readonly Count[];
}) {
  const register = useMemo(() => {
    const read = readSequence(sequence);
    return read && readRegister(read, job.variables ?? {});
  }, [sequence, job]);
  const excitation = useMemo(() => excitationOf(counts), [counts]);
  if (register === undefined) return null;
  return (
    <section class="card">
      <div class="bar">
        <h2>{texts.sweep.register}</h2>
        {excitation !== undefined && (
          <span class="aside push">
            {texts.sweep.job} {job.creation_order + 1}
          </span>
        )}
      </div>
      <Register register={register} excitation={excitation} />
    </section>
  );
}

function Program({ batch, jobs }: { readonly batch: ReadBatch; readonly jobs: readonly Job[] }) {
  return (
    <>
      <h2>{words.sequence}</h2>
      {batch.sequence_builder === null ? (
        <p>{batch.erased_at === null ? words.noSequence : words.erased}</p>
      ) : (
        <SequenceView text={batch.sequence_builder} given={{}} name={`sequence-${batch.id}`} jobs={jobs} />
      )}
    </>
  );
}
