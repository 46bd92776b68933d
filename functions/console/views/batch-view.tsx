import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ReadBatch } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { finalBatchStatuses } from '../../statuses.ts';
import type { CallFailed } from '../client/public-api.ts';
import { useCall } from '../client/use-call.ts';
import { SequenceView } from '../drawing/sequence-view.tsx';
import { useProjects } from '../parts/projects.ts';
import { constantsOf } from '../sweep/caption.ts';
import { useFigureAddress } from '../sweep/figure-address.ts';
import { firstOutcomes, meanOnes, peaksOf } from '../sweep/measures.ts';
import { programOf } from '../sweep/program.ts';
import { SweepFigure } from '../sweep/sweep-figure.tsx';
import { SweepRegister } from '../sweep/sweep-register.tsx';
import { type Sweep, sourceOf } from '../sweep/sweep-source.ts';
import { useSweep } from '../sweep/use-sweep.ts';
import { readVariables } from '../sweep/variables.ts';
import { linkTo, useAddress } from '../ui/address.ts';
import { Failure, Shown } from '../ui/basics.tsx';
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
    <Shown loaded={batch}>
      {(shown) => (
        <BatchContent key={shown.id} batch={shown} progress={now} failure={progress.failure} reload={reload} />
      )}
    </Shown>
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
  const settled = useSettled(drawn);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
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
      <Failure failure={failure} />
      <Failure failure={swept.failure} retry={swept.reload} />
      {progress !== undefined && !isFinal(status) && <Waiting progress={progress} />}
      {sweep.jobs.length > 1 && (
        <div class="split">
          <SweepFigure
            {...{ title, units, atoms, marked, mark, peaks }}
            sources={sources}
            isReading={!sweep.isWhole && swept.isLoading}
            isAtWork={!isFinal(status)}
          />
          <div class="stack">
            {batch.sequence_builder !== null && drawn !== undefined && (
              <SweepRegister
                sequence={batch.sequence_builder}
                variables={drawn.variables ?? {}}
                counts={sweep.counts.get(drawn.id)}
                name={`${texts.sweep.job} ${drawn.creation_order + 1}`}
              />
            )}
          </div>
        </div>
      )}
      <BatchJobs {...{ batch, counts, swept, peaks, outcomes, marked, reload }} />
      <Program batch={batch} drawn={settled} />
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
function isFinal(status: ReadBatch['status']): boolean {
  return finalBatchStatuses.includes(status);
}

/** The value once it has stayed for a moment: what is slow to draw does not follow the pointer. */
function useSettled<Value>(value: Value): Value {
  const [settled, settle] = useState(() => value);
  useEffect(() => {
    const timer = setTimeout(() => settle(() => value), 200);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
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

function Program({ batch, drawn }: { readonly batch: ReadBatch; readonly drawn: Job | undefined }) {
  const hasVariables = drawn?.variables != null && Object.keys(drawn.variables).length > 0;
  return (
    <>
      <h2>{words.sequence}</h2>
      {batch.sequence_builder === null ? (
        <p>{batch.erased_at === null ? words.noSequence : words.erased}</p>
      ) : (
        <>
          {hasVariables && <p class="aside">{words.drawnWith(drawn.creation_order + 1)}</p>}
          <SequenceView text={batch.sequence_builder} given={drawn?.variables ?? {}} name={`sequence-${batch.id}`} />
        </>
      )}
    </>
  );
}
