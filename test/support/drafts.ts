import { emptyHead, type Head } from '../../functions/data/columns/head.ts';
import { ownerFormats } from '../../functions/data/columns/lists.ts';
import { type Change, type Draft, emptyDraft } from '../../functions/data/lifecycle/draft.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';

export const userId = 'auth0|ada';

/** A head after `rows` rows; without one, as it is before the first row. */
export function headAfter(rows: number, last_created_at: string): Head {
  return { ...emptyHead(ownerFormats.batch), next_seq: rows, last_created_at };
}

/** The draft of a transaction that has read these rows. */
export function draftOf({
  batches = [],
  jobs = [],
  heads = { batch: undefined, job: undefined },
}: {
  readonly batches?: readonly BatchRow[];
  readonly jobs?: readonly JobRow[];
  readonly heads?: { readonly batch: Head | undefined; readonly job: Head | undefined };
} = {}): Draft {
  return emptyDraft(ownerFormats, {
    heads,
    batches: new Map(batches.map((row) => [row.id, row])),
    jobs: new Map(jobs.map((row) => [row.id, row])),
    processedCalls: new Map(),
  });
}

/** The draft after all operations. */
export function applyAll(draft: Draft, operations: readonly Change[]): Draft {
  return operations.reduce((before, operation) => operation.apply(before), draft);
}

/** What is stored once the draft's transaction was made, as the draft of the next one. */
export function store(draft: Draft): Draft {
  return draftOf({
    batches: [...new Map([...draft.stored.batches, ...draft.batches]).values()],
    jobs: [...new Map([...draft.stored.jobs, ...draft.jobs]).values()],
    heads: draft.heads,
  });
}
