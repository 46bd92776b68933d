import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { blockEdits, type Row } from '../columns/column-items.ts';
import { withTextsOf } from '../columns/facets.ts';
import { emptyHead, type Head } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { OwnerLists } from '../columns/lists.ts';

/** The event that asks for an operation. Without one, it is asked for directly, and now. */
export interface Event extends EventMark {
  readonly time: string;
}

/** A change of one owner's rows that is made wholly or not at all. */
export interface Operation {
  /** The rows that it looks at: read before. */
  readonly batchIds: readonly string[];
  readonly jobIds: readonly string[];
  readonly event?: Event | undefined;
  /** The draft with the change; the same draft when it is so already. Throws where it may not be. */
  apply(draft: Draft): Draft;
  /** Two operations that do the same one after the other, for when no transaction holds it; undefined: it is small. */
  halves?(): readonly [Operation, Operation] | undefined;
}

/** What an attempt has read of an owner. */
export interface Stored {
  /** Undefined where the owner has no row yet. */
  readonly heads: { readonly batch: Head | undefined; readonly job: Head | undefined };
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
  /** Digests of those events that have been carried out, by their ids. */
  readonly marks: ReadonlyMap<string, string>;
}

/** The event that asks for a change: remembered in the same transaction, so that it is carried out once. */
export interface EventMark {
  readonly id: string;
  /** Tells the event again from another one of the same id. */
  readonly digest: string;
}

/** What one transaction is to change, decided so far, on top of what is stored. Never changed itself. */
export interface Draft {
  readonly stored: Stored;
  readonly heads: { readonly batch: Head; readonly job: Head };
  /** The rows that differ from those stored. */
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
  readonly marks: readonly EventMark[];
  /** Keys of the blocks that may change with them, and the size of the rows: at least as many and as much as it will be. */
  readonly blocks: ReadonlySet<string>;
  readonly bytes: number;
}

export function emptyDraft(lists: OwnerLists, stored: Stored): Draft {
  const heads = { batch: stored.heads.batch ?? emptyHead(lists.batch), job: stored.heads.job ?? emptyHead(lists.job) };
  return { stored, heads, batches: new Map(), jobs: new Map(), marks: [], blocks: new Set(), bytes: 0 };
}

export function batchIn(draft: Draft, id: string): BatchRow | undefined {
  return draft.batches.get(id) ?? draft.stored.batches.get(id);
}

export function jobIn(draft: Draft, id: string): JobRow | undefined {
  return draft.jobs.get(id) ?? draft.stored.jobs.get(id);
}

/** The draft with these rows as they are to be. */
export function withRows(
  lists: OwnerLists,
  draft: Draft,
  rows: { readonly batches?: readonly BatchRow[]; readonly jobs?: readonly JobRow[]; readonly heads?: Draft['heads'] },
): Draft {
  const { batches = [], jobs = [], heads = draft.heads } = rows;
  const blocks = new Set(draft.blocks);
  for (const row of batches) addBlockKeys(blocks, lists.batch, draft.stored.batches.get(row.id), row);
  for (const row of jobs) addBlockKeys(blocks, lists.job, draft.stored.jobs.get(row.id), row);
  return {
    ...draft,
    heads,
    batches: new Map([...draft.batches, ...batches.map((row) => [row.id, row] as const)]),
    jobs: new Map([...draft.jobs, ...jobs.map((row) => [row.id, row] as const)]),
    blocks,
    bytes: [...batches, ...jobs].reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row)), draft.bytes),
  };
}

/** Which blocks change does not depend on the owner's dictionaries: those of the row itself do. */
function addBlockKeys(keys: Set<string>, list: ListDescription, before: Row | undefined, after: Row) {
  for (const { key } of blockEdits(list, before, after, withTextsOf(Object.values(list.columns), after, {})))
    keys.add(key);
}

/** DynamoDB's bounds on a transaction are 100 items and 4 MB; blocks are small. */
const mostItems = 100;
const mostBytes = 3_500_000;

/** Whether one transaction can hold the draft. */
export function fits(draft: Draft): boolean {
  const heads = 2;
  const items = heads + draft.batches.size + draft.jobs.size + draft.blocks.size + draft.marks.length;
  return items <= mostItems && draft.bytes <= mostBytes;
}

export function changesNothing(draft: Draft): boolean {
  return draft.batches.size === 0 && draft.jobs.size === 0;
}
