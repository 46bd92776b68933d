/**
 * Announces a change that takes several transactions to the queue `Recovery`. Its consumer
 * completes or undoes what a crash leaves half-done.
 */

import { queueUrl } from '../../runtime/env.ts';
import type { InterruptedCall, RecoveryRequest } from '../../schemas/recovery-request.ts';
import { timeLimits } from '../../time-limits.ts';
import { messageQueue, sendMessage } from '../aws/message-queue.ts';
import type { Db } from '../dynamodb/db.ts';
import { withPlace } from '../limits/calls-at-once.ts';

export const recoveryDelaySeconds = timeLimits.recoveryDelay;

/** What is to be completed: a batch, or the call that changes some of its jobs. */
interface Unfinished {
  readonly userId: string;
  readonly batchId: string;
  readonly call?: InterruptedCall | undefined;
}

/**
 * Announces the change, to be completed after this number of seconds: `recoveryDelaySeconds` before
 * the first of several transactions, 0 when the call gives up. Throws when the queue does not take
 * the message.
 */
export type ScheduleRecovery = (unfinished: Unfinished, afterSeconds: number) => Promise<void>;

/** Announces to the queue that the environment names. */
export function recoveryByQueue(): ScheduleRecovery {
  const queue = messageQueue(queueUrl('Recovery'));
  return ({ userId: user_id, batchId: batch_id, call }, delaySeconds) => {
    const message: RecoveryRequest = { user_id, batch_id, ...(call && { call }) };
    return sendMessage(queue, { body: JSON.stringify(message), attributes: {}, delaySeconds });
  };
}

interface LongCall {
  readonly userId: string;
  readonly scheduleRecovery: ScheduleRecovery;
}

/**
 * Does a user's call, and counts it among the user's long ones from its first announcement on, or
 * from `begin`. These throw TooManyCalls when five are under way. A call of one transaction costs
 * nothing; others 2 write units.
 */
export function countLongCall<Result>(
  db: Db<'Counters'>,
  { userId, scheduleRecovery }: LongCall,
  work: (schedule: ScheduleRecovery, begin: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  return withPlace(db, { userId, kind: 'changes' }, (begin) => {
    const schedule: ScheduleRecovery = async (unfinished, afterSeconds) => {
      await begin();
      await scheduleRecovery(unfinished, afterSeconds);
    };
    return work(schedule, begin);
  });
}
