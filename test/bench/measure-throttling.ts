import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { documentClient } from '../../functions/data/dynamodb/client.ts';
import { ServiceError, Unfinished } from '../../functions/errors.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import type { ThrottlingFigure } from '../../infra/docs/performance.ts';
import { createTables } from '../support/create-tables.ts';
import { newBatchRequest } from '../support/new-batch.ts';
import { startThrottlingProxy, type Throughput } from '../support/throttling-proxy.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';
import type { Measured } from './measure-endpoints.ts';

const presentTime = {
  get now() {
    return Date.now();
  },
};

/**
 * Measures how long calls of one user take that create this many jobs each, at once, and their
 * cancellations, where each partition key has what AWS gives it. Half of what is left is used up by
 * a refused transaction. Calls that stop are repeated. A worker of the same user reports a job
 * every half second beside them, without a repetition.
 */
export async function* measureThrottling(
  endpoint: string,
  jobs: number,
  throughput: Throughput = { refusalUses: 'half' },
): AsyncGenerator<Measured<ThrottlingFigure>> {
  for (const calls of [1, 2, 5]) {
    const proxy = await startThrottlingProxy(endpoint, throughput);
    process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.url;
    try {
      const client = documentClient(60_000);
      const tables = await createTables(client, `throttling-${calls}-`);
      const db = { client, tables, clock: systemClock };
      const stack = workerStack(client, tables, presentTime);
      const worker = await newWorker(stack);
      const name = (what: string) => `${what}, ${calls} call${calls === 1 ? '' : 's'} of ${jobs} jobs`;
      const measured = async (what: string, work: (call: number) => Promise<unknown>) => {
        const refusedOf = () => [...proxy.counts.values()].reduce((sum, { refused }) => sum + refused, 0);
        const [start, before, reports] = [performance.now(), refusedOf(), worker.begin()];
        let repetitions = 0;
        const repeat = async (_: unknown, call: number) => {
          for (;;) {
            try {
              return await work(call);
            } catch (error) {
              if (!(error instanceof Unfinished)) throw error;
              repetitions += 1;
              await delay(1_000 * Number(error.headers['Retry-After']));
            }
          }
        };
        await Promise.all(Array.from({ length: calls }, repeat));
        const seconds = (performance.now() - start) / 1_000;
        return {
          name: name(what),
          seconds,
          repetitions,
          refused: refusedOf() - before,
          ...(await reports()),
          excesses: [],
        };
      };
      const ids: string[] = [];
      yield await measured('creation', async (call) => {
        const creation = { userId, idempotencyKey: String(call), claims: Claims.parse({}) };
        const { id } = await createBatch(db, creation, newBatchRequest(jobs));
        ids[call] = id;
      });
      yield await measured('cancellation', (call) => cancelBatch(db, { userId, batchId: ids[call]! }));
    } finally {
      process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint;
      await proxy.stop();
    }
  }
}

const userId = 'auth0|throttled';
const maxReports = 400;

/** A worker that has a batch of the user, and reports its jobs from `begin` on. */
async function newWorker(stack: ReturnType<typeof workerStack>) {
  const device_type = `WORKER ${randomUUID()}`;
  await stack.create(userId, { device_type, jobs: maxReports });
  const claimed = (await stack.claim(device_type, 'worker'))!;
  const lease = leaseFrom(claimed);
  let jobId = claimed.job.id;
  return {
    begin() {
      let isOver = false;
      let failedReports = 0;
      const seconds: number[] = [];
      const report = async () => {
        const start = performance.now();
        try {
          jobId = (await stack.report(lease, jobId)).job?.id ?? jobId;
        } catch (error) {
          if (!(error instanceof ServiceError && error.status === 429)) throw error;
          failedReports += 1;
        }
        seconds.push((performance.now() - start) / 1_000);
      };
      const reports = (async () => {
        do await Promise.all([report(), delay(500)]);
        while (!isOver);
      })();
      return async () => {
        isOver = true;
        await reports;
        return { reports: seconds.length, failedReports, slowestReportSeconds: Math.max(...seconds) };
      };
    },
  };
}
