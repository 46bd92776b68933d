/** Commits what a call asks for, and plans it again where jobs were added in the meantime. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { TooBusy } from '../../errors.ts';
import type { InterruptedCall } from '../../schemas/recovery-request.ts';
import { type OwnerLists, ownerLists } from '../columns/lists.ts';
import { WritePace } from '../dynamodb/write-pace.ts';
import { type CommitContext, type Committed, commitChanges, type PlannedTask } from './commit-changes.ts';
import type { Change } from './draft.ts';
import { JobsLeft } from './end-jobs.ts';
import type { LifecycleTables } from './transaction.ts';

export interface LifecycleOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly shotsOf?: CommitContext['shotsOf'];
  /** Tests write lists of other descriptions. */
  readonly lists?: OwnerLists | undefined;
  /** Makes the pace of a call. By default, it is that of a request. */
  readonly newPace?: () => WritePace;
  /**
   * Awaited before a change of a batch that may take several transactions, so that someone else can
   * complete what a crash leaves half-done. A call that does not change the batch as a whole names
   * the jobs that it changes.
   */
  readonly beforeMultiTransaction?: (userId: string, batchId: string, call?: InterruptedCall) => Promise<void>;
  /** Leaves a change that stopped part-way to someone else, who completes or undoes it at once. */
  readonly handOver?: (userId: string, batchId: string, call?: InterruptedCall) => Promise<void>;
}

/** What every write needs, with the defaults of production. */
export function writeContext(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  { now = Date.now, lists = ownerLists, newPace = () => new WritePace(), shotsOf }: LifecycleOptions = {},
): Omit<CommitContext, 'userId'> & { readonly newPace: () => WritePace } {
  return { client, tables, lists, now, newPace, shotsOf };
}

/** Changes that follow each other; or a function that plans them from what is stored now. */
export interface Task extends Omit<PlannedTask, 'changes'> {
  readonly changes: readonly Change[] | (() => Promise<readonly Change[]>);
}

/** How often jobs may be added between the planning of a task and its last change. */
const maxPlans = 5;

/**
 * As commitChanges. A task that throws JobsLeft is planned again, up to five times in all; then its
 * error is TooBusy.
 */
export async function commitTasks(context: CommitContext, tasks: readonly Task[]): Promise<Committed> {
  let committed = await planAndCommit(context, tasks);
  for (let plans = 1; plans < maxPlans; plans++) {
    const left = [...committed.errors.keys()].filter((at) => committed.errors[at] instanceof JobsLeft);
    if (left.length === 0) break;
    const again = await planAndCommit(
      context,
      left.map((at) => tasks[at] as Task),
    );
    const errors = new Map(left.map((at, place) => [at, again.errors[place]]));
    committed = {
      errors: committed.errors.map((error, at) => (errors.has(at) ? errors.get(at) : error)),
      batches: new Map([...committed.batches, ...again.batches]),
      jobs: new Map([...committed.jobs, ...again.jobs]),
      last: again.last ?? committed.last,
    };
  }
  const isLeft = (error: Error | undefined) => error instanceof JobsLeft;
  const busy = new TooBusy('Jobs were added to the batch through all attempts.');
  return { ...committed, errors: committed.errors.map((error) => (isLeft(error) ? busy : error)) };
}

/** As commitTasks, of one task, at the pace of a call. Throws what stopped it. */
export async function commitTask(
  { newPace, ...context }: CommitContext & { readonly newPace: () => WritePace },
  task: Task,
): Promise<Committed> {
  const committed = await commitTasks({ ...context, pace: context.pace ?? newPace() }, [task]);
  const [error] = committed.errors;
  if (error !== undefined) throw error;
  return committed;
}

async function planAndCommit(context: CommitContext, tasks: readonly Task[]): Promise<Committed> {
  const planned = tasks.map(async ({ changes, ...task }) => ({
    ...task,
    changes: typeof changes === 'function' ? await changes() : changes,
  }));
  return commitChanges(context, await Promise.all(planned));
}
