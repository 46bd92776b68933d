/**
 * The account that the stack pretends to live in. ARNs and URLs of its resources are made of this.
 */
export interface AccountContext {
  readonly accountId: string;
  readonly region: string;
  readonly stackName: string;
  /** The address of the local SQS endpoint, without a trailing slash: queue URLs begin with it. */
  readonly queueEndpoint: string;
}

/** What `Ref` and `Fn::GetAtt` give of a resource. */
export interface ResourceIdentity {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

type IdentityOf = (
  name: string,
  account: AccountContext,
  properties: Readonly<Record<string, unknown>>,
) => ResourceIdentity;

/**
 * Every resource type that the template has: how its physical name becomes its reference, ARN and
 * other attributes.
 */
export const resourceTypes: Readonly<Record<string, IdentityOf>> = {
  'AWS::ApiGateway::Account': nameOnly,
  'AWS::ApiGateway::Deployment': nameOnly,
  'AWS::ApiGateway::RestApi': (name) => ({
    ref: name.toLowerCase().slice(-10),
    attributes: { RestApiId: name.toLowerCase().slice(-10) },
  }),
  'AWS::ApiGateway::Stage': (_, __, { StageName }) => nameOnly(String(StageName)),
  'AWS::CloudWatch::Alarm': withArn('cloudwatch', (name) => `alarm:${name}`),
  'AWS::CloudWatch::Dashboard': nameOnly,
  'AWS::DynamoDB::Table': (name, { accountId, region }) => {
    const arn = `arn:aws:dynamodb:${region}:${accountId}:table/${name}`;
    return { ref: name, attributes: { Arn: arn, StreamArn: `${arn}/stream/local` } };
  },
  'AWS::Events::Rule': withArn('events', (name) => `rule/${name}`),
  'AWS::IAM::ManagedPolicy': (name, { accountId }) => {
    const arn = `arn:aws:iam::${accountId}:policy/${name}`;
    return { ref: arn, attributes: { PolicyArn: arn } };
  },
  'AWS::IAM::Role': (name, { accountId }) => ({
    ref: name,
    attributes: { Arn: `arn:aws:iam::${accountId}:role/${name}`, RoleId: name },
  }),
  'AWS::KMS::Key': withArn('kms', (name) => `key/${name}`),
  'AWS::Lambda::EventSourceMapping': nameOnly,
  'AWS::Lambda::Function': withArn('lambda', (name) => `function:${name}`),
  'AWS::Lambda::Permission': nameOnly,
  'AWS::Logs::LogGroup': withArn('logs', (name) => `log-group:${name}:*`),
  'AWS::Logs::MetricFilter': nameOnly,
  'AWS::Logs::QueryDefinition': nameOnly,
  'AWS::S3::Bucket': (name, { region }) => ({
    ref: name.toLowerCase(),
    attributes: {
      Arn: `arn:aws:s3:::${name.toLowerCase()}`,
      RegionalDomainName: `${name.toLowerCase()}.s3.${region}.amazonaws.com`,
    },
  }),
  'AWS::S3::BucketPolicy': nameOnly,
  'AWS::SecretsManager::RotationSchedule': nameOnly,
  'AWS::SecretsManager::Secret': (name, { accountId, region }) => {
    const arn = `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}`;
    return { ref: arn, attributes: { Id: arn } };
  },
  'AWS::SNS::Topic': (name, { accountId, region }) => {
    const arn = `arn:aws:sns:${region}:${accountId}:${name}`;
    return { ref: arn, attributes: { TopicArn: arn, TopicName: name } };
  },
  'AWS::SNS::TopicPolicy': nameOnly,
  'AWS::SQS::Queue': (logicalName, { accountId, region, queueEndpoint }, { FifoQueue }) => {
    const name = FifoQueue === true ? `${logicalName}.fifo` : logicalName;
    const url = `${queueEndpoint}/${accountId}/${name}`;
    return {
      ref: url,
      attributes: { Arn: `arn:aws:sqs:${region}:${accountId}:${name}`, QueueName: name, QueueUrl: url },
    };
  },
  'AWS::SQS::QueuePolicy': nameOnly,
  'AWS::XRay::SamplingRule': nameOnly,
};

function nameOnly(name: string): ResourceIdentity {
  return { ref: name, attributes: { Id: name } };
}

function withArn(service: string, resourcePart: (name: string) => string): IdentityOf {
  return (name, { accountId, region }) => ({
    ref: name,
    attributes: { Arn: `arn:aws:${service}:${region}:${accountId}:${resourcePart(name)}` },
  });
}
