/** Commits what a call asks for, and plans it again where jobs were added in the meantime. */

import { TooBusy } from '../../errors.ts';
import { WritePace } from '../dynamodb/write-pace.ts';
import { type CommitContext, type Committed, commitChanges, type PlannedTask } from './commit-changes.ts';
import type { Change } from './draft.ts';
import { JobsLeft } from './end-jobs.ts';
import type { LifecycleDb } from './lifecycle-db.ts';

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
export async function commitTasks(db: LifecycleDb, context: CommitContext, tasks: readonly Task[]): Promise<Committed> {
  let committed = await planAndCommit(db, context, tasks);
  for (let plans = 1; plans < maxPlans; plans++) {
    const left = [...committed.errors.keys()].filter((at) => committed.errors[at] instanceof JobsLeft);
    if (left.length === 0) break;
    const again = await planAndCommit(
      db,
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
export async function commitTask(db: LifecycleDb, context: CommitContext, task: Task): Promise<Committed> {
  const committed = await commitTasks(db, { ...context, pace: context.pace ?? new WritePace(db.clock) }, [task]);
  const [error] = committed.errors;
  if (error !== undefined) throw error;
  return committed;
}

async function planAndCommit(db: LifecycleDb, context: CommitContext, tasks: readonly Task[]): Promise<Committed> {
  const planned = tasks.map(async ({ changes, ...task }) => ({
    ...task,
    changes: typeof changes === 'function' ? await changes() : changes,
  }));
  return commitChanges(db, context, await Promise.all(planned));
}
