import type { Context, ScheduledEvent } from 'aws-lambda';
import { database } from '../data/dynamodb/db.ts';
import { putBackBatch } from '../data/leases/leases.ts';
import { keepMinute } from '../data/operators/device-minutes.ts';
import { measureQueue, type QueueMeasure } from '../data/operators/queue-measures.ts';
import { listIdleWorkers, noteIdleWorker } from '../data/queue/idle-workers.ts';
import { lastHeartbeat } from '../data/queue/queue-item.ts';
import { listDevices } from '../data/rows/devices.ts';
import { otherFunctions } from '../other-functions.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../runtime/request-log.ts';

const db = database(otherFunctions.measureQueues);

/**
 * Writes a line for each device that has announced itself, with the length of its queue and the age
 * of the oldest batch that waits; and one line for all of them, with the number of devices at which
 * batches wait without a worker. Metric filters read these. Keeps the value of the minute for each,
 * and when each worker was last heard of that has a batch.
 * Puts back batches whose workers are gone, so that their users see that they wait. Throws when a
 * queue could not be measured, after measuring all others.
 */
export async function handler(_: ScheduledEvent, context: Context): Promise<void> {
  const request_id = context.awsRequestId;
  const types = (await listDevices(db)).map(({ device_type }) => device_type);
  const results = await Promise.allSettled(types.map((device_type) => measureOne({ request_id, device_type })));
  const unclaimed = types.filter((_, at) => results[at]?.status === 'fulfilled' && results[at].value);
  withRequestLog({ request_id, UnclaimedDevices: unclaimed.length }, () => writeRequestLog('INFO'));
  const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failed !== undefined) throw failed.reason;
}

/** Of each device, in a minute: a worker holds one batch, so more are rare. */
const maxPutBack = 10;

/** What fails is tried again in a minute, and ends with the next claim. */
async function putBackOne(item: QueueMeasure['lapsed'][number]): Promise<void> {
  try {
    await putBackBatch(db, item);
  } catch (error) {
    addToRequestLog({ put_back_error: describeError(error) });
  }
}

/** A minute without a value is no alarm: what its lines say is measured all the same. */
async function keepOne(deviceType: string, measure: QueueMeasure): Promise<void> {
  try {
    await keepMinute(db, deviceType, { measure, idle: await listIdleWorkers(db, deviceType) });
    for (const { worker, ...item } of measure.atWork) {
      if (worker !== undefined) await noteIdleWorker(db, deviceType, worker, lastHeartbeat(item));
    }
  } catch (error) {
    addToRequestLog({ minute_error: describeError(error) });
  }
}

/** Whether batches wait and no worker is there. */
function measureOne(facts: { readonly request_id: string; readonly device_type: string }): Promise<boolean> {
  return withRequestLog(facts, async () => {
    try {
      const measure = await measureQueue(db, facts.device_type);
      const { length, oldestSeconds, unclaimed, lapsed } = measure;
      await Promise.all([keepOne(facts.device_type, measure), ...lapsed.slice(0, maxPutBack).map(putBackOne)]);
      addToRequestLog({ QueueLength: length, OldestBatch: oldestSeconds, Unclaimed: unclaimed ? 1 : 0 });
      writeRequestLog('INFO');
      return unclaimed;
    } catch (error) {
      addToRequestLog({ error: describeError(error) });
      writeRequestLog('ERROR');
      throw error;
    }
  });
}
