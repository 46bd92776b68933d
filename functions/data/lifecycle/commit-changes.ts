import { AlreadyExists, OutdatedColumns, OverLimit, TooBusy, TooManyCalls, Unfinished } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { formatsOf } from '../columns/lists.ts';
import { Contention, isUnavailable } from '../dynamodb/aws-errors.ts';
import { type Decision, optimisticTransaction, type WriterLock } from '../dynamodb/optimistic-transaction.ts';
import { StuckCondition } from '../dynamodb/stuck-condition.ts';
import type { WritePace } from '../dynamodb/write-pace.ts';
import type { EffectiveLimits } from '../limits/limits-of-subjects.ts';
import { countBusy } from '../queue/queue.ts';
import { checkLimits } from './check-limits.ts';
import type { CheckedCounters } from './counters.ts';
import {
  type Change,
  changesNothing,
  type Draft,
  emptyDraft,
  fits,
  OtherChoice,
  type ProcessedCall,
  reportedJob,
  type Stored,
  visibleBatch,
} from './draft.ts';
import type { LazyValue } from './lazy-value.ts';
import type { LifecycleDb } from './lifecycle-db.ts';
import { type ShotsOf, withShots } from './shots.ts';
import { maxRowsRead, readBlocksAndClocks, readStored, requireHeads } from './stored.ts';
import { sumDraft } from './sum-usage.ts';
import { createTransaction } from './transaction.ts';

interface Step {
  readonly change: Change;
  readonly task: number;
}

/** The steps that are left, in their order: first those to try one by one, then the others. */
interface Schedule {
  /** DynamoDB refused these steps in one transaction. A step that it refuses alone is at fault. */
  readonly oneByOne: readonly Step[];
  /** As many of these as a transaction holds go together. */
  readonly together: readonly Step[];
}

/** What an attempt did with the steps that it was given. */
interface Progress {
  /** The number of steps, from the first on, that are over: carried out, refused, or replaced. */
  readonly done: number;
  /**
   * Replace the last step that is done: its two parts, if the whole was too large for a
   * transaction.
   */
  readonly replacedBy: readonly Step[];
  /** Why a task is refused, by its number. */
  readonly refusals: ReadonlyMap<number, Error>;
  readonly draft: Draft;
}

/** What attempts know of earlier ones. */
interface Memory {
  /** Ids of the events and calls that this commit has remembered. */
  readonly remembered: Set<string>;
  /** Operations whose refusal was found twice, or that went on since. */
  readonly reread: Set<Change>;
  /** Tasks that are known to take several transactions. */
  readonly announced: Set<number>;
}

/** Whose rows are written, and how. */
export interface CommitContext {
  readonly userId: string;
  /** For calls that many others of the same owner may contend with. */
  readonly lock?: WriterLock | undefined;
  readonly shotsOf?: ShotsOf | undefined;
  /** The distance between transactions, and the time for all of them. By default there is none. */
  readonly pace?: WritePace | undefined;
  /**
   * Asked before each transaction but the first, like the pace. Once it is false, tasks that are
   * left get Unfinished.
   */
  readonly hasTime?: (() => boolean) | undefined;
  /** The limits of a user's creation. */
  readonly limits?: LazyValue<readonly EffectiveLimits[]> | undefined;
  /** The changes come from events. Each event may be delivered twice at the same time. */
  readonly source?: 'events' | undefined;
  /**
   * Counts microseconds for which a device was busy with jobs that a transaction has changed; it
   * must not fail. By default countBusy.
   */
  readonly countBusy?: ((deviceType: string, microseconds: number) => unknown) | undefined;
  /** Everything is checked as usual, and nothing is sent. */
  readonly dryRun?: true | undefined;
}

/** Changes that follow each other. */
export interface PlannedTask {
  readonly changes: readonly Change[];
  /** Awaited before the first transaction if the task takes several. The task gets its error. */
  readonly announce?: (() => unknown) | undefined;
}

export interface Committed {
  /** For each task the error that stopped it, or undefined. */
  readonly errors: readonly (Error | undefined)[];
  /** All rows that were read or changed, as they are now. */
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
  /** The draft of the last transaction; undefined when there was none. */
  readonly last: Draft | undefined;
}

/**
 * Commits tasks of one owner in their order.
 *
 * - As many changes as possible share a transaction: what they have in common (heads, blocks,
 *   counts) is written once. A task that one transaction holds is not spread over two.
 * - A refused task changes nothing, or no more than its changes before the refused one. The other
 *   tasks go on.
 * - When DynamoDB refuses a transaction of several changes, each is tried alone, so that no task
 *   suffers for another's.
 * - When DynamoDB throttles or fails, this task and all after it get that error: later tasks must
 *   not overtake it.
 * - When time runs out, the tasks that are left get Unfinished. Some of their changes may be made.
 */
export async function commitChanges(
  db: LifecycleDb,
  context: CommitContext,
  tasks: readonly PlannedTask[],
): Promise<Committed> {
  const { pace, hasTime } = context;
  const errors: (Error | undefined)[] = tasks.map(() => undefined);
  const batches = new Map<string, BatchRow>();
  const jobs = new Map<string, JobRow>();
  let last: Draft | undefined;
  let hasBegun = false;
  const memory: Memory = { remembered: new Set(), reread: new Set(), announced: new Set() };
  const isGoingOn = ({ task }: Step) => errors[task] === undefined;
  let schedule: Schedule = {
    oneByOne: [],
    together: tasks.flatMap(({ changes }, task) => changes.map((change) => ({ change, task }))),
  };
  while (schedule.oneByOne.length + schedule.together.length > 0) {
    const steps = nextSteps(schedule);
    const next = [...schedule.oneByOne, ...schedule.together][steps.length];
    let attempts = 0;
    try {
      const progress = await optimisticTransaction(
        db,
        () => attemptSteps({ db, ...context }, { tasks, steps, next, isFirst: attempts++ === 0 }, memory),
        context,
      );
      const { done, replacedBy, refusals } = progress;
      await countDeviceTime(db, context, progress.draft);
      for (const rows of [progress.draft.stored, progress.draft]) {
        for (const [id, row] of rows.batches) batches.set(id, row);
        for (const [id, row] of rows.jobs) jobs.set(id, row);
      }
      for (const { id } of progress.draft.processedCalls) memory.remembered.add(id);
      last = progress.draft;
      for (const [task, error] of refusals) errors[task] = error;
      schedule = withoutFirst(schedule, done, replacedBy);
      const left = [...schedule.oneByOne, ...schedule.together].filter(isGoingOn);
      // Where a change was split, nothing was sent.
      if (replacedBy.length === 0) hasBegun = true;
      const isInTime = () => hasTime?.() !== false && pace?.hasTimeFor({ left: left.length, made: done }) !== false;
      const goesOn = replacedBy.length > 0 || isInTime();
      if (!goesOn) for (const { task } of left) errors[task] = new Unfinished();
    } catch (error) {
      const failure = failureOf(error, hasBegun && pace?.isOver() === true);
      if (stopsOwner(failure)) {
        for (const { task } of [...schedule.oneByOne, ...schedule.together]) errors[task] = failure;
      } else if (steps.length > 1 && !isOfOneTask(steps, failure)) {
        schedule = { oneByOne: steps, together: schedule.together.slice(steps.length) };
      } else {
        for (const { task } of steps) errors[task] = failure;
      }
    }
    schedule = { oneByOne: schedule.oneByOne.filter(isGoingOn), together: schedule.together.filter(isGoingOn) };
  }
  return { errors, batches, jobs, last };
}

/** Busy time is no part of the transaction: reports of all workers would contend for one item. */
async function countDeviceTime(db: LifecycleDb, context: CommitContext, draft: Draft): Promise<void> {
  if (context.dryRun) return;
  const count = context.countBusy ?? ((deviceType, microseconds) => countBusy(db, deviceType, microseconds));
  for (const [deviceType, microseconds] of sumDraft(draft).busy) await count(deviceType, microseconds);
}

/** Whether alone the steps would fail as together: a part of their task would be made in vain. */
function isOfOneTask(steps: readonly Step[], failure: Error): boolean {
  return failure instanceof StuckCondition && steps.every(({ task }) => task === steps[0]?.task);
}

/** Why a transaction was not made; when the call's time is over, a busy database is no reason. */
function failureOf(error: unknown, isOver: boolean): Error {
  if (isOver && error instanceof TooBusy) return new Unfinished({ cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

/** The steps for the next transaction, at least one. It may hold fewer of them. */
function nextSteps({ oneByOne, together }: Schedule): readonly Step[] {
  if (oneByOne.length > 0) return oneByOne.slice(0, 1);
  let rows = 0;
  const end = together.findIndex(({ change }) => {
    rows += change.batchIds.length + change.jobIds.length;
    return rows > maxRowsRead;
  });
  return end < 0 ? together : together.slice(0, Math.max(1, end));
}

function withoutFirst({ oneByOne, together }: Schedule, done: number, replacedBy: readonly Step[]): Schedule {
  return oneByOne.length > 0
    ? { oneByOne: [...replacedBy, ...oneByOne.slice(done)], together }
    : { oneByOne, together: [...replacedBy, ...together.slice(done)] };
}

/**
 * Whether the error means that nothing of this owner can be written now, and not that this request
 * is wrong.
 */
export function stopsOwner(error: Error): boolean {
  return (
    error instanceof OutdatedColumns ||
    error instanceof Unfinished ||
    error instanceof TooManyCalls ||
    isUnavailable(error)
  );
}

interface Attempt {
  readonly tasks: readonly PlannedTask[];
  readonly steps: readonly Step[];
  readonly next: Step | undefined;
  /** None has failed before. */
  readonly isFirst: boolean;
  /** What was read already. */
  readonly stored?: Stored;
}

/** What all attempts of a commit share. */
interface Committing extends CommitContext {
  readonly db: LifecycleDb;
}

/** Decides as many of the steps as one transaction holds. */
async function attemptSteps(context: Committing, attempt: Attempt, memory: Memory): Promise<Decision<Progress>> {
  const { db, userId } = context;
  const { steps, isFirst } = attempt;
  const changes = steps.map(({ change }) => change);
  const newIds = new Set(isFirst ? changes.flatMap((change) => change.newIds ?? []) : []);
  const limitsRead = context.limits?.value();
  const stored = attempt.stored ?? (await readStored(db, userId, { changes, newIds, remembered: memory.remembered }));
  const before = emptyDraft(formatsOf(db), limitsRead === undefined ? stored : { ...stored, limits: limitsRead });
  const progress = draftSteps(context, before, { attempt, memory });
  if (progress.unsure.length > 0) {
    for (const change of progress.unsure) memory.reread.add(change);
    throw new Contention('The same call or event, or a change of the lease, may be under way.');
  }
  const { done, refusals, replacedBy } = progress;
  const { split } = progress;
  if (split !== undefined && !memory.announced.has(split)) {
    await attempt.tasks[split]?.announce?.();
    memory.announced.add(split);
  }
  if (changesNothing(progress.draft)) return { result: { done, replacedBy, refusals, draft: progress.draft } };
  const draft = await withShots(progress.draft, userId, context.shotsOf);
  const [{ blocks, clocks }, limits = [], counters = new Map()] = await Promise.all([
    readBlocksAndClocks(db, userId, draft),
    draft.begun && context.limits?.read(),
    limitsRead && checkOnce(context, draft, { steps, reread: memory.reread }),
    requireHeads(db, userId, draft),
  ]);
  // Most users have no limits, so limits are read only here.
  if (limitsRead === undefined && limits.length > 0) return attemptSteps(context, { ...attempt, stored }, memory);
  if (counters instanceof Error) {
    const refused = new Map([...refusals, ...steps.map(({ task }) => [task, counters] as const)]);
    return { result: { done: steps.length, replacedBy: [], refusals: refused, draft: before } };
  }
  const result = { done, replacedBy: [], refusals, draft };
  const transaction = createTransaction(db, userId, { draft, blocks, clocks, counters, now: db.clock.now() });
  return context.dryRun ? { result } : { transaction, result };
}

interface DraftedSteps extends Progress {
  /** Changes whose reads may be torn: they are read again before they are decided. */
  readonly unsure: readonly Change[];
  /** The task that the draft holds only a part of. */
  readonly split: number | undefined;
}

/** The draft with as many of the steps as it can hold. */
function draftSteps(
  context: CommitContext,
  before: Draft,
  { attempt, memory }: { readonly attempt: Attempt; readonly memory: Memory },
): DraftedSteps {
  const { steps, next } = attempt;
  const refusals = new Map<number, Error>();
  const unsure: Change[] = [];
  let draft = before;
  let done = 0;
  let start = { task: -1, done, draft };
  for (const { change, task } of steps) {
    if (task !== start.task) start = { task, done, draft };
    if (!refusals.has(task)) {
      const decided = decide(draft, change);
      if (!memory.reread.has(change) && mayBeTorn(context, { draft, change, decided })) unsure.push(change);
      if (decided instanceof Error) refusals.set(task, decided);
      else if (fits(decided)) draft = decided;
      else if (changesNothing(draft) && unsure.length === 0) {
        const replacedBy = splitStep({ change, task });
        return { done: done + 1, replacedBy, refusals, draft, unsure, split: undefined };
      } else break;
    }
    done += 1;
  }
  const result = { replacedBy: [], refusals, unsure };
  const isSplit = done > start.done && (steps[done] ?? next)?.task === start.task && !refusals.has(start.task);
  // A task that a transaction of its own may hold is not begun at the end of another.
  if (isSplit && !changesNothing(start.draft)) return { ...result, ...start, split: undefined };
  return { ...result, done, draft, split: isSplit ? start.task : undefined };
}

/**
 * Checks the draft against the limits. A refusal must be found twice, because the first may come
 * from torn reads. A job that was announced when the counter was read, and created when the rows
 * were counted, counts twice. And the rows that were counted may be from this very call, made since
 * its own rows were read.
 */
async function checkOnce(
  { db }: Committing,
  draft: Draft,
  { steps, reread }: { readonly steps: readonly Step[] } & Pick<Memory, 'reread'>,
): Promise<CheckedCounters | Error> {
  try {
    return await checkLimits(db, draft);
  } catch (error) {
    const { change } = steps[0] as Step;
    if (!(error instanceof OverLimit)) throw error;
    if (reread.has(change)) return error;
    reread.add(change);
    throw new Contention('What is counted may have been created meanwhile.');
  }
}

function splitStep({ change, task }: Step): readonly Step[] {
  const halves = change.split?.();
  if (halves === undefined) throw new RangeError('A change is too large for a transaction.');
  return halves.map((half) => ({ change: half, task }));
}

/**
 * The draft after the change, with its event or its idempotency record as processed; or why the
 * change is refused.
 */
function decide(draft: Draft, { event, idempotencyRecord: record, apply }: Change): Draft | Error {
  try {
    if (event !== undefined && isProcessed(draft, event)) return draft;
    const isBegun = record !== undefined && isProcessed(draft, record);
    const next = apply(draft);
    const remembered = event ?? (isBegun ? undefined : record);
    if (remembered === undefined || next === draft) return next;
    // A call that one transaction carries out needs no record of its beginning.
    const others = next.processedCalls.filter(({ id }) => event === undefined || id !== record?.id);
    return { ...next, processedCalls: [...others, remembered] };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

interface Decided {
  readonly draft: Draft;
  readonly change: Change;
  readonly decided: Draft | Error;
}

/**
 * Whether the reads may be torn. One BatchGetItem reads rows, lease and memory, but each by itself.
 * In between, the same call, another delivery of the event or a new holder of the lease may have
 * written them. Then there are rows that no call seems to have made, or the other way round. No
 * transaction finds that out, because none is made.
 */
function mayBeTorn({ source }: CommitContext, { draft, change, decided }: Decided): boolean {
  const { lease, idempotencyRecord, batchIds, jobIds } = change;
  if (decided instanceof Error) return source === 'events' || lease !== undefined || idempotencyRecord !== undefined;
  if (idempotencyRecord === undefined || decided !== draft) return false;
  return batchIds.some((id) => !visibleBatch(draft, id)) || jobIds.some((id) => !reportedJob(draft, id));
}

/**
 * Throws AlreadyExists when another event had this id, OtherChoice when the call chose otherwise.
 */
function isProcessed({ processedCalls, stored }: Draft, { id, digest, choice }: ProcessedCall): boolean {
  const before = processedCalls.find((each) => each.id === id) ?? stored.processedCalls.get(id);
  if (before === undefined) return false;
  if (before.digest !== digest) throw new AlreadyExists('event_id_reused', `Another event had the id ${id}.`);
  if (choice !== undefined && before.choice !== undefined && Buffer.compare(choice, before.choice) !== 0) {
    throw new OtherChoice();
  }
  return true;
}
