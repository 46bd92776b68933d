/**
 * The devices' queues: who is next, and who has which lease. Rows are changed by the lifecycle,
 * under a lease (leases.ts).
 */

import { randomUUID } from 'node:crypto';
import {
  type DynamoDBDocumentClient,
  QueryCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { DeviceRules } from '../../schemas/device-rules.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import type { TableNames } from '../../tables.ts';
import { assign } from '../dynamodb/assign.ts';
import { isConflict, translateErrors } from '../dynamodb/aws-errors.ts';
import { batchGet, getItem, type Item, queryAll, queryFirst } from '../dynamodb/reads.ts';
import { retry } from '../dynamodb/retry.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import { deviceRules, deviceRulesKey } from './device-rules.ts';
import {
  type DeviceTimes,
  deviceTimes,
  deviceTimesKey,
  type JobTime,
  namesOfJobTimes,
  workerNote,
} from './job-times.ts';
import {
  clockTag,
  DeviceSettings,
  deviceClockKey,
  deviceMicroseconds,
  deviceSettings,
  FrontItem,
  isBatch,
  lastHeartbeat,
  leaseLost,
  leaseMilliseconds,
  QueueItem,
} from './queue-item.ts';
import { averageTime, batchesPerMinute, countTime, namesOfOldTimes, namesOfTimes } from './queue-times.ts';

/** How many batches a claim looks at in one read: 2 read units. */
const maxBatchesInPage = 25;

/** Up to this number batches are counted. */
export const maxCountedBatches = 1_000;

/** Part of a queue, from its front on. */
export interface QueuePage {
  readonly items: readonly QueueItem[];
  /** The device’s clock; undefined where no device has taken a batch yet. */
  readonly clock: number | undefined;
  /** Attributes of the clock that count nothing any more. */
  readonly oldTimes: readonly string[];
  readonly rules: DeviceRules;
  /** What the operator sets, otherwise what the device has announced. */
  readonly settings: DeviceSettings;
  readonly isAnnounced: boolean;
}

/** The front of a device's queue, as users see it. */
export interface QueueFront {
  /** When it was read, in milliseconds since 1970. */
  readonly at: number;
  /** The first 1,001 batches at least, or all, in their order. */
  readonly batches: readonly FrontItem[];
  /** Whether a machine has announced itself as this device. */
  readonly isAnnounced: boolean;
  readonly rules: DeviceRules;
  /** What the operator sets, otherwise what the device has announced. */
  readonly settings: DeviceSettings;
  /** See queue-times.ts. */
  readonly average_queue_time: number | null;
  readonly batchesPerMinute: number;
  /** The tag of the device's clock. */
  readonly tag: number;
  readonly times: DeviceTimes;
}

export interface QueueOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export function workQueue(
  client: DynamoDBDocumentClient,
  { DeviceQueue }: TableNames<'DeviceQueue'>,
  { now = Date.now }: QueueOptions = {},
) {
  return {
    /**
     * The device's batches in their order, page by page, strongly consistent: 2 read units for 25,
     * 1 for an empty queue; 1 more for each 4 KB of windows.
     */
    async *pages(deviceType: string): AsyncGenerator<QueuePage> {
      let start: Item | undefined;
      let clock: Item | undefined;
      let rules: DeviceRules | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await translateErrors(
          client.send(
            new QueryCommand({
              TableName: DeviceQueue,
              // What sorts before the clock is not for claims.
              KeyConditionExpression: 'device_type = :type AND #key >= :clock',
              ExpressionAttributeNames: { '#key': 'key' },
              ExpressionAttributeValues: { ':type': deviceType, ':clock': deviceClockKey },
              ConsistentRead: true,
              // The first page holds the clock and the rules besides.
              Limit: maxBatchesInPage + (start === undefined ? 2 : 0),
              ...(start !== undefined && { ExclusiveStartKey: start }),
            }),
          ),
        );
        clock ??= Items.find(({ key }) => key === deviceClockKey);
        rules ??= deviceRules(Items.find(({ key }) => key === deviceRulesKey));
        const items = Items.filter(isBatch).map((item) => storedRow(QueueItem, item));
        const tag = clock?.tag === undefined ? undefined : clockTag(clock);
        const settings = { ...deviceSettings(clock), ...deviceSettings(rules) };
        const oldTimes = namesOfOldTimes(clock, now());
        yield { items, clock: tag, oldTimes, rules, settings, isAnnounced: clock?.announced === true };
        start = LastEvaluatedKey;
      } while (start !== undefined);
    },

    /**
     * Takes the lease of a batch that nobody holds, and returns it; undefined when somebody else
     * was faster, or changes the batch right now. A device that let its lease run out while it ran
     * a job was lost, unless it never showed that it had the lease. 1 write unit.
     */
    async take(item: QueueItem, worker: string, settings: DeviceSettings = {}): Promise<QueueItem | undefined> {
      const isLost = item.lease_until > 0 && item.idle_since === undefined;
      // What nobody sets any more is not kept from an earlier lease.
      const { seen, put_back, entered_at, job_since, idle_seconds, max_batch_seconds, ...rest } = item;
      const job_spent = deviceMicroseconds({}, item, lastHeartbeat(item)) / 1_000;
      const changes = {
        ...settings,
        held_since: now(),
        fence: item.fence + 1,
        lease_until: now() + leaseMilliseconds,
        losses: item.losses + (isLost && seen ? 1 : 0),
        unseen_losses: item.unseen_losses + (isLost && !seen ? 1 : 0),
        ...(job_spent > 0 && { job_spent }),
        worker,
        claim_id: randomUUID(),
      };
      const taken = { ...rest, ...changes };
      const { assignments, values } = assign(changes);
      const unset = Object.keys(DeviceSettings.shape).filter((name) => !(name in settings));
      const removed = ['seen', 'put_back', 'entered_at', 'job_since', ...unset].join();
      const outcome = await update(item, {
        UpdateExpression: `SET ${assignments} REMOVE ${removed}`,
        ConditionExpression: 'fence = :current AND lease_until <= :held_since',
        ExpressionAttributeValues: { ...values, ':current': item.fence },
      }).catch((error: unknown) => {
        // A transaction is at the item, such as the end of its batch: other batches need not wait
        // for that.
        if (isConflict(error)) return undefined;
        throw error;
      });
      if (outcome === undefined) return undefined;
      // The SDK repeats a call that was not answered: then the first attempt may have taken it.
      if ('updated' in outcome) return taken;
      const { foundInstead } = outcome;
      return foundInstead !== 'none' && foundInstead.claimId === taken.claim_id ? taken : undefined;
    },

    /**
     * The batch under this lease. Throws LeaseLost when it is not the current one; undefined when
     * the batch has left the queue. 1 read unit.
     */
    async get(lease: LeaseReference): Promise<QueueItem | undefined> {
      const found = await itemOf(lease);
      if (found === undefined) return undefined;
      return requireCurrent(storedRow(QueueItem, found), lease);
    },

    /** Whether the batch has left the queue, or waits there as the lease left it. 1 read unit. */
    async wasGivenUp(lease: LeaseReference): Promise<boolean> {
      const item = await itemOf(lease);
      return item === undefined || (item.fence === lease.fence + 1 && item.lease_until === 0);
    },

    /** What the operator has set for the device. Strongly consistent: 1 read unit for each 4 KB. */
    async rules(deviceType: string): Promise<DeviceRules> {
      const key = { device_type: deviceType, key: deviceRulesKey };
      return deviceRules(await getItem(client, { table: DeviceQueue, key, consistent: true }));
    },

    /**
     * As `get`; the lease lives for another minute, its worker was seen, and the SHA-256 of results
     * is remembered if there is one. 1 write unit.
     */
    async extend(lease: LeaseReference, sha256?: string): Promise<QueueItem | undefined> {
      const life = { lease_until: now() + leaseMilliseconds, seen: true } as const;
      const outcome = await updateLeased(lease, { ...life, ...(sha256 && { results_sha256: sha256 }) });
      if ('updated' in outcome) return storedRow(QueueItem, outcome.updated ?? {});
      if (outcome.foundInstead === 'none') return undefined;
      throw leaseLost();
    },

    /** Ends the lease now, as if its worker were lost. 1 write unit. */
    async expire(lease: LeaseReference): Promise<void> {
      await updateLeased(lease, { lease_until: now() });
    },

    /**
     * Gives a lease up, and leaves the rows of its batch as they are: it can be claimed at once,
     * and its worker has lost it. Does nothing when the lease is not the current one. 1 write unit.
     */
    async release(lease: LeaseReference): Promise<void> {
      await updateLeased(lease, { fence: lease.fence + 1, lease_until: 0 });
    },

    /**
     * Marks the device as announced, with what it sets; what it does not set stays. 1 write unit.
     */
    async announce(deviceType: string, settings: DeviceSettings): Promise<void> {
      const { assignments, values } = assign({ announced: true, ...settings });
      await update(
        { device_type: deviceType, key: deviceClockKey },
        { UpdateExpression: `SET ${assignments}`, ExpressionAttributeValues: values },
      );
    },

    /**
     * Moves the device's clock forward to this tag, and counts how long the batch has waited, if it
     * was claimed for the first time. 1 write unit; 2 where others have moved the clock meanwhile.
     */
    async moveClock(
      deviceType: string,
      { tag, entered_at, oldTimes }: { tag?: number; entered_at?: number | undefined; oldTimes: readonly string[] },
    ): Promise<void> {
      const clock = { device_type: deviceType, key: deviceClockKey };
      const counting = entered_at === undefined ? undefined : countTime({ entered_at, now: now(), oldTimes });
      const { expression = '', values } = counting ?? {};
      const moved =
        tag !== undefined &&
        (await update(clock, {
          UpdateExpression: `SET tag = :tag ${expression}`,
          ConditionExpression: 'attribute_not_exists(tag) OR tag < :tag',
          ExpressionAttributeValues: { ':tag': tag, ...values },
        }));
      const isCounted = moved && 'updated' in moved;
      if (counting === undefined || isCounted) return;
      await update(clock, { UpdateExpression: expression, ExpressionAttributeValues: counting.values });
    },

    /**
     * Notes that a worker was heard of, and how long a job occupied it that it reported. 1 write
     * unit.
     */
    async noteWorker(device_type: string, worker: string | undefined, job?: JobTime): Promise<void> {
      const { assignments, values } = assign(workerNote(worker, now(), job));
      await update(
        { device_type, key: deviceTimesKey },
        { UpdateExpression: `SET ${assignments}`, ExpressionAttributeValues: values },
      );
    },

    /**
     * Writes the `rev` of changed rules to each batch that is leased: what was to be started by
     * earlier rules and is not committed yet fails, and reads the rules anew (see isCurrent in
     * lifecycle/queue-writes.ts). 1 read unit for 16 batches, 1 write unit for each that is leased.
     */
    async markLeases(deviceType: string, rev: number): Promise<void> {
      const read = { table: DeviceQueue, partition: { device_type: deviceType }, sortKey: 'key' } as const;
      const attributes = ['key', 'lease_until', 'put_back'];
      const items = await queryAll(client, { ...read, range: 'all', consistent: true, attributes });
      const leased = items.filter(({ lease_until, put_back }) => lease_until > 0 && put_back !== true);
      while (leased.length > 0) {
        const marked = leased.splice(0, 10).map(({ key }) =>
          // A transaction at the item passes soon.
          retryConflicts(() =>
            update(
              { device_type: deviceType, key },
              {
                UpdateExpression: 'SET rules_rev = :rev REMOVE rules_until',
                ConditionExpression:
                  'attribute_exists(fence) AND (attribute_not_exists(rules_rev) OR rules_rev < :rev)',
                ExpressionAttributeValues: { ':rev': rev },
              },
            ),
          ),
        );
        await Promise.all(marked);
      }
    },

    /**
     * The front of a device's queue. Eventually consistent: half a read unit for about 16 batches.
     */
    async front(deviceType: string): Promise<QueueFront> {
      const read = { table: DeviceQueue, partition: { device_type: deviceType }, sortKey: 'key' } as const;
      const at = now();
      const shapes = { ...DeviceRules.shape, ...FrontItem.shape, announced: true, tag: true };
      const attributes = [...Object.keys(shapes), ...namesOfTimes(at), ...namesOfJobTimes];
      // The first items are no batches: what is known of its workers, the clock and the rules.
      const items = await queryFirst(
        client,
        { ...read, range: 'all', consistent: false, attributes },
        maxCountedBatches + 4,
      );
      const clock = items.find(({ key }) => key === deviceClockKey);
      const rules = deviceRules(items.find(({ key }) => key === deviceRulesKey));
      return {
        at,
        batches: items.filter(isBatch).map((item) => storedRow(FrontItem, item)),
        isAnnounced: clock?.announced === true,
        rules,
        settings: { ...deviceSettings(clock), ...deviceSettings(rules) },
        average_queue_time: averageTime(clock, at),
        batchesPerMinute: batchesPerMinute(clock, at),
        tag: clockTag(clock),
        times: deviceTimes(items.find(({ key }) => key === deviceTimesKey)),
      };
    },
  };

  /** Read as the lifecycle reads it, so that functions need one right alone. */
  async function itemOf(lease: LeaseReference): Promise<Item | undefined> {
    const [item] = await batchGet(client, { table: DeviceQueue, keys: [keyOf(lease)], consistent: true });
    return item;
  }

  /**
   * Sets attributes of a batch under its current lease, as `update`. A transaction at the batch,
   * such as a user's cancellation, passes soon: a worker's call waits for it.
   */
  function updateLeased(lease: LeaseReference, attributes: Partial<QueueItem>): ReturnType<typeof update> {
    const { assignments, values } = assign(attributes);
    const input = {
      UpdateExpression: `SET ${assignments}`,
      ConditionExpression: 'fence = :held AND user_id = :user',
      ExpressionAttributeValues: { ...values, ':held': lease.fence, ':user': lease.userId },
      ReturnValues: 'ALL_NEW',
    } as const;
    return retryConflicts(() => update(lease, input), 3);
  }

  function retryConflicts<Result>(call: () => Promise<Result>, attempts = 12): Promise<Result> {
    return retry(call, {
      attempts,
      firstMilliseconds: 50,
      maxDelayMilliseconds: 200,
      mayPass: isConflict,
      message: 'The batch is being changed, try again later.',
    });
  }

  /**
   * Updates an item on a condition. Where that fails, returns what is there instead: `none`, or the
   * claim that the item's lease was taken by.
   */
  async function update(
    item: LeaseReference | Pick<QueueItem, 'device_type' | 'key'>,
    input: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
  ): Promise<
    { readonly updated: Item | undefined } | { readonly foundInstead: 'none' | { readonly claimId: unknown } }
  > {
    const Key = 'deviceType' in item ? keyOf(item) : { device_type: item.device_type, key: item.key };
    const command = new UpdateCommand({
      TableName: DeviceQueue,
      Key,
      ...input,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      return { updated: (await translateErrors(client.send(command))).Attributes };
    } catch (error) {
      if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
      const { Item: found } = error as { Item?: Readonly<Record<string, { readonly S?: string }>> };
      return { foundInstead: found === undefined ? 'none' : { claimId: found.claim_id?.S } };
    }
  }
}

function keyOf({ deviceType, key }: LeaseReference) {
  return { device_type: deviceType, key };
}

function requireCurrent(item: QueueItem, { fence, userId }: LeaseReference): QueueItem {
  if (item.fence === fence && item.user_id === userId) return item;
  throw leaseLost();
}
