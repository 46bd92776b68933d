/**
 * Announces a change that takes several transactions to the queue `Recovery`. Its consumer
 * completes or undoes what a crash leaves half-done.
 */

import type { InterruptedCall, RecoveryRequest } from '../../schemas/recovery-request.ts';
import { timeLimits } from '../../time-limits.ts';
import { type MessageQueue, sendMessage } from '../aws/message-queue.ts';

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

export function recoveryBy(queue: MessageQueue): ScheduleRecovery {
  return ({ userId: user_id, batchId: batch_id, call }, delaySeconds) => {
    const message: RecoveryRequest = { user_id, batch_id, ...(call && { call }) };
    return sendMessage(queue, { body: JSON.stringify(message), attributes: {}, delaySeconds });
  };
}
