import { SetupProblem } from '../dynamodb/dynamodb-local.ts';

/** The parts of a CloudFormation template that are read here. */
export interface Template {
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

interface TemplateResource {
  readonly Type: string;
  readonly Condition?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** A resource of the template: its properties with every intrinsic resolved, its own reference and attributes. */
export interface Resource {
  readonly logicalId: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is CloudFormation's, by resource type; readers check what they use.
  readonly properties: any;
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Where the resources are said to live, and the address of the local queues. */
export interface Place {
  readonly accountId: string;
  readonly region: string;
  readonly stackName: string;
  readonly queueEndpoint: string;
}

interface Identity {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

type Identify = (name: string, place: Place, properties: Readonly<Record<string, unknown>>) => Identity;

/** What `Ref` and `Fn::GetAtt` give of each resource type; `name` is its physical name. */
const identities: Readonly<Record<string, Identify>> = {
  'AWS::ApiGateway::Account': named,
  'AWS::ApiGateway::Authorizer': named,
  'AWS::ApiGateway::Deployment': named,
  'AWS::ApiGateway::GatewayResponse': named,
  'AWS::ApiGateway::Method': named,
  'AWS::ApiGateway::RequestValidator': named,
  'AWS::ApiGateway::Resource': named,
  'AWS::ApiGateway::RestApi': (name) => ({
    ref: name.toLowerCase().slice(-10),
    attributes: { RootResourceId: `${name}-root`, RestApiId: name.toLowerCase().slice(-10) },
  }),
  'AWS::ApiGateway::Stage': (_, __, { StageName }) => named(String(StageName)),
  'AWS::CDK::Metadata': named,
  'AWS::CloudWatch::Alarm': arnOf('cloudwatch', (name) => `alarm:${name}`),
  'AWS::CloudWatch::CompositeAlarm': arnOf('cloudwatch', (name) => `alarm:${name}`),
  'AWS::CloudWatch::Dashboard': named,
  'AWS::DynamoDB::Table': arnOf('dynamodb', (name) => `table/${name}`),
  'AWS::IAM::Policy': named,
  'AWS::IAM::Role': (name, { accountId }) => ({
    ref: name,
    attributes: { Arn: `arn:aws:iam::${accountId}:role/${name}`, RoleId: name },
  }),
  'AWS::KMS::Alias': named,
  'AWS::KMS::Key': arnOf('kms', (name) => `key/${name}`),
  'AWS::Lambda::EventSourceMapping': named,
  'AWS::Lambda::Function': arnOf('lambda', (name) => `function:${name}`),
  'AWS::Lambda::Permission': named,
  'AWS::Logs::LogGroup': arnOf('logs', (name) => `log-group:${name}:*`),
  'AWS::Logs::MetricFilter': named,
  'AWS::Logs::QueryDefinition': named,
  'AWS::S3::Bucket': (name, { region }) => ({
    ref: name.toLowerCase(),
    attributes: {
      Arn: `arn:aws:s3:::${name.toLowerCase()}`,
      RegionalDomainName: `${name.toLowerCase()}.s3.${region}.amazonaws.com`,
    },
  }),
  'AWS::S3::BucketPolicy': named,
  'AWS::SNS::Subscription': named,
  'AWS::SNS::Topic': (name, { accountId, region }) => {
    const arn = `arn:aws:sns:${region}:${accountId}:${name}`;
    return { ref: arn, attributes: { TopicArn: arn, TopicName: name } };
  },
  'AWS::SNS::TopicPolicy': named,
  'AWS::SQS::Queue': (name, { accountId, region, queueEndpoint }) => {
    const url = `${queueEndpoint}/${accountId}/${name}`;
    return {
      ref: url,
      attributes: { Arn: `arn:aws:sqs:${region}:${accountId}:${name}`, QueueName: name, QueueUrl: url },
    };
  },
  'AWS::SQS::QueuePolicy': named,
  'AWS::WAFv2::WebACL': arnOf('wafv2', (name) => `regional/webacl/${name}`),
  'AWS::WAFv2::WebACLAssociation': named,
};

function named(name: string): Identity {
  return { ref: name, attributes: { Id: name } };
}

function arnOf(service: string, part: (name: string) => string) {
  return (name: string, { accountId, region }: Place): Identity => ({
    ref: name,
    attributes: { Arn: `arn:aws:${service}:${region}:${accountId}:${part(name)}` },
  });
}

/**
 * Every resource of the template as it would stand in an account: physical names, ARNs and URLs are derived from the
 * stack's name and the logical id, so they are the same at every start. Throws SetupProblem for a resource type, an
 * intrinsic, an attribute or a pseudo parameter that is not known: a guess would hide a mistake in the template.
 */
export function readTemplate(template: Template, place: Place): Resource[] {
  const declared = new Map(
    Object.entries(template.Resources).filter(([, { Condition }]) => Condition === undefined || holds(Condition)),
  );
  return [...declared].map(([logicalId, { Type, Properties = {} }]) => ({
    logicalId,
    type: Type,
    ...identity(logicalId),
    properties: resolve(Properties),
  }));

  function identity(logicalId: string): Identity {
    const resource = declared.get(logicalId);
    if (resource === undefined)
      throw new SetupProblem(`The template refers to ${logicalId}, which it does not declare.`);
    const identify = identities[resource.Type];
    if (identify === undefined) {
      throw new SetupProblem(`The local stack does not know the resource type ${resource.Type} (${logicalId}).`);
    }
    return identify(`${place.stackName}-${logicalId}`, place, resource.Properties ?? {});
  }

  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve).filter((each) => each !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const [name, ...more] = Object.keys(value);
    if (name !== undefined && more.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
      return intrinsic(name, (value as Record<string, unknown>)[name]);
    }
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, each]) => [key, resolve(each)] as const)
        .filter(([, each]) => each !== undefined),
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: each intrinsic has its own argument, CloudFormation checks its shape.
  function intrinsic(name: string, argument: any): unknown {
    switch (name) {
      case 'Ref':
        return reference(argument);
      case 'Fn::GetAtt':
        return attribute(...((typeof argument === 'string' ? argument.split('.', 2) : argument) as [string, string]));
      case 'Fn::Join':
        return (resolve(argument[1]) as unknown[]).join(argument[0]);
      case 'Fn::Split':
        return String(resolve(argument[1])).split(argument[0]);
      case 'Fn::Select':
        return (resolve(argument[1]) as unknown[])[Number(argument[0])];
      case 'Fn::Sub':
        return substitute(argument);
      case 'Fn::If':
        return resolve(holds(argument[0]) ? argument[1] : argument[2]);
      case 'Fn::FindInMap':
        return template.Mappings?.[String(resolve(argument[0]))]?.[String(resolve(argument[1]))]?.[
          String(resolve(argument[2]))
        ];
      default:
        throw new SetupProblem(`The local stack does not know the intrinsic ${name}.`);
    }
  }

  function reference(name: string): unknown {
    const pseudo: Record<string, unknown> = {
      'AWS::AccountId': place.accountId,
      'AWS::Region': place.region,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackName': place.stackName,
      'AWS::StackId': `arn:aws:cloudformation:${place.region}:${place.accountId}:stack/${place.stackName}/local`,
    };
    if (name in pseudo) return pseudo[name];
    if (name === 'AWS::NoValue') return undefined;
    const parameter = template.Parameters?.[name];
    if (parameter !== undefined) {
      if (parameter.Default === undefined) throw new SetupProblem(`The template's parameter ${name} has no default.`);
      return parameter.Default;
    }
    return identity(name).ref;
  }

  function attribute(logicalId: string, name: string): string {
    const value = identity(logicalId).attributes[name];
    if (value === undefined)
      throw new SetupProblem(`The local stack does not know the attribute ${logicalId}.${name}.`);
    return value;
  }

  function substitute(argument: string | [string, Record<string, unknown>]): string {
    const [text, values] = typeof argument === 'string' ? [argument, {}] : argument;
    return text.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal === '!') return `\${${name}}`;
      if (Object.hasOwn(values, name)) return String(resolve(values[name]));
      const [logicalId = '', ...path] = name.split('.');
      return String(path.length > 0 ? attribute(logicalId, path.join('.')) : reference(name));
    });
  }

  function holds(condition: unknown): boolean {
    if (typeof condition === 'string') return holds(template.Conditions?.[condition]);
    // biome-ignore lint/suspicious/noExplicitAny: see intrinsic.
    const [name, argument] = Object.entries(condition ?? {})[0] as [string, any];
    switch (name) {
      case 'Condition':
        return holds(argument);
      case 'Fn::Equals':
        return resolve(argument[0]) === resolve(argument[1]);
      case 'Fn::And':
        return argument.every(holds);
      case 'Fn::Or':
        return argument.some(holds);
      case 'Fn::Not':
        return !holds(argument[0]);
      default:
        throw new SetupProblem(`The local stack does not know the condition ${name}.`);
    }
  }
}
