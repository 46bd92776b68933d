import { rmSync } from 'node:fs';
import { aws } from '../commands/aws-cli.ts';
import { readJsonFile, writeJsonFile } from '../commands/json-file.ts';
import { SetupProblem } from '../commands/setup-problem.ts';

/** What `--start` needs: the reserved concurrency of functions, null where it has none. */
interface Stopped {
  readonly stack: string;
  readonly concurrency: Readonly<Record<string, number | null>>;
}

const stoppedFile = '.local/stopped.json';

/**
 * Disables all event sources, so that no message is received and given up, and keeps the authorizer
 * and what the clock calls from running: no call with a token is served any more. After two minutes
 * the gateway's kept answers and the last functions have ended.
 */
export async function stopFunctions(stack: string) {
  const before = readJsonFile<Stopped>(stoppedFile);
  if (before !== undefined) throw new SetupProblem(`${before.stack} is stopped already (${stoppedFile}).`);
  const { functions, eventSources } = await resourcesOf(stack);
  const concurrency: Record<string, number | null> = {};
  for (const name of functions) {
    const { ReservedConcurrentExecutions } = await aws('lambda', 'get-function-concurrency', '--function-name', name);
    concurrency[name] = ReservedConcurrentExecutions ?? null;
  }
  writeJsonFile(stoppedFile, { stack, concurrency } satisfies Stopped);
  for (const id of eventSources) await aws('lambda', 'update-event-source-mapping', '--uuid', id, '--no-enabled');
  for (const name of functions) await setConcurrency(name, 0);
  console.log(`Stopped: the API and ${eventSources.length} event sources. Wait two minutes.`);
}

/** Gives functions their concurrency back, then enables all event sources. It can be repeated. */
export async function startFunctions(stack: string) {
  const stopped = readJsonFile<Stopped>(stoppedFile);
  if (stopped?.stack !== stack) throw new SetupProblem(`${stoppedFile} is not there, or of another stack.`);
  const { functions, eventSources } = await resourcesOf(stack);
  for (const name of functions) await setConcurrency(name, stopped.concurrency[name] ?? null);
  for (const id of eventSources) await aws('lambda', 'update-event-source-mapping', '--uuid', id, '--enabled');
  rmSync(stoppedFile);
  console.log(`Started: the API and ${eventSources.length} event sources.`);
}

async function setConcurrency(name: string, reserved: number | null) {
  const of = ['--function-name', name];
  if (reserved === null) await aws('lambda', 'delete-function-concurrency', ...of);
  else await aws('lambda', 'put-function-concurrency', ...of, '--reserved-concurrent-executions', String(reserved));
}

async function resourcesOf(stack: string) {
  const { StackResourceSummaries } = await aws('cloudformation', 'list-stack-resources', '--stack-name', stack);
  const idsOf = (type: string, logicalId: RegExp): string[] =>
    StackResourceSummaries.filter(
      (each: { ResourceType: string; LogicalResourceId: string }) =>
        each.ResourceType === type && logicalId.test(each.LogicalResourceId),
    ).map(({ PhysicalResourceId }: { PhysicalResourceId: string }) => PhysicalResourceId);
  return {
    functions: idsOf('AWS::Lambda::Function', /^(ApiAuthorizer|Schedules|WebhookKey)/),
    eventSources: idsOf('AWS::Lambda::EventSourceMapping', /./),
  };
}
