import { useState } from 'preact/hooks';
import type { BatchDetails } from '../../schemas/batch.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { SequenceView } from '../drawing/sequence-view.tsx';
import { useKnownPeople } from '../parts/known-people.ts';
import { LimitLink } from '../parts/limit-link.tsx';
import { jobColumns } from '../sweep/job-columns.tsx';
import { linkTo } from '../ui/address.ts';
import { Id, Person, Shown } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { BatchFacts } from './batch-facts.tsx';
import { titleOf } from './batch-head.tsx';
import { CancelQuestion, PriorityQuestion } from './operate-acts.tsx';
import type { QueueAct } from './operate-queue.tsx';

const { batch: words, operate } = texts;

/** A batch of anyone, without results. The audit trail has each look: it is read once. */
export function BatchPart({ userId, batchId }: { readonly userId: string; readonly batchId: string }) {
  const path = `/api/v1/users/${encodeURIComponent(userId)}/batches/${encodeURIComponent(batchId)}`;
  const found = useCall<BatchDetails>(path);
  return (
    <Shown loaded={found}>
      {(batch) => (
        <>
          <Crumbs
            links={[
              [operate.parts.devices, linkTo(['operate'])],
              [batch.device_type, linkTo(['operate', 'device', batch.device_type])],
            ]}
          >
            {titleOf(batch)}
          </Crumbs>
          <div class="head">
            <h1>
              <bdi>{titleOf(batch)}</bdi>
            </h1>
            <Status status={batch.status} pill />
            <Id id={batch.id} />
            <span class="aside push">{operate.batch.recorded}</span>
            {!isFinalBatchStatus(batch.status) && <BatchActs batch={batch} done={found.reload} />}
          </div>
          <BatchFacts batch={batch} owner={<OwnerWithLimits id={batch.user_id} />} />
          <h2>{texts.jobs.title}</h2>
          {batch.jobs === undefined ? (
            <p>{operate.batch.manyJobs}</p>
          ) : (
            <Table
              label={texts.jobs.title}
              // Operators open no job by itself.
              columns={jobColumns({ jobs: batch.jobs, counts: new Map(), peaks: [], isLinked: false }).columns}
              rows={batch.jobs}
              keyOf={({ id }) => id}
            />
          )}
          <h2>{words.sequence}</h2>
          {batch.sequence_builder === null ? (
            <p>{batch.erased_at === null ? words.noSequence : words.erased}</p>
          ) : (
            <SequenceView text={batch.sequence_builder} given={{}} name={`sequence-${batch.id}`} />
          )}
        </>
      )}
    </Shown>
  );
}

/** What the queue offers for a batch of it. */
function BatchActs({ batch, done }: { readonly batch: BatchDetails; readonly done: () => void }) {
  const [asked, setAsked] = useState<QueueAct>();
  const question = { batch, queue: [], done, close: () => setAsked(undefined) };
  return (
    <>
      <button type="button" disabled={batch.status !== 'PENDING'} onClick={() => setAsked('priority')}>
        {operate.queue.priority}
      </button>
      <button type="button" class="danger" onClick={() => setAsked('cancel')}>
        {operate.queue.cancel}
      </button>
      {asked === 'priority' && <PriorityQuestion {...question} />}
      {asked === 'cancel' && <CancelQuestion {...question} />}
    </>
  );
}

/** By name where they were seen lately, with the way to their limits. */
function OwnerWithLimits({ id }: { readonly id: string }) {
  const name = useKnownPeople().users.find((each) => each.id === id)?.name;
  return (
    <>
      <Person id={id} name={name} /> <LimitLink userId={id} name={name} />
    </>
  );
}
