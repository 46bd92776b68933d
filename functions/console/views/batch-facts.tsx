import type { ComponentChildren } from 'preact';
import type { BatchDetails, ReadBatch } from '../../schemas/batch.ts';
import type { EstimatedStart } from '../../schemas/estimate.ts';
import type { WebhookAttempt } from '../../schemas/webhook.ts';
import { useSigned } from '../client/use-call.ts';
import { Owner, ProjectName } from '../parts/owner.tsx';
import { useProjects } from '../parts/projects.ts';
import { linkTo } from '../ui/address.ts';
import { Facts, Id, Long, Time } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { Status } from '../ui/status.tsx';
import { texts } from '../ui/texts.ts';
import { Tags } from './batch-columns.tsx';

const { batch: words } = texts;

/** What the status call answers. */
export interface Progress {
  readonly status: ReadBatch['status'];
  readonly jobs_count_per_status: ReadBatch['jobs_count_per_status'];
  readonly queue_position: number | null;
  readonly queue_reason: string | null;
  readonly estimated_start: EstimatedStart | null;
  readonly estimated_start_reason: keyof typeof words.noEstimate | null;
  readonly webhook_attempt: WebhookAttempt | null;
}

interface FactsProps {
  readonly batch: BatchDetails;
  readonly progress?: Progress | undefined;
  /** Whose it is, for readers who know more than the projects say. */
  readonly owner?: ComponentChildren;
}

/** All that is known of a batch besides its jobs. */
export function BatchFacts({ batch, progress, owner }: FactsProps) {
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
  if (owner !== undefined) facts.push([words.facts.owner, owner]);
  else if (batch.user_id !== session.userId)
    facts.push([words.facts.owner, <Owner id={batch.user_id} of={batch.project_id} projects={projects} />]);
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

/** Why a batch waits, and for how long. Nothing where that is not known. */
export function Waiting({ progress }: { readonly progress: Progress }) {
  const facts = waitingFacts(progress);
  if (facts.length === 0) return null;
  return (
    <div class="card sweep-waiting">
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
