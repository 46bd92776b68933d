import { equal } from 'node:assert/strict';
import { exampleSequence } from '../../functions/schemas/example-sequence.ts';
import { outputReader } from '../commands/aws-cli.ts';
import { call, expectAnswer, type Request } from '../smoke/api-client.ts';
import { eventually } from '../smoke/eventually.ts';
import type { Checks } from '../smoke/examine.ts';
import type { Acceptance, Caller } from './acceptance.ts';
import { newDeviceType } from './run-batch.ts';

/** The most that a call takes. */
const count = 5_000;

export const manyJobsChecks: Checks<Acceptance> = {
  [`${count.toLocaleString('en')} jobs are created by one call, and canceled by one`]: createAndCancel,
  'tables that were written to are hardly throttled': checkThrottles,
};

/**
 * By the operator: an emulator of AWS reads all rows of an owner for a page, and other steps read
 * the user's.
 */
async function createAndCancel({ callers }: Pick<Acceptance, 'callers'>): Promise<string> {
  const { operator } = await callers();
  const created = await repeat(operator, '/api/v1/batches', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
    body: JSON.stringify({
      ...{ project_id: crypto.randomUUID(), device_type: newDeviceType(), sequence_builder: exampleSequence },
      jobs: Array.from({ length: count }, () => ({ runs: 1, variables: { omega: 1 } })),
    }),
  });
  equal(created.data.jobs_count, count);
  const canceled = await repeat(operator, `/api/v2/batches/${created.data.id}/cancel`, { method: 'PATCH' });
  equal(canceled.data.jobs_count_per_status.CANCELED, count);
  return `created in ${created.seconds}, canceled in ${canceled.seconds}`;
}

/** A call that stops for want of time (429) goes on when it is repeated. */
async function repeat(caller: Caller, path: string, request: Request) {
  const times: string[] = [];
  for (;;) {
    const start = Date.now();
    const answer = await call(caller, path, request);
    times.push(`${((Date.now() - start) / 1_000).toFixed(1)} s`);
    if (answer.status === 429 && answer.body.data.reason === 'unfinished' && times.length < 10) continue;
    expectAnswer(answer, 200);
    return { data: answer.body.data, seconds: times.join(' + ') };
  }
}

/** CloudWatch has a metric some minutes later. Throttles are counted, and bounded loosely. */
export async function checkThrottles(acceptance: Pick<Acceptance, 'aws' | 'stack'>): Promise<string> {
  const output = await outputReader(acceptance.stack, acceptance.aws);
  const sum = async (table: string, metric: string): Promise<number> => {
    const { Datapoints } = await acceptance.aws(
      ...['cloudwatch', 'get-metric-statistics', '--namespace', 'AWS/DynamoDB', '--metric-name', metric],
      ...['--dimensions', `Name=TableName,Value=${output(`${table}Table`)}`, '--period', '60', '--statistics', 'Sum'],
      ...['--start-time', new Date(Date.now() - 1_800_000).toISOString(), '--end-time', new Date().toISOString()],
    );
    return Datapoints.reduce((total: number, { Sum }: { Sum: number }) => total + Sum, 0);
  };
  const written = await eventually(600, async () => {
    const units = await sum('Jobs', 'ConsumedWriteCapacityUnits');
    return units >= count && units;
  });
  const throttled = (await sum('Jobs', 'WriteThrottleEvents')) + (await sum('Columns', 'WriteThrottleEvents'));
  const facts = `${Math.round(written)} units written to jobs, ${throttled} writes throttled`;
  if (throttled > count / 10) throw new Error(facts);
  return facts;
}
