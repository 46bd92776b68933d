import type { BatchDetails } from '../../schemas/batch.ts';
import { useCall } from '../client/use-call.ts';
import { SequenceView } from '../drawing/sequence-view.tsx';
import { jobColumns } from '../sweep/job-columns.tsx';
import { Id, Shown } from '../ui/basics.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { BatchFacts } from './batch-facts.tsx';

const { batch: words, operate } = texts;

/** A batch of anyone, without results. The audit trail has each look: it is read once. */
export function BatchPart({ userId, batchId }: { readonly userId: string; readonly batchId: string }) {
  const path = `/api/v1/users/${encodeURIComponent(userId)}/batches/${encodeURIComponent(batchId)}`;
  const found = useCall<BatchDetails>(path);
  return (
    <Shown loaded={found}>
      {(batch) => (
        <>
          <h2>
            {words.title} <Id id={batch.id} /> <Status status={batch.status} />
          </h2>
          <p class="aside">{operate.batch.recorded}</p>
          <BatchFacts batch={batch} />
          <h3>{texts.jobs.title}</h3>
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
          <h3>{words.sequence}</h3>
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
