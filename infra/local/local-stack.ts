/** Runs the whole service on this machine: starts its parts, each after the parts that it needs. */

import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { useAssembly } from './cache/assemblies.ts';
import { createTables } from './dynamodb/create-tables.ts';
import { startDynamoDbGate } from './dynamodb/dynamodb-gate.ts';
import { startDynamoDbLocal } from './dynamodb/dynamodb-local.ts';
import { createCheckpoints, startStreamSource } from './dynamodb/stream-source.ts';
import type { FrontHandler, FrontServer } from './front-server.ts';
import { createGateway } from './gateway/gateway.ts';
import { assumeRole, ownerPrincipal, type Principal } from './iam/principals.ts';
import { accounts, deviceAccount, operatorAccount, projectAccounts } from './issuer/accounts.ts';
import { createIssuer, type Issuer } from './issuer/issuer.ts';
import { type LambdaFunction, lambdaFunction } from './lambda/lambda-function.ts';
import { createLocalPaths, localPrefix } from './local-paths.ts';
import { directoryObjects, memoryObjects, type ObjectFiles } from './s3/object-files.ts';
import { startObjectStore } from './s3/object-store.ts';
import { startSecretStore } from './secrets/secret-store.ts';
import { splitTarget } from './service/http-server.ts';
import { createEventIntake, type EventIntake } from './sqs/event-intake.ts';
import { startEventSource } from './sqs/event-source.ts';
import type { Timer } from './sqs/queue.ts';
import { type QueueService, startQueueService } from './sqs/queue-service.ts';
import { type Deployment, type FunctionDefinition, readDeployment } from './template/deployment.ts';
import type { AccountContext } from './template/resource-types.ts';
import { type Synthesis, synthesize, type TokenIssuerContext } from './template/synthesize.ts';
import { readTemplate } from './template/template.ts';

interface LocalStackOptions {
  /** The stack's own port. It is stopped with the stack. */
  readonly front: FrontServer;
  /** The folder that keeps everything. Without it, everything is in memory. */
  readonly dataDirectory?: string | undefined;
  /** Used instead of DynamoDB Local. */
  readonly dynamodbEndpoint?: string | undefined;
  /**
   * Whether webhooks are delivered: to 127.0.0.1, by HTTP too and on any port. Never to any other
   * host.
   */
  readonly deliverWebhooks?: boolean | undefined;
  /** Whose tokens are accepted, instead of the stack's own; demo data then cannot be loaded. */
  readonly tokenIssuer?: TokenIssuerContext;
  /** What measures the delays of queues, instead of the clock. */
  readonly after?: Timer;
  /** What serves the calls of a function: by default `make`, of its definition. */
  readonly serve?: (definition: FunctionDefinition, make: MakeFunction) => LambdaFunction;
  /** Where the functions' own output goes. */
  readonly logFile: string;
  /** Called when a step begins, to be shown to people. */
  readonly onStep: (step: string) => void;
}

type MakeFunction = (definition: FunctionDefinition) => LambdaFunction;

export interface LocalStack {
  readonly account: AccountContext;
  readonly baseUrl: string;
  readonly dynamodbEndpoint: string;
  readonly objectStoreEndpoint: string;
  readonly queueEndpoint: string;
  readonly issuer: Issuer;
  readonly deployment: Deployment;
  /** The objects of the store by bucket and key. Access is not checked. */
  readonly objects: ObjectFiles;
  /** The way in for lifecycle events. */
  readonly events: EventIntake;
  stop(): Promise<void>;
}

const audience = 'quantum-batch-api';
const accountId = '000000000000';
const issuerPath = `${localPrefix}issuer`;

/** Starts everything, without data. When it throws, it has stopped what was started. */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const parts = new AsyncDisposableStack();
  try {
    return await start(options, parts);
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

async function start(options: LocalStackOptions, parts: AsyncDisposableStack): Promise<LocalStack> {
  const { front, dataDirectory, onStep } = options;
  parts.defer(front.stop);
  const issuer = await createIssuer({
    url: front.url + issuerPath,
    audience,
    accounts: [...accounts, ...projectAccounts, deviceAccount, operatorAccount],
    stylesheet: '/console?file=page.css',
    ...(dataDirectory !== undefined && { keyFile: join(dataDirectory, 'issuer-key.json') }),
  });

  const [database, synthesis] = await startDatabaseAndSynthesize(options, issuer.url, parts);

  onStep('Starting the functions');
  const services = await startServices(synthesis, database.endpoint, options, parts);
  const inUse = setInterval(() => useAssembly(synthesis.assets.directory), 3_600_000).unref();
  parts.defer(() => clearInterval(inUse));
  const { account, deployment, gate, queueService, objects, store } = services;
  const log = await openLog(options.logFile, parts);
  const functions = createFunctions(services, { ...options, log }, parts);
  for (const { arn, rotationFunctionArn } of deployment.secrets) {
    services.secretStore.create(arn);
    // As the clock calls it: public keys are there from the start.
    await functionOf(functions, rotationFunctionArn).invoke({});
  }
  for (const source of deployment.eventSources) {
    const target = functionOf(functions, source.functionArn);
    parts.defer(startEventSource(source, queueService.find(source.queueArn), target));
  }
  const checkpoints = createCheckpoints(dataDirectory && join(dataDirectory, 'streams.json'));
  for (const source of deployment.streamSources) {
    const target = functionOf(functions, source.functionArn);
    parts.defer(
      startStreamSource(source, target, { endpoint: database.endpoint, checkpoints, writes: gate.writes, log }),
    );
  }
  for (const { minutes, functionArn } of deployment.schedules) {
    const target = functionOf(functions, functionArn);
    // What fails is in the function's log; the next time tries again.
    const timer = setInterval(() => void target.invoke({}).catch(() => undefined), minutes * 60_000);
    parts.defer(() => clearInterval(timer));
  }
  const events = eventIntake(deployment, queueService);
  const gateway = createGateway(deployment.api, functions, account);
  const localPaths = createLocalPaths(events, queueService.queues(), rotateSecrets);
  front.open({ ...gateway, handle: frontHandle });
  return {
    account,
    baseUrl: front.url,
    dynamodbEndpoint: database.endpoint,
    objectStoreEndpoint: store.url,
    queueEndpoint: queueService.url,
    issuer,
    deployment,
    objects,
    events,
    stop: () => parts.disposeAsync(),
  };

  async function rotateSecrets() {
    for (const { arn, rotationFunctionArn } of deployment.secrets) {
      await services.secretStore.rotate(arn, functionOf(functions, rotationFunctionArn).invoke);
    }
  }

  async function frontHandle(...[request, response]: Parameters<FrontHandler['handle']>) {
    const { path } = splitTarget(request.url ?? '/');
    if (path.startsWith(`${issuerPath}/`)) return issuer.handle(path.slice(issuerPath.length), request, response);
    if (path.startsWith(localPrefix)) return localPaths(path, request, response);
    return gateway.handle(request, response);
  }
}

type Services = Awaited<ReturnType<typeof startServices>>;

/**
 * What the template deploys, and the services that its functions call. Each checks the role of its
 * caller, by access key id: functions are added to `principals` when they start.
 */
async function startServices(
  { stackName, template, assets }: Synthesis,
  dynamodbEndpoint: string,
  { dataDirectory, deliverWebhooks, after }: LocalStackOptions,
  parts: AsyncDisposableStack,
) {
  const owner = ownerPrincipal(accountId);
  const principals = new Map<string, Principal>([[owner.credentials.accessKeyId, owner]]);
  const queueService = await startQueueService(principals, after);
  parts.defer(queueService.stop);
  const region = process.env.AWS_REGION ?? 'us-east-1';
  const account: AccountContext = { accountId, region, stackName, queueEndpoint: queueService.url };
  const deployment = readDeployment(readTemplate(template, account), assets);
  queueService.create(deployment.queues, dataDirectory && join(dataDirectory, 'queues'));
  await createTables(dynamodbEndpoint, region, deployment.tables);
  const gate = await startDynamoDbGate(dynamodbEndpoint, principals, account);
  parts.defer(gate.stop);
  const objects = dataDirectory === undefined ? memoryObjects() : directoryObjects(join(dataDirectory, 'objects'));
  const store = await startObjectStore({ buckets: deployment.buckets, principals, files: objects });
  parts.defer(store.stop);
  const secretStore = await startSecretStore(principals, dataDirectory && join(dataDirectory, 'secrets.json'));
  parts.defer(secretStore.stop);
  const environment = {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL_DYNAMODB: gate.url,
    AWS_ENDPOINT_URL_S3: store.url,
    AWS_ENDPOINT_URL_SQS: queueService.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretStore.url,
    WEBHOOK_REACH: deliverWebhooks === true ? 'loopback' : 'off',
  };
  return { account, deployment, principals, gate, queueService, store, objects, secretStore, environment };
}

/** Every function in its role. Each loads its bundle at its first call, as in Lambda. */
function createFunctions(
  { deployment, principals, environment }: Services,
  { serve, log }: Pick<LocalStackOptions, 'serve'> & { readonly log: (line: string) => void },
  parts: AsyncDisposableStack,
): LambdaFunction[] {
  const functions = deployment.functions.map((definition) => {
    const principal = assumeRole(definition.roleArn, definition.name, definition.statements);
    principals.set(principal.credentials.accessKeyId, principal);
    const { accessKeyId, secretAccessKey, sessionToken = '' } = principal.credentials;
    const variables = {
      ...environment,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    };
    const make: MakeFunction = (made) => lambdaFunction(made, variables, (line) => log(`${made.name} ${line}`));
    return serve?.(definition, make) ?? make(definition);
  });
  parts.defer(async () => void (await Promise.all(functions.map((each) => each.stop()))));
  return functions;
}

/** Does both at the same time, since each takes seconds. Waits for both, even when one fails. */
async function startDatabaseAndSynthesize(options: LocalStackOptions, issuer: string, parts: AsyncDisposableStack) {
  const own = { issuer, audience, jwksUri: `${issuer}/.well-known/jwks.json`, consoleClientId: 'console' };
  const [database, synthesis] = await Promise.allSettled([
    startDatabase(options, parts),
    synthesize({ stage: 'dev' }, options.tokenIssuer ?? own, () =>
      options.onStep('Synthesizing the stack and bundling its functions'),
    ),
  ]);
  if (database.status === 'rejected') throw database.reason;
  if (synthesis.status === 'rejected') throw synthesis.reason;
  return [database.value, synthesis.value] as const;
}

async function startDatabase(
  { dataDirectory, dynamodbEndpoint, onStep }: LocalStackOptions,
  parts: AsyncDisposableStack,
): Promise<{ readonly endpoint: string }> {
  if (dynamodbEndpoint !== undefined) return { endpoint: dynamodbEndpoint };
  onStep('Starting DynamoDB Local');
  const files = dataDirectory === undefined ? undefined : join(dataDirectory, 'dynamodb');
  if (files !== undefined) await mkdir(files, { recursive: true });
  const database = await startDynamoDbLocal(files === undefined ? {} : { dataDirectory: files });
  parts.defer(database.stop);
  return database;
}

async function openLog(file: string, parts: AsyncDisposableStack): Promise<(line: string) => void> {
  await mkdir(dirname(file), { recursive: true });
  const stream = createWriteStream(file);
  parts.defer(() => new Promise((resolve) => stream.end(resolve)));
  return (line) => stream.write(`${line}\n`);
}

function functionOf(functions: readonly LambdaFunction[], arn: string): LambdaFunction {
  return functions.find(({ definition }) => definition.arn === arn)!;
}

/** The way into the queue that the template's output names. */
function eventIntake({ outputs }: Deployment, queueService: QueueService): EventIntake {
  return createEventIntake({
    events: queueService.find(outputs.EventsQueueUrl ?? ''),
    waiting: queueService.find(outputs.WaitingEventsQueueUrl ?? ''),
    deadLetters: queueService.deadLetterQueues(),
  });
}
