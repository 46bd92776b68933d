import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BatchDetails, ReadBatch } from '../../schemas/batch.ts';
import type { EstimatedStart } from '../../schemas/estimate.ts';
import type { WebhookAttempt } from '../../schemas/webhook.ts';
import { finalBatchStatuses } from '../../statuses.ts';
import { useCall, useSigned } from '../client/use-call.ts';
import { SequenceView } from '../drawing/sequence-view.tsx';
import { Owner, ProjectName } from '../parts/owner.tsx';
import { useProjects } from '../parts/projects.ts';
import { linkTo, useAddress } from '../ui/address.ts';
import { Facts, Failure, Id, Long, Shown, Time } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { Status } from '../ui/status.tsx';
import { texts } from '../ui/texts.ts';
import { BatchActions } from './batch-actions.tsx';
import { Tags } from './batch-columns.tsx';
import { BatchJobs } from './batch-jobs.tsx';
import { BatchWebhook } from './batch-webhook.tsx';

const { batch: words } = texts;

/** What the status call answers. */
interface Progress {
  readonly status: ReadBatch['status'];
  readonly jobs_count_per_status: ReadBatch['jobs_count_per_status'];
  readonly queue_position: number | null;
  readonly queue_reason: string | null;
  readonly estimated_start: EstimatedStart | null;
  readonly estimated_start_reason: keyof typeof words.noEstimate | null;
  readonly webhook_attempt: WebhookAttempt | null;
}

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
  // What the status call shows to have changed is read again, and nothing else.
  const state = now === undefined ? '' : JSON.stringify([now.status, now.jobs_count_per_status]);
  useEffect(() => {
    if (batch.answer !== undefined && state !== '' && state !== stateOf(batch.answer.data)) batch.reload();
  }, [state]);
  const reload = () => {
    batch.reload();
    progress.reload();
  };
  return (
    <Shown loaded={batch}>
      {(shown) => (
        <>
          <div class="title">
            <h1>
              {words.title} <Id id={shown.id} /> <Status status={now?.status ?? shown.status} />
            </h1>
            <BatchActions key={shown.id} batch={shown} reload={reload} />
          </div>
          <Failure failure={progress.failure} />
          <BatchFacts batch={shown} progress={now} />
          <BatchJobs
            key={shown.id}
            batch={shown}
            counts={now?.jobs_count_per_status ?? shown.jobs_count_per_status}
            reload={reload}
          />
          {shown.webhook !== null && (
            <BatchWebhook
              key={`webhook-${shown.id}`}
              batchId={shown.id}
              mayTest={shown.rights.includes('change')}
              address={shown.webhook}
              attemptedAt={now?.webhook_attempt?.attempted_at ?? null}
            />
          )}
          <h2>{words.sequence}</h2>
          {shown.sequence_builder === null ? (
            <p>{shown.erased_at === null ? words.noSequence : words.erased}</p>
          ) : (
            <SequenceView text={shown.sequence_builder} given={{}} name={`sequence-${shown.id}`} />
          )}
        </>
      )}
    </Shown>
  );
}

function isFinal(status: ReadBatch['status']): boolean {
  return finalBatchStatuses.includes(status);
}

function stateOf({ status, jobs_count_per_status }: ReadBatch): string {
  return JSON.stringify([status, jobs_count_per_status]);
}

interface FactsProps {
  readonly batch: BatchDetails;
  readonly progress?: Progress | undefined;
}

export function BatchFacts({ batch, progress }: FactsProps) {
  const { session } = useSigned();
  const projects = useProjects();
  const { parent_id, configuration, backend_configuration: backend } = batch;
  const facts: [string, ComponentChildren][] = [
    [words.facts.device, batch.device_type],
    [words.facts.priority, batch.queue_priority],
    [words.facts.open, batch.open ? words.open : words.closed],
    [words.facts.created, <Time time={batch.created_at} />],
    [words.facts.started, <Time time={batch.start_datetime} />],
    [words.facts.ended, <Time time={batch.end_datetime} />],
    [words.facts.project, <ProjectName id={batch.project_id} projects={projects} />],
  ];
  if (batch.user_id !== session.userId)
    facts.push([words.facts.owner, <Owner id={batch.user_id} of={batch.project_id} projects={projects} />]);
  if (progress !== undefined && !isFinal(progress.status)) facts.push(...waitingFacts(progress));
  if (batch.tags.length > 0) {
    const link = (tag: string) => linkTo(['batches'], { tag });
    facts.push([words.facts.tags, <Tags tags={batch.tags} link={link} max={20} />]);
  }
  if (parent_id !== null) facts.push([words.facts.parent, <Id id={parent_id} link={linkTo(['batch', parent_id])} />]);
  if (batch.device_status !== null) facts.push([words.facts.deviceStatus, <Long text={batch.device_status} />]);
  if (batch.erased_at !== null) facts.push([words.facts.erased, <Time time={batch.erased_at} />]);
  if (configuration !== null) {
    facts.push([words.facts.configuration, <Long text={JSON.stringify(configuration, null, 1)} max={80} />]);
  }
  if (backend !== null) facts.push([words.facts.backend, <Long text={backend} max={80} />]);
  const attempt = progress?.webhook_attempt ?? null;
  if (attempt !== null) facts.push([words.facts.attempt, <Attempt attempt={attempt} />]);
  return (
    <div class="card">
      <Facts facts={facts} />
    </div>
  );
}

/** Where it is in the queue, and when it is likely to start. A service may not say so yet. */
function waitingFacts(progress: Progress): [string, ComponentChildren][] {
  const { queue_position: position, queue_reason, estimated_start: start, estimated_start_reason: reason } = progress;
  const facts: [string, ComponentChildren][] = [];
  if (position !== null) {
    facts.push([words.facts.position, position === 0 ? words.next : `${formatCount(position)} ${words.before}`]);
  }
  if (queue_reason !== null) facts.push([words.facts.reason, <Long text={queue_reason} />]);
  if (start) {
    const value = (
      <>
        <Time time={start.likely} />
        <span class="aside">
          {' '}
          (<Time time={start.earliest} /> – <Time time={start.latest} />)
        </span>
      </>
    );
    facts.push([words.facts.start, value]);
  } else if (reason && reason !== 'running' && reason !== 'ended') {
    facts.push([words.facts.start, words.noEstimate[reason]]);
  }
  return facts;
}

function Attempt({ attempt }: { readonly attempt: WebhookAttempt }) {
  const { outcome, reason, job_id, attempts, attempted_at, next_attempt_at } = attempt;
  return (
    <>
      <Status status={outcome} /> {attempted_at !== null && <Time time={attempted_at} />}
      {reason !== null && (
        <>
          {' '}
          <Long text={reason} />
        </>
      )}
      <span class="aside">
        {job_id !== null && (
          <>
            {' '}
            {words.aboutJob} <Id id={job_id} link={linkTo(['job', job_id])} />
          </>
        )}
        {attempts > 1 && ` · ${formatCount(attempts)} ${words.attempts}`}
        {next_attempt_at !== null && (
          <>
            {' · '}
            {words.nextAttempt} <Time time={next_attempt_at} />
          </>
        )}
      </span>
    </>
  );
}
