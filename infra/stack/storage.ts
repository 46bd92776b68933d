import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type CfnBucket,
  HttpMethods,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { type TableDescription, type TableName, tables } from '../../functions/tables.ts';
import { resultsPrefix } from '../../functions/values/results-key.ts';
import type { UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

/**
 * The bucket refuses requests that were signed longer ago, even where the link says that it is
 * still valid.
 */
const maxSignatureAge = Duration.minutes(10);

/** The tables and the results bucket. */
export class Storage extends Construct {
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly results: Bucket;
  /** Each table, each index and the results, as functions may use them. */
  readonly resources: UsableResources;

  /** `restored` names tables that `npm run restore` made, which the stack takes over. */
  constructor(scope: Construct, id: string, settings: StageSettings, restored?: string) {
    super(scope, id);
    const descriptions = Object.entries<TableDescription>(tables);
    this.tables = Object.fromEntries(
      descriptions.map(([name, description]) => [name, createTable(this, { name, description, settings, restored })]),
    ) as Record<TableName, Table>;
    this.results = createResultsBucket(this, settings);
    this.resources = {
      ...Object.fromEntries(
        descriptions.flatMap(([name, description]) =>
          tableResources(name, description, this.tables[name as TableName]),
        ),
      ),
      Results: {
        service: 's3',
        arn: this.results.arnForObjects(`${resultsPrefix}*`),
        environment: {
          RESULTS_BUCKET: this.results.bucketName,
          ...(settings.resultsDays !== undefined && { RESULTS_DAYS: String(settings.resultsDays) }),
        },
        wildcard: {
          id: `AwsSolutions-IAM5[Resource::<${Stack.of(this).getLogicalId(this.results.node.defaultChild as CfnBucket)}.Arn>/${resultsPrefix}*]`,
          reason: 'Each function serves all users: it may need any result, and nothing else in the bucket.',
        },
      },
      ResultsVersions: {
        service: 's3',
        arn: this.results.bucketArn,
        environment: {},
        conditions: { StringLike: { 's3:prefix': `${resultsPrefix}*` } },
      },
    };
  }
}

interface TableSettings {
  readonly name: string;
  readonly description: TableDescription;
  readonly settings: StageSettings;
  readonly restored: string | undefined;
}

/** The name of a table that was restored, beside the one that it replaces. */
export function restoredName(stackName: string, table: string, restored: string): string {
  return `${stackName}-Storage${table}-${restored}`;
}

/**
 * A table encrypted with a key that AWS owns: no KMS calls, and no key policy that could lock the
 * data away.
 */
function createTable(scope: Construct, { name, description, settings, restored }: TableSettings): Table {
  const attribute = (key: string): Attribute => ({ name: key, type: AttributeType[keyType(description, key)] });
  const table = new Table(scope, restored === undefined ? name : `${name}-${restored}`, {
    partitionKey: attribute(description.partitionKey),
    sortKey: attribute(description.sortKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: settings.deletionProtection,
    removalPolicy: settings.removalPolicy,
    // CloudFormation imports a table by its name, and only one that it will keep.
    ...(restored !== undefined && {
      tableName: restoredName(Stack.of(scope).stackName, name, restored),
      removalPolicy: RemovalPolicy.RETAIN,
    }),
    ...(description.timeToLive !== undefined && { timeToLiveAttribute: description.timeToLive }),
    ...(description.stream !== undefined && { stream: StreamViewType[description.stream.view] }),
  });
  for (const [indexName, keys] of Object.entries(description.indexes)) {
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKeys: keys.partitionKeys.map(attribute),
      sortKeys: keys.sortKeys.map(attribute),
    });
  }
  return table;
}

const typeNames = { S: 'STRING', N: 'NUMBER', B: 'BINARY' } as const;

function keyType(description: TableDescription, key: string) {
  const type = description.keyTypes[key];
  if (type === undefined) throw new Error(`The key attribute ${key} has no type.`);
  return typeNames[type];
}

function tableResources(name: string, description: TableDescription, table: Table) {
  const environment = { [description.environmentVariable]: table.tableName };
  const service = 'dynamodb' as const;
  return [
    [name, { service, arn: table.tableArn, environment }] as const,
    ...Object.keys(description.indexes).map(
      (index) => [`${name}/${index}`, { service, arn: `${table.tableArn}/index/${index}`, environment }] as const,
    ),
  ];
}

/**
 * A private bucket that takes TLS only. Versions protect results from being overwritten by mistake.
 * The access log is the only record of downloads, since a signed link bypasses the API.
 */
function createResultsBucket(scope: Construct, settings: StageSettings): Bucket {
  const common: BucketProps = {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    removalPolicy: settings.removalPolicy,
  };
  const accessLog = new Bucket(scope, 'ResultsAccessLog', {
    ...common,
    lifecycleRules: [{ expiration: Duration.days(90) }],
  });
  Validations.of(accessLog).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'It is the access log of the results bucket.',
  });
  const results = new Bucket(scope, 'Results', {
    ...common,
    versioned: true,
    serverAccessLogsBucket: accessLog as IBucket,
    lifecycleRules: [
      { noncurrentVersionExpiration: Duration.days(30), abortIncompleteMultipartUploadAfter: Duration.days(7) },
      ...(settings.resultsDays === undefined
        ? []
        : [{ prefix: resultsPrefix, expiration: Duration.days(settings.resultsDays) }]),
    ],
    cors: [{ allowedMethods: [HttpMethods.GET], allowedOrigins: ['*'], allowedHeaders: ['*'], maxAge: 3600 }],
  });
  results.addToResourcePolicy(
    new PolicyStatement({
      sid: 'RefuseOldSignatures',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:*'],
      resources: [results.arnForObjects('*')],
      conditions: { NumericGreaterThan: { 's3:signatureAge': maxSignatureAge.toMilliseconds() } },
    }),
  );
  return results;
}
