import { describe, expect, it } from 'vitest';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = await synthesize();

const keySchema = (partitionKeys: readonly string[], sortKeys: readonly string[]) => [
  ...partitionKeys.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' })),
  ...sortKeys.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' })),
];

describe('the tables', () => {
  it('are those that are described, with their keys, indexes and streams', () => {
    const created = ofType('AWS::DynamoDB::Table').map(({ path, properties }) => {
      // Each stage has a test of its own for it.
      const { DeletionProtectionEnabled: _, AttributeDefinitions, ...others } = properties;
      const attributes = AttributeDefinitions.map((attribute: Record<string, string>) => [
        attribute.AttributeName,
        attribute.AttributeType,
      ]);
      return [path, { ...others, attributes: Object.fromEntries(attributes) }];
    });
    const described = Object.entries<TableDescription>(tables).map(([name, table]) => {
      const indexes = Object.entries(table.indexes).map(([IndexName, keys]) => ({
        IndexName,
        KeySchema: keySchema(keys.partitionKeys, keys.sortKeys),
        Projection: { ProjectionType: 'ALL' },
      }));
      return [
        `Storage/${name}`,
        {
          attributes: table.keyTypes,
          KeySchema: keySchema([table.partitionKey], [table.sortKey]),
          ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
          ...(table.timeToLive && { TimeToLiveSpecification: { AttributeName: table.timeToLive, Enabled: true } }),
          ...(table.stream && { StreamSpecification: { StreamViewType: table.stream.view } }),
          // Paid by request, restorable to any second, and named by CloudFormation.
          BillingMode: 'PAY_PER_REQUEST',
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ];
    });
    expect(created).toEqual(described);
  });

  it('have first in every key what their partitions are of', () => {
    for (const [name, table] of Object.entries<TableDescription>(tables)) {
      if (table.partition === 'operator') {
        expect(table.partitionKey, name).not.toMatch(/user_id|device_type|project_id|subject|kind/);
        continue;
      }
      const first = {
        owner: 'user_id',
        device: 'device_type',
        project: 'project_id',
        service: 'subject',
        public: 'kind',
      }[table.partition];
      const firstOfIndexes = Object.values(table.indexes).map(({ partitionKeys }) => partitionKeys[0]);
      expect(new Set([table.partitionKey, ...firstOfIndexes]), name).toEqual(new Set([first]));
    }
  });

  it('are among the outputs', () => {
    const named = Object.keys(tables).map((name) => readable(outputs[`${name}Table`]));
    expect(named).toEqual(Object.keys(tables).map((name) => `Storage/${name}`));
  });
});

describe('the results bucket', () => {
  const { properties } = one('AWS::S3::Bucket', 'Storage/Results');
  const policy = ofType('AWS::S3::BucketPolicy').find(
    (each) => readable(each.properties.Bucket) === 'Storage/Results',
  )!;

  it.each(ofType('AWS::S3::Bucket'))('is as private and encrypted as every bucket: $path', (bucket) => {
    expect(bucket.properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
    });
  });

  it('keeps former versions for 30 days, allows browsers to download, and logs downloads', () => {
    expect(properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(properties.LifecycleConfiguration.Rules).toEqual([
      {
        Status: 'Enabled',
        NoncurrentVersionExpiration: { NoncurrentDays: 30 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
      },
    ]);
    expect(properties.CorsConfiguration.CorsRules).toEqual([
      { AllowedMethods: ['GET'], AllowedOrigins: ['*'], AllowedHeaders: ['*'], MaxAge: 3600 },
    ]);
    expect(readable(properties.LoggingConfiguration.DestinationBucketName)).toBe('Storage/ResultsAccessLog');
  });

  it('keeps the log of downloads for 90 days', () => {
    const { LifecycleConfiguration } = one('AWS::S3::Bucket', 'Storage/ResultsAccessLog').properties;
    expect(LifecycleConfiguration.Rules).toEqual([{ Status: 'Enabled', ExpirationInDays: 90 }]);
  });

  it('refuses plain HTTP, old TLS and signatures older than ten minutes', () => {
    const refusals = policy.properties.PolicyDocument.Statement.map((statement: Record<string, unknown>) => ({
      ...statement,
      Resource: [statement.Resource].flat().map(readable),
    }));
    const everyone = { Effect: 'Deny', Principal: { AWS: '*' }, Action: 's3:*' };
    const whole = ['Storage/Results', 'Storage/Results/*'];
    expect(refusals).toEqual([
      { ...everyone, Resource: whole, Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      { ...everyone, Resource: whole, Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } },
      {
        ...everyone,
        Sid: 'RefuseOldSignatures',
        Resource: ['Storage/Results/*'],
        Condition: { NumericGreaterThan: { 's3:signatureAge': 600_000 } },
      },
    ]);
  });

  it('is among the outputs', () => {
    expect(readable(outputs.ResultsBucket)).toBe('Storage/Results');
  });
});
