import { join } from 'node:path';
import type { CreateTableCommandInput, TimeToLiveSpecification } from '@aws-sdk/client-dynamodb';
import { SetupProblem } from '../../commands/setup-problem.ts';
import { checkStatements, isAllowed, type PolicyStatement } from '../iam/policy.ts';
import { type ApiDefinition, readApi } from './api-definition.ts';
import { type RecordPattern, readPattern } from './record-pattern.ts';
import { readRole } from './role.ts';
import type { ResolvedTemplate, Resource } from './template.ts';

/** What the template deploys, as the parts of the local stack need it. */
export interface Deployment {
  readonly tables: readonly TableDefinition[];
  readonly buckets: readonly BucketDefinition[];
  readonly queues: readonly QueueDefinition[];
  readonly functions: readonly FunctionDefinition[];
  readonly eventSources: readonly EventSourceDefinition[];
  readonly streamSources: readonly StreamSourceDefinition[];
  readonly schedules: readonly ScheduleDefinition[];
  readonly secrets: readonly SecretDefinition[];
  readonly api: ApiDefinition;
  /** The template's outputs, by name. */
  readonly outputs: Readonly<Record<string, string>>;
}

export interface TableDefinition {
  readonly create: CreateTableCommandInput & { readonly TableName: string };
  readonly timeToLive?: TimeToLiveSpecification;
}

export interface BucketDefinition {
  readonly name: string;
  /** The statements of the bucket's own policy. They hold for everyone. */
  readonly policy: readonly PolicyStatement[];
}

export interface QueueDefinition {
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  /** How long a received message stays hidden on AWS. */
  readonly visibilityTimeoutSeconds: number;
  /** Otherwise a standard queue. A FIFO queue deduplicates by the ids of each group. */
  readonly fifo?: true;
  /** Where a message goes after `maxReceiveCount` deliveries. */
  readonly redrive?: { readonly deadLetterArn: string; readonly maxReceiveCount: number };
}

export interface FunctionDefinition {
  readonly name: string;
  readonly arn: string;
  /** The bundle's directory. */
  readonly directory: string;
  readonly handler: string;
  /** The log that it shares with others of its kind. */
  readonly logGroup: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly reservedConcurrency?: number;
  /** Whether it may call itself, over queues, as often as it likes. */
  readonly allowsRecursion?: true;
  readonly environment: Readonly<Record<string, string>>;
  readonly roleArn: string;
  /** What its role allows. */
  readonly statements: readonly PolicyStatement[];
}

/** An event source mapping from a queue to a function. */
export interface EventSourceDefinition {
  readonly queueArn: string;
  readonly functionArn: string;
  readonly batchSize: number;
  /** Invocations at the same time; undefined: as many as the function may have. */
  readonly maxConcurrency?: number;
  /** The function names the messages that failed. Otherwise the whole batch fails or succeeds. */
  readonly reportsItemFailures: boolean;
}

/** An event source mapping from a table's stream to a function. */
export interface StreamSourceDefinition {
  readonly tableName: string;
  readonly streamArn: string;
  readonly functionArn: string;
  readonly batchSize: number;
  /** The function gets the records that match one of them; without any, all. */
  readonly patterns: readonly RecordPattern[];
}

/** A rule that calls a function again and again. */
interface ScheduleDefinition {
  readonly minutes: number;
  readonly functionArn: string;
}

interface SecretDefinition {
  readonly arn: string;
  /** Makes its versions after the first. */
  readonly rotationFunctionArn: string;
}

/**
 * The assets manifest that synthesis writes beside the template: from an asset's hash to its
 * directory.
 */
export interface AssetManifest {
  readonly files: Readonly<Record<string, { readonly source: { readonly path: string } }>>;
}

/** The assets manifest and the directory that its paths are relative to. */
interface Assets {
  readonly manifest: AssetManifest;
  readonly directory: string;
}

/**
 * Reads what the template's resources deploy. Throws SetupProblem for what AWS would refuse or
 * could not run: a function without its bundle, a queue that its consumer may not read, an API
 * that may not call its function.
 */
export function readDeployment({ resources, outputs }: ResolvedTemplate, assets: Assets): Deployment {
  const ofType = (type: string) => resources.filter((resource) => resource.type === type);
  const functions = ofType('AWS::Lambda::Function').map((resource) => readFunction(resource, resources, assets));
  const queues = ofType('AWS::SQS::Queue').map(readQueue);
  for (const queue of queues) requireDeadLettersOfSameKind(queue, queues);
  const mappings = ofType('AWS::Lambda::EventSourceMapping');
  const isOfQueue = ({ properties }: Resource) => String(properties.EventSourceArn).startsWith('arn:aws:sqs:');
  const tables = ofType('AWS::DynamoDB::Table');
  return {
    functions,
    queues,
    eventSources: mappings.filter(isOfQueue).map((resource) => readEventSource(resource, functions, queues)),
    streamSources: mappings
      .filter((resource) => !isOfQueue(resource))
      .map((resource) => readStreamSource(resource, functions, tables)),
    schedules: ofType('AWS::Events::Rule').map(readSchedule),
    secrets: ofType('AWS::SecretsManager::RotationSchedule').map(({ properties }) => ({
      arn: properties.SecretId,
      rotationFunctionArn: properties.RotationLambdaARN,
    })),
    tables: tables.map(readTable),
    buckets: ofType('AWS::S3::Bucket').map((resource) => readBucket(resource, resources)),
    api: readApi(resources),
    outputs,
  };
}

function readSchedule({ logicalId, properties }: Resource): ScheduleDefinition {
  const minutes = /^rate\((\d+) minutes?\)$/.exec(properties.ScheduleExpression)?.[1];
  if (minutes === undefined)
    throw new SetupProblem(`The local stack knows rates in minutes, which ${logicalId} has not.`);
  return { minutes: Number(minutes), functionArn: properties.Targets[0].Arn };
}

function readFunction(
  { logicalId, ref, attributes, properties }: Resource,
  resources: readonly Resource[],
  assets: Assets,
): FunctionDefinition {
  const asset = assets.manifest.files[String(properties.Code?.S3Key).replace(/\.zip$/, '')];
  if (asset === undefined) throw new SetupProblem(`The assets do not hold the bundle of ${logicalId}.`);
  return {
    name: ref,
    arn: attributes.Arn!,
    directory: join(assets.directory, asset.source.path),
    handler: properties.Handler,
    logGroup: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${ref}`,
    timeoutSeconds: properties.Timeout ?? 3,
    memoryMegabytes: properties.MemorySize ?? 128,
    ...(properties.ReservedConcurrentExecutions !== undefined && {
      reservedConcurrency: properties.ReservedConcurrentExecutions,
    }),
    ...(properties.RecursiveLoop === 'Allow' && { allowsRecursion: true }),
    environment: properties.Environment?.Variables ?? {},
    roleArn: properties.Role,
    statements: readRole(properties.Role, resources, 'lambda.amazonaws.com'),
  };
}

function readBucket({ ref }: Resource, resources: readonly Resource[]): BucketDefinition {
  const policies = resources.filter(
    ({ type, properties }) => type === 'AWS::S3::BucketPolicy' && properties.Bucket === ref,
  );
  return {
    name: ref,
    policy: checkStatements(
      ref,
      policies.flatMap(({ properties }) => properties.PolicyDocument.Statement),
    ),
  };
}

function readQueue({ logicalId, ref, attributes, properties }: Resource): QueueDefinition {
  const { FifoQueue, ContentBasedDeduplication, DeduplicationScope, RedrivePolicy: redrive } = properties;
  if (FifoQueue === true && (ContentBasedDeduplication === true || DeduplicationScope !== 'messageGroup')) {
    throw new SetupProblem(`The local FIFO queues deduplicate by the ids of each group, unlike ${logicalId}.`);
  }
  return {
    name: attributes.QueueName!,
    url: ref,
    arn: attributes.Arn!,
    visibilityTimeoutSeconds: properties.VisibilityTimeout ?? 30,
    ...(FifoQueue === true && { fifo: true }),
    ...(redrive !== undefined && {
      redrive: { deadLetterArn: redrive.deadLetterTargetArn, maxReceiveCount: Number(redrive.maxReceiveCount) },
    }),
  };
}

function requireDeadLettersOfSameKind({ name, fifo, redrive }: QueueDefinition, queues: readonly QueueDefinition[]) {
  if (redrive === undefined) return;
  const deadLetters = queues.find(({ arn }) => arn === redrive.deadLetterArn);
  if (deadLetters === undefined || deadLetters.fifo !== fifo) {
    throw new SetupProblem(`SQS asks for a dead-letter queue of the same kind: ${name}.`);
  }
}

/** The function that an event source mapping feeds, from something that was `found`. */
function targetOf(
  { logicalId, properties }: Resource,
  functions: readonly FunctionDefinition[],
  found: unknown,
): FunctionDefinition {
  const target = functions.find(({ name, arn }) => [name, arn].includes(properties.FunctionName));
  if (target !== undefined && found !== undefined) return target;
  throw new SetupProblem(
    `The local stack knows event sources from a queue or a stream to a function, not ${logicalId}.`,
  );
}

function requireAccess({ name, statements }: FunctionDefinition, actions: readonly string[], resource: string) {
  const missing = actions.find((action) => !isAllowed(statements, { action, resource }));
  if (missing === undefined) return;
  throw new SetupProblem(`The role of ${name} does not allow ${missing}, which its event source needs.`);
}

function readEventSource(
  mapping: Resource,
  functions: readonly FunctionDefinition[],
  queues: readonly QueueDefinition[],
): EventSourceDefinition {
  const { logicalId, properties } = mapping;
  const queueArn: string = properties.EventSourceArn;
  const queue = queues.find(({ arn }) => arn === queueArn);
  const target = targetOf(mapping, functions, queue);
  if (queue?.fifo && (properties.BatchSize > 10 || properties.MaximumBatchingWindowInSeconds > 0)) {
    throw new SetupProblem(`Lambda reads a FIFO queue in batches of up to 10 and without a window: ${logicalId}.`);
  }
  requireAccess(target, ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queueArn);
  const maxConcurrency = properties.ScalingConfig?.MaximumConcurrency;
  return {
    queueArn,
    functionArn: target.arn,
    batchSize: properties.BatchSize ?? 10,
    ...(maxConcurrency !== undefined && { maxConcurrency }),
    reportsItemFailures: properties.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
  };
}

function readStreamSource(
  mapping: Resource,
  functions: readonly FunctionDefinition[],
  tables: readonly Resource[],
): StreamSourceDefinition {
  const { EventSourceArn: streamArn, BatchSize, FilterCriteria, DestinationConfig } = mapping.properties;
  const table = tables.find(({ attributes }) => attributes.StreamArn === streamArn);
  const target = targetOf(mapping, functions, table?.properties.StreamSpecification);
  const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
  requireAccess(
    target,
    streamActions.map((action) => `dynamodb:${action}`),
    streamArn,
  );
  requireAccess(target, ['sqs:SendMessage'], DestinationConfig?.OnFailure?.Destination);
  return {
    tableName: table!.ref,
    streamArn,
    functionArn: target.arn,
    batchSize: BatchSize ?? 100,
    patterns: (FilterCriteria?.Filters ?? []).map(({ Pattern }: { Pattern: string }) => readPattern(Pattern)),
  };
}

/** CreateTable's own properties; time to live is apart, because another call sets it. */
function readTable({ ref, properties }: Resource): TableDefinition {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, LocalSecondaryIndexes, StreamSpecification } =
    properties;
  return {
    create: {
      TableName: ref,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema,
      AttributeDefinitions,
      ...(GlobalSecondaryIndexes !== undefined && { GlobalSecondaryIndexes }),
      ...(LocalSecondaryIndexes !== undefined && { LocalSecondaryIndexes }),
      ...(StreamSpecification !== undefined && {
        StreamSpecification: { StreamEnabled: true, StreamViewType: StreamSpecification.StreamViewType },
      }),
    },
    ...(properties.TimeToLiveSpecification !== undefined && { timeToLive: properties.TimeToLiveSpecification }),
  };
}
