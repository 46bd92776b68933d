/** `npm run restore`: makes tables as they were at a time; stops and starts what would write. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { restoreTables } from './restore-tables.ts';
import { startFunctions, stopFunctions } from './stop-functions.ts';

const usage = `Usage: npm run restore -- --stack NAME (--stop | --to TIME | --start)

docs/guides/restoring.md says when to use which. The AWS CLI and the SDK take their usual region and credentials.
  --stop     stops what writes: calls with a token, what queues, streams and the clock bring; again after a deployment
  --to TIME  makes new tables as all were at this second (2026-11-22T09:15:00Z), with streams, expiry, recovery, protection and tags
             as now, and prints how to deploy them; the tables in use stay as they are
  --start    undoes --stop, on any machine, as the deployed template says`;

const options = {
  stack: { type: 'string' },
  stop: { type: 'boolean', default: false },
  to: { type: 'string' },
  start: { type: 'boolean', default: false },
} as const;

await runCommand({ usage, options }, async ({ stack, stop, to, start }) => {
  if (stack === undefined || [stop, to !== undefined, start].filter(Boolean).length !== 1) {
    throw new SetupProblem(usage);
  }
  if (stop) await stopFunctions(stack);
  else if (start) await startFunctions(stack);
  else await restoreTables(new DynamoDBClient(), stack, timeOf(to!));
  return 0;
});

function timeOf(to: string): Date {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(to) || Number.isNaN(Date.parse(to))) {
    throw new SetupProblem(`--to ${to}: a second in UTC is needed, such as 2026-11-22T09:15:00Z.`);
  }
  return new Date(to);
}
