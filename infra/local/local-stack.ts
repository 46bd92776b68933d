/** The whole service on this machine: puts the parts together in the order in which they need each other. */

import { createWriteStream, rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { accounts } from './demo/accounts.ts';
import { createTables } from './dynamodb/create-tables.ts';
import { startDynamoDbGate } from './dynamodb/dynamodb-gate.ts';
import { requireJava, startDynamoDbLocal } from './dynamodb/dynamodb-local.ts';
import { createGateway } from './gateway/gateway.ts';
import { parseTarget, startHttpServer } from './http-server.ts';
import { functionPrincipal, ownerPrincipal, type Principal } from './iam/principals.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { type LambdaFunction, lambdaFunction } from './lambda/lambda-function.ts';
import { localPaths } from './local-paths.ts';
import { directoryObjects, memoryObjects, type ObjectFiles } from './s3/object-files.ts';
import { startObjectStore } from './s3/object-store.ts';
import { createEventQueue, type DeadLetter, type Delivery, startQueueEndpoint } from './sqs/queues.ts';
import { type Deployment, readDeployment } from './template/deployment.ts';
import { synthesize } from './template/synthesize.ts';
import { type Place, readTemplate } from './template/template.ts';

export interface LocalStackOptions {
  /** 0: any free one. */
  readonly port: number;
  /** Everything is kept here; without it, in memory. */
  readonly dataDirectory?: string | undefined;
  /** Used instead of DynamoDB Local. */
  readonly dynamodbEndpoint?: string | undefined;
  /** Where the functions' own output goes. */
  readonly logFile: string;
  /** Called once the port is this stack's. */
  readonly onListening: () => Promise<void>;
  /** Told of each step, for people. */
  readonly onStep: (step: string) => void;
}

export interface LocalStack {
  readonly baseUrl: string;
  readonly dynamodbEndpoint: string;
  readonly objectStoreEndpoint: string;
  readonly issuer: Issuer;
  readonly deployment: Deployment;
  /** Objects of the store, by bucket and key, past its signatures. */
  readonly objects: ObjectFiles;
  /** Hands lifecycle events to their function through the queue, and waits as EventQueue.send does. */
  deliver(events: readonly unknown[], patience: number): Promise<Delivery>;
  stop(): Promise<void>;
}

const audience = 'quantum-batch-api';
const accountId = '000000000000';

/** Starts everything, without data. When it throws, what was started is stopped. */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    return await start(options, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: LocalStackOptions,
  stops: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<LocalStack> {
  const { port, dataDirectory, logFile, onStep } = options;
  if (options.dynamodbEndpoint === undefined) requireJava();
  const region = process.env.AWS_REGION ?? 'us-east-1';
  const kept = (name: string) => (dataDirectory === undefined ? undefined : join(dataDirectory, name));

  // The issuer's address is part of the template, so the port comes first; whoever asks before all is ready, waits.
  const ready = Promise.withResolvers<(request: IncomingMessage, response: ServerResponse) => Promise<void>>();
  const unreadable = { handle: (_: NodeJS.ErrnoException, socket: Socket): void => void socket.destroy() };
  const server = await startHttpServer(
    port,
    async (request, response) => (await ready.promise)(request, response),
    (error, socket) => unreadable.handle(error, socket),
  );
  stops.push(server.stop);
  await options.onListening();
  const issuerPath = `${localPaths.prefix}issuer`;
  const keyFile = kept('issuer-key.json');
  const issuer = await createIssuer({
    url: server.url + issuerPath,
    audience,
    accounts,
    ...(keyFile !== undefined && { keyFile }),
  });

  onStep(
    options.dynamodbEndpoint === undefined
      ? 'Starting DynamoDB Local, synthesizing the stack'
      : 'Synthesizing the stack',
  );
  const directory = await mkdtemp(join(tmpdir(), 'quantum-batch-api-'));
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', removeDirectory);
  stops.push(async () => {
    process.removeListener('exit', removeDirectory);
    removeDirectory();
  });
  const databaseFiles = kept('dynamodb');
  if (databaseFiles !== undefined) await mkdir(databaseFiles, { recursive: true });
  const [database, synthesis] = await bothOrNeither(
    options.dynamodbEndpoint === undefined
      ? startDynamoDbLocal(databaseFiles === undefined ? {} : { dataDirectory: databaseFiles })
      : Promise.resolve({ endpoint: options.dynamodbEndpoint, stop: async () => {} }),
    synthesize(directory, { stage: 'dev', issuer: issuer.url, audience }),
  );
  stops.push(database.stop);

  onStep('Starting the functions');
  const principals = new Map<string, Principal>();
  const deadLetters: DeadLetter[] = [];
  const found: { deployment?: Deployment } = {};
  const queueEndpoint = await startQueueEndpoint(() => found.deployment?.queues ?? [], principals, deadLetters);
  stops.push(queueEndpoint.stop);
  const place: Place = { accountId, region, stackName: synthesis.stackName, queueEndpoint: queueEndpoint.url };
  const deployment = readDeployment(readTemplate(synthesis.template, place), synthesis.assets, place);
  found.deployment = deployment;

  const owner = ownerPrincipal(accountId);
  principals.set(owner.credentials.accessKeyId, owner);
  await createTables(database.endpoint, region, deployment.tables);
  const gate = await startDynamoDbGate(database.endpoint, principals, place);
  stops.push(gate.stop);
  const objectDirectory = kept('objects');
  const objects = objectDirectory === undefined ? memoryObjects() : directoryObjects(objectDirectory);
  const store = await startObjectStore({ buckets: deployment.buckets, principals, files: objects });
  stops.push(store.stop);

  await mkdir(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile);
  stops.push(() => new Promise((resolve) => log.end(resolve)));
  const functions = deployment.functions.map((definition): LambdaFunction => {
    const principal = functionPrincipal(definition);
    const { accessKeyId, secretAccessKey, sessionToken = '' } = principal.credentials;
    principals.set(accessKeyId, principal);
    const environment = {
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_ENDPOINT_URL_DYNAMODB: gate.url,
      AWS_ENDPOINT_URL_S3: store.url,
      AWS_ENDPOINT_URL_SQS: queueEndpoint.url,
    };
    return lambdaFunction(definition, environment, (line) => log.write(`${definition.name} ${line}\n`));
  });
  stops.push(() => Promise.all(functions.map((each) => each.stop())));
  await Promise.all(functions.map((each) => each.warm()));

  const [source, ...otherSources] = deployment.eventSources;
  if (source === undefined || otherSources.length > 0) throw new Error('The local stack runs one event source.');
  const queue = deployment.queues.find(({ arn }) => arn === source.queueArn)!;
  const consumer = functions.find(({ definition }) => definition.arn === source.functionArn)!;
  const events = createEventQueue(source, queue, consumer, deadLetters);
  const deliverEvents = (given: readonly unknown[], patience: number) =>
    events.send(
      given.map((event) => JSON.stringify(event)),
      patience,
    );

  const gateway = createGateway(deployment.api, functions, place);
  unreadable.handle = gateway.handleUnreadable;
  ready.resolve(async (request, response) => {
    const { path } = parseTarget(request.url ?? '/');
    if (path.startsWith(`${issuerPath}/`)) return issuer.handle(path.slice(issuerPath.length), request, response);
    if (path.startsWith(localPaths.prefix))
      return localPaths.handle(path, request, response, deliverEvents, deadLetters);
    return gateway.handle(request, response);
  });
  return {
    baseUrl: server.url,
    dynamodbEndpoint: database.endpoint,
    objectStoreEndpoint: store.url,
    issuer,
    deployment,
    objects,
    deliver: deliverEvents,
    stop,
  };
}

/** Both results; when one fails, the database that the other started is stopped. */
async function bothOrNeither<Database extends { stop(): Promise<void> }, Other>(
  database: Promise<Database>,
  other: Promise<Other>,
): Promise<[Database, Other]> {
  const [first, second] = await Promise.allSettled([database, other]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'fulfilled') return [first.value, second.value];
  await first.value.stop();
  throw second.reason;
}
