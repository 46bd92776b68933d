import { join } from 'node:path';
import type { CreateTableCommandInput, TimeToLiveSpecification } from '@aws-sdk/client-dynamodb';
import { SetupProblem } from '../dynamodb/dynamodb-local.ts';
import { checkStatements, isAllowed, type PolicyStatement } from '../iam/policy.ts';
import { type ApiDefinition, readApi } from './api-definition.ts';
import type { Place, Resource } from './template.ts';

/** What the template deploys, in the terms of the parts that run it here. */
export interface Deployment {
  readonly place: Place;
  readonly tables: readonly TableDefinition[];
  readonly buckets: readonly BucketDefinition[];
  readonly queues: readonly QueueDefinition[];
  readonly functions: readonly FunctionDefinition[];
  readonly eventSources: readonly EventSourceDefinition[];
  readonly api: ApiDefinition;
}

export interface TableDefinition {
  readonly create: CreateTableCommandInput & { readonly TableName: string };
  readonly timeToLive?: TimeToLiveSpecification;
}

export interface BucketDefinition {
  readonly name: string;
  /** The statements of its own policy, which hold for everyone. */
  readonly policy: readonly PolicyStatement[];
}

export interface QueueDefinition {
  readonly arn: string;
  readonly url: string;
  /** Where a message goes after `maxReceiveCount` deliveries. */
  readonly redrive?: { readonly deadLetterArn: string; readonly maxReceiveCount: number };
}

export interface FunctionDefinition {
  readonly name: string;
  readonly arn: string;
  /** The bundle's directory. */
  readonly directory: string;
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly reservedConcurrency?: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly roleArn: string;
  /** What its role allows. */
  readonly statements: readonly PolicyStatement[];
}

export interface EventSourceDefinition {
  readonly queueArn: string;
  readonly functionArn: string;
  readonly batchSize: number;
  /** The function names the messages that failed; without this one failure is the whole batch's. */
  readonly reportsItemFailures: boolean;
}

/** The assets manifest that synthesis writes beside the template: from an asset's hash to its directory. */
export interface AssetManifest {
  readonly files: Readonly<Record<string, { readonly source: { readonly path: string } }>>;
}

/**
 * Reads what the template's resources deploy. Throws SetupProblem where AWS would deploy something that cannot work: a
 * function without its bundle, a queue its function may not read, an API without permission to call its function.
 */
export function readDeployment(
  resources: readonly Resource[],
  assets: { readonly manifest: AssetManifest; readonly directory: string },
  place: Place,
): Deployment {
  const ofType = (type: string) => resources.filter((resource) => resource.type === type);
  const functions = ofType('AWS::Lambda::Function').map((resource) => readFunction(resource));
  const queues = ofType('AWS::SQS::Queue').map(readQueue);
  const eventSources = ofType('AWS::Lambda::EventSourceMapping').map(readEventSource);
  return {
    place,
    functions,
    queues,
    eventSources,
    tables: ofType('AWS::DynamoDB::Table').map(readTable),
    buckets: ofType('AWS::S3::Bucket').map(readBucket),
    api: readApi(resources, place),
  };

  function readFunction({ logicalId, ref, attributes, properties }: Resource): FunctionDefinition {
    const asset = assets.manifest.files[String(properties.Code?.S3Key).replace(/\.zip$/, '')];
    if (asset === undefined) throw new SetupProblem(`The assets do not hold the bundle of ${logicalId}.`);
    return {
      name: ref,
      arn: attributes.Arn!,
      directory: join(assets.directory, asset.source.path),
      handler: properties.Handler,
      timeoutSeconds: properties.Timeout ?? 3,
      memoryMegabytes: properties.MemorySize ?? 128,
      ...(properties.ReservedConcurrentExecutions !== undefined && {
        reservedConcurrency: properties.ReservedConcurrentExecutions,
      }),
      environment: properties.Environment?.Variables ?? {},
      roleArn: properties.Role,
      statements: readRole(properties.Role),
    };
  }

  function readRole(roleArn: string): readonly PolicyStatement[] {
    const role = ofType('AWS::IAM::Role').find(({ attributes }) => attributes.Arn === roleArn);
    if (role === undefined) throw new SetupProblem(`The template does not declare the role ${roleArn}.`);
    const managed = (role.properties.ManagedPolicyArns ?? []).find(
      (arn: string) => !/service-role\/AWSLambdaBasicExecutionRole$|AWSXRayDaemonWriteAccess$/.test(arn),
    );
    if (managed !== undefined) throw new SetupProblem(`The local stack does not know the managed policy ${managed}.`);
    const policies = [
      ...(role.properties.Policies ?? []),
      ...ofType('AWS::IAM::Policy')
        .filter(({ properties }) => properties.Roles?.includes(role.ref))
        .map(({ properties }) => properties),
    ];
    return checkStatements(
      role.logicalId,
      policies.flatMap((policy) => policy.PolicyDocument.Statement),
    );
  }

  function readBucket({ ref }: Resource): BucketDefinition {
    const policies = ofType('AWS::S3::BucketPolicy').filter(({ properties }) => properties.Bucket === ref);
    return {
      name: ref,
      policy: checkStatements(
        ref,
        policies.flatMap(({ properties }) => properties.PolicyDocument.Statement),
      ),
    };
  }

  function readEventSource({ logicalId, properties }: Resource): EventSourceDefinition {
    const target = functions.find(({ name, arn }) => [name, arn].includes(properties.FunctionName));
    const queueArn: string = properties.EventSourceArn;
    if (target === undefined || !queues.some(({ arn }) => arn === queueArn)) {
      throw new SetupProblem(`The local stack knows event sources from a queue to a function only, not ${logicalId}.`);
    }
    for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']) {
      if (!isAllowed(target.statements, { action, resource: queueArn })) {
        throw new SetupProblem(`The role of ${target.name} does not allow ${action}, which its event source needs.`);
      }
    }
    return {
      queueArn,
      functionArn: target.arn,
      batchSize: properties.BatchSize ?? 10,
      reportsItemFailures: properties.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    };
  }
}

function readQueue({ ref, attributes, properties }: Resource): QueueDefinition {
  const redrive = properties.RedrivePolicy;
  return {
    url: ref,
    arn: attributes.Arn!,
    ...(redrive !== undefined && {
      redrive: { deadLetterArn: redrive.deadLetterTargetArn, maxReceiveCount: Number(redrive.maxReceiveCount) },
    }),
  };
}

/** The properties are CreateTable's own, but for those that other calls set. */
function readTable({ ref, properties }: Resource): TableDefinition {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, LocalSecondaryIndexes } = properties;
  return {
    create: {
      TableName: ref,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema,
      AttributeDefinitions,
      ...(GlobalSecondaryIndexes !== undefined && { GlobalSecondaryIndexes }),
      ...(LocalSecondaryIndexes !== undefined && { LocalSecondaryIndexes }),
    },
    ...(properties.TimeToLiveSpecification !== undefined && { timeToLive: properties.TimeToLiveSpecification }),
  };
}
