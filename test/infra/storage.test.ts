import { describe, expect, it } from 'vitest';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = synthesize();

describe.each(Object.entries<TableDescription>(tables))('the table %s', (name, description) => {
  const { properties } = one('AWS::DynamoDB::Table', `Storage/${name}`);

  it('has the keys and indexes of its description', () => {
    const keySchema = (partitionKeys: readonly string[], sortKeys: readonly string[]) => [
      ...partitionKeys.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' })),
      ...sortKeys.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' })),
    ];
    const attributes = properties.AttributeDefinitions.map((attribute: Record<string, string>) => [
      attribute.AttributeName,
      attribute.AttributeType,
    ]);
    expect(properties.KeySchema).toEqual(keySchema([description.partitionKey], [description.sortKey]));
    expect(Object.fromEntries(attributes)).toEqual(description.keyTypes);
    expect(properties.GlobalSecondaryIndexes ?? []).toEqual(
      Object.entries(description.indexes).map(([IndexName, keys]) => ({
        IndexName,
        KeySchema: keySchema(keys.partitionKeys, keys.sortKeys),
        Projection: { ProjectionType: 'ALL' },
      })),
    );
    expect(properties.TimeToLiveSpecification).toEqual(
      description.timeToLive && { AttributeName: description.timeToLive, Enabled: true },
    );
  });

  it('has first in every key what its partitions are of', () => {
    const first = { owner: 'user_id', device: 'device_type', public: 'kind' }[description.partition];
    expect(description.partitionKey).toBe(first);
    for (const { partitionKeys } of Object.values(description.indexes)) expect(partitionKeys[0]).toBe(first);
  });

  it('is paid by request, can be restored to any second and is named by CloudFormation', () => {
    expect(properties.BillingMode).toBe('PAY_PER_REQUEST');
    expect(properties.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true });
    expect(properties).not.toHaveProperty('TableName');
  });

  it('has the stream that its description names', () => {
    expect(properties.StreamSpecification).toEqual(description.stream && { StreamViewType: description.stream.view });
  });

  it('is among the outputs', () => {
    expect(readable(outputs[`${name}Table`])).toBe(`Storage/${name}`);
  });
});

describe('the tables', () => {
  it('are those that are described', () => {
    expect(ofType('AWS::DynamoDB::Table').map(({ path }) => path)).toEqual(
      Object.keys(tables).map((name) => `Storage/${name}`),
    );
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
