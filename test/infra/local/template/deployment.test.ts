import { describe, expect, it } from 'vitest';
import { readDeployment } from '../../../../infra/local/template/deployment.ts';
import { readTemplate, type Template } from '../../../../infra/local/template/template.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'S', queueEndpoint: 'http://sqs' };
const arnOf = (logicalId: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });
const queueActions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
const fifo = { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' };

/** The properties of a role that allows these actions. */
function policyWith(Action: readonly string[], Resource: unknown = arnOf('Queue')) {
  return { Policies: [{ PolicyDocument: { Statement: [{ Effect: 'Allow', Action, Resource }] } }] };
}

/**
 * A template with one of everything; `changes` replaces properties by logical id, undefined removes
 * the resource.
 */
function template(changes: Record<string, Record<string, unknown> | undefined> = {}): Template {
  const resources: Record<string, { Type: string; Properties: Record<string, unknown> }> = {
    RestApi: { Type: 'AWS::ApiGateway::RestApi', Properties: {} },
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'dev' } },
    Functions: { Type: 'AWS::Logs::LogGroup', Properties: {} },
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Code: { S3Key: 'hash.zip' },
        Handler: 'index.handler',
        Role: arnOf('Role'),
        Timeout: 15,
        LoggingConfig: { LogGroup: { Ref: 'Functions' } },
        Environment: { Variables: { QUEUE_URL: { Ref: 'Queue' } } },
      },
    },
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: { Statement: [{ Principal: { Service: 'lambda.amazonaws.com' } }] },
        ...policyWith(queueActions),
      },
    },
    Queue: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        VisibilityTimeout: 90,
        RedrivePolicy: { deadLetterTargetArn: arnOf('DeadLetters'), maxReceiveCount: 8 },
      },
    },
    DeadLetters: { Type: 'AWS::SQS::Queue', Properties: {} },
    Source: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: arnOf('Queue'),
        FunctionName: { Ref: 'Function' },
        BatchSize: 5,
        ScalingConfig: { MaximumConcurrency: 3 },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      },
    },
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        DeletionProtectionEnabled: true,
      },
    },
    Rule: {
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(5 minutes)', Targets: [{ Arn: arnOf('Function') }] },
    },
    Bucket: { Type: 'AWS::S3::Bucket', Properties: {} },
    BucketPolicy: {
      Type: 'AWS::S3::BucketPolicy',
      Properties: {
        Bucket: { Ref: 'Bucket' },
        PolicyDocument: { Statement: [{ Effect: 'Deny', Action: 's3:*', Resource: '*' }] },
      },
    },
  };
  for (const [id, properties] of Object.entries(changes)) {
    if (properties === undefined) delete resources[id];
    else resources[id]!.Properties = { ...resources[id]!.Properties, ...properties };
  }
  return { Resources: resources, Outputs: { QueueUrl: { Value: { Ref: 'Queue' } } } };
}

const assets = { directory: '/cdk.out', manifest: { files: { hash: { source: { path: 'asset.hash' } } } } };
const deployment = (changes: Parameters<typeof template>[0] = {}) =>
  readDeployment(readTemplate(template(changes), account), assets);

describe('readDeployment', () => {
  it('reads functions with what their role allows', () => {
    expect(deployment().functions).toEqual([
      {
        name: 'S-Function',
        arn: 'arn:aws:lambda:eu-west-3:1:function:S-Function',
        directory: '/cdk.out/asset.hash',
        handler: 'index.handler',
        timeoutSeconds: 15,
        logGroup: 'S-Functions',
        memoryMegabytes: 128,
        environment: { QUEUE_URL: 'http://sqs/1/S-Queue' },
        roleArn: 'arn:aws:iam::1:role/S-Role',
        statements: [{ Effect: 'Allow', Action: queueActions, Resource: 'arn:aws:sqs:eu-west-3:1:S-Queue' }],
      },
    ]);
  });

  it('reads queues and event sources', () => {
    const { queues, eventSources } = deployment();
    const arn = 'arn:aws:sqs:eu-west-3:1:S-Queue';
    expect(queues).toEqual([
      {
        name: 'S-Queue',
        arn,
        url: 'http://sqs/1/S-Queue',
        visibilityTimeoutSeconds: 90,
        redrive: { deadLetterArn: 'arn:aws:sqs:eu-west-3:1:S-DeadLetters', maxReceiveCount: 8 },
      },
      expect.objectContaining({ name: 'S-DeadLetters', visibilityTimeoutSeconds: 30 }),
    ]);
    expect(eventSources).toEqual([
      {
        queueArn: arn,
        functionArn: 'arn:aws:lambda:eu-west-3:1:function:S-Function',
        batchSize: 5,
        maxConcurrency: 3,
        reportsItemFailures: true,
      },
    ]);
  });

  it('reads FIFO queues, whose names end in .fifo', () => {
    const { queues } = deployment({ Queue: fifo, DeadLetters: fifo });
    expect(queues[0]).toMatchObject({
      name: 'S-Queue.fifo',
      arn: 'arn:aws:sqs:eu-west-3:1:S-Queue.fifo',
      fifo: true,
    });
  });

  it('reads how often rules call their functions', () => {
    const functionArn = 'arn:aws:lambda:eu-west-3:1:function:S-Function';
    expect(deployment().schedules).toEqual([{ minutes: 5, functionArn }]);
  });

  it('reads tables, buckets and outputs', () => {
    const { tables, buckets, outputs } = deployment();
    expect(tables).toEqual([
      {
        create: {
          TableName: 'S-Table',
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        },
        timeToLive: { AttributeName: 'ttl', Enabled: true },
      },
    ]);
    expect(buckets).toEqual([{ name: 's-bucket', policy: [{ Effect: 'Deny', Action: 's3:*', Resource: '*' }] }]);
    expect(outputs).toEqual({ QueueUrl: 'http://sqs/1/S-Queue' });
  });

  it.each<[string, Parameters<typeof template>[0], string]>([
    ...queueActions.map((action): [string, Parameters<typeof template>[0], string] => [
      `a consumer that may not ${action}`,
      { Role: policyWith(queueActions.filter((each) => each !== action)) },
      action,
    ]),
    [
      'a consumer that may read another queue only',
      { Role: policyWith(queueActions, arnOf('DeadLetters')) },
      'sqs:ReceiveMessage',
    ],
    ['a consumer without a policy', { Role: { Policies: undefined } }, 'sqs:ReceiveMessage'],
    ['an event source of another kind', { Source: { EventSourceArn: arnOf('Table') } }, 'Source'],
    ['a batch window of a FIFO queue', fifoSource({ MaximumBatchingWindowInSeconds: 1 }), 'Source'],
    ['a batch of 11 messages of a FIFO queue', fifoSource({ BatchSize: 11 }), 'Source'],
    ['a dead-letter queue of the other kind', { Queue: fifo }, 'S-Queue.fifo'],
    ['a rule that is no rate in minutes', { Rule: { ScheduleExpression: 'cron(0 12 * * ? *)' } }, 'Rule'],
    ['deduplication by content', { Queue: { ...fifo, ContentBasedDeduplication: true } }, 'unlike Queue'],
    ['deduplication across groups', { Queue: { FifoQueue: true } }, 'unlike Queue'],
    ['a function without its bundle', { Function: { Code: { S3Key: 'other.zip' } } }, 'Function'],
    ['a role of another service', { Role: { AssumeRolePolicyDocument: { Statement: [] } } }, 'lambda.amazonaws.com'],
    ['a role that is not there', { Function: { Role: 'arn:aws:iam::1:role/other' } }, 'role/other'],
    [
      'a managed policy',
      { Role: { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] } },
      'AdministratorAccess',
    ],
    ['no API', { RestApi: undefined }, 'one REST API'],
  ])('refuses %s', (_, changes, message) => {
    expect(() => deployment(changes)).toThrow(message);
  });

  function fifoSource(source: Record<string, unknown>): Parameters<typeof template>[0] {
    return { Queue: fifo, DeadLetters: fifo, Source: source };
  }
});
