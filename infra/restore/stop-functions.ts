import { aws } from '../commands/aws-cli.ts';

/**
 * Disables all event sources, so that no message is received and given up, and keeps the authorizer
 * and what the clock calls from running: no call with a token is served any more. After two minutes
 * the gateway's kept answers and the last functions have ended. It can be repeated: event sources
 * that a deployment has made are enabled.
 */
export async function stopFunctions(stack: string, run = aws) {
  const { functions, eventSources } = await resourcesOf(stack, run);
  for (const id of eventSources) await run('lambda', 'update-event-source-mapping', '--uuid', id, '--no-enabled');
  for (const { name } of functions) await setConcurrency(name, 0, run);
  console.log(`Stopped: the API and ${eventSources.length} event sources. Wait two minutes.`);
}

/**
 * Gives functions the concurrency that the deployed template reserves for them, then enables all
 * event sources. It can be repeated, on any machine.
 */
export async function startFunctions(stack: string, run = aws) {
  const { functions, eventSources } = await resourcesOf(stack, run);
  const { TemplateBody } = await run('cloudformation', 'get-template', '--stack-name', stack);
  for (const { name, id } of functions) {
    await setConcurrency(name, TemplateBody.Resources[id].Properties.ReservedConcurrentExecutions, run);
  }
  for (const id of eventSources) await run('lambda', 'update-event-source-mapping', '--uuid', id, '--enabled');
  console.log(`Started: the API and ${eventSources.length} event sources.`);
}

async function setConcurrency(name: string, reserved: number | undefined, run: typeof aws) {
  const of = ['--function-name', name];
  if (reserved === undefined) await run('lambda', 'delete-function-concurrency', ...of);
  else await run('lambda', 'put-function-concurrency', ...of, '--reserved-concurrent-executions', String(reserved));
}

async function resourcesOf(stack: string, run: typeof aws) {
  const { StackResourceSummaries } = await run('cloudformation', 'list-stack-resources', '--stack-name', stack);
  const all: readonly Record<'ResourceType' | 'LogicalResourceId' | 'PhysicalResourceId', string>[] =
    StackResourceSummaries;
  const ofType = (type: string) =>
    all
      .filter(({ ResourceType }) => ResourceType === type)
      .map(({ LogicalResourceId, PhysicalResourceId }) => ({ id: LogicalResourceId, name: PhysicalResourceId }));
  return {
    functions: ofType('AWS::Lambda::Function').filter(({ id }) => /^(ApiAuthorizer|Schedules|WebhookKey)/.test(id)),
    eventSources: ofType('AWS::Lambda::EventSourceMapping').map(({ name }) => name),
  };
}
