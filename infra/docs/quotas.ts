/** What AWS takes at most of what a template holds, and what a template of ours has of it. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { assembliesWithoutBundles } from '../local/template/synthesize.ts';
import { stackConcurrency } from '../smoke/stack-concurrency.ts';
import { maxProjects } from '../stack/identity.ts';
import { markdownTable } from './performance.ts';

/** A template, as far as it is measured. */
interface Template {
  readonly Outputs?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

interface TemplateResource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is CloudFormation's, by resource type.
  readonly Properties?: any;
}

/** What has how much of a quota. */
type Use = readonly [name: string, amount: number];

interface Quota {
  /** What is counted, and of what. */
  readonly counts: string;
  readonly max: number;
  /** AWS's page that says so, below `site`. */
  readonly page: string;
  readonly measure: (template: Template, text: string) => readonly Use[];
  /** A bound of our own, which leaves room. */
  readonly ourMax?: number;
  /** What to do in place of going beyond it. */
  readonly instead?: string;
  /** Why more than AWS takes does no harm. */
  readonly harmless?: string;
}

const site = 'https://docs.aws.amazon.com/';

const pages = {
  alarm: 'AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html',
  alarmMath: 'AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html',
  api: 'apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html',
  apiAccount: 'apigateway/latest/developerguide/limits.html',
  cloudFormation: 'AWSCloudFormation/latest/UserGuide/cloudformation-limits.html',
  cognito: 'cognito/latest/developerguide/quotas.html',
  dynamodb: 'amazondynamodb/latest/developerguide/ServiceQuotas.html',
  eventFilters: 'lambda/latest/dg/invocation-eventfiltering.html',
  iam: 'IAM/latest/UserGuide/reference_iam-quotas.html',
  lambda: 'lambda/latest/dg/gettingstarted-limits.html',
  logFilter: 'AmazonCloudWatchLogs/latest/APIReference/API_PutMetricFilter.html',
  logPatterns: 'AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html',
  logs: 'AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html',
  query: 'AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html',
  rules: 'eventbridge/latest/userguide/eb-quota.html',
  s3: 'AmazonS3/latest/userguide/bucket-policies.html',
  savedQuery: 'AmazonCloudWatchLogs/latest/APIReference/API_PutQueryDefinition.html',
  sqs: 'AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html',
  streams: 'amazondynamodb/latest/developerguide/Streams.html',
  xray: 'general/latest/gr/xray.html',
};

const ofStack: readonly Quota[] = [
  {
    counts: 'resources',
    max: 500,
    page: pages.cloudFormation,
    measure: ({ Resources }) => [['the template', Object.keys(Resources).length]],
    ourMax: 350,
    instead: 'An endpoint needs 2: a function and its role. Look for resources that can be parts of another.',
  },
  {
    counts: 'bytes of a template',
    max: 1_000_000,
    page: pages.cloudFormation,
    measure: (_, text) => [['the template', Buffer.byteLength(text)]],
    ourMax: 800_000,
    instead: 'Look for what is repeated, such as metadata and saved queries.',
  },
  {
    counts: 'outputs',
    max: 200,
    page: pages.cloudFormation,
    measure: ({ Outputs = {} }) => [['the template', Object.keys(Outputs).length]],
  },
  ...[
    { type: 'AWS::IAM::Role', counts: 'roles of an account', max: 1_000, page: pages.iam },
    { type: 'AWS::Logs::QueryDefinition', counts: 'saved queries of a region', max: 1_000, page: pages.logs },
    { type: 'AWS::Events::Rule', counts: 'rules of an event bus', max: 100, page: pages.rules },
    { type: 'AWS::XRay::SamplingRule', counts: 'sampling rules of a region', max: 25, page: pages.xray },
    { type: 'AWS::Cognito::UserPoolClient', counts: 'clients of a user pool', max: 1_000, page: pages.cognito },
  ].map(({ type, ...quota }) => ({
    ...quota,
    measure: (template: Template): Use[] => [['the template', ofType(template, type).length]],
  })),
  {
    counts: 'scopes of a resource server',
    max: 100,
    page: pages.cognito,
    measure: each('AWS::Cognito::UserPoolResourceServer', ({ Scopes }) => Scopes.length),
  },
];

const ofMonitoring: readonly Quota[] = [
  {
    counts: 'metrics of an alarm',
    max: 10,
    page: pages.alarmMath,
    measure: each(
      'AWS::CloudWatch::Alarm',
      ({ Metrics = [] }) =>
        Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat !== undefined).length,
    ),
  },
  {
    counts: 'characters of an alarm’s description',
    max: 1_024,
    page: pages.alarm,
    measure: each('AWS::CloudWatch::Alarm', ({ AlarmDescription }) => AlarmDescription.length),
  },
  {
    counts: 'logs that a query asks',
    max: 50,
    page: pages.query,
    measure: each('AWS::Logs::QueryDefinition', ({ LogGroupNames }) => LogGroupNames.length),
  },
  {
    counts: 'characters of a saved query',
    max: 10_000,
    page: pages.savedQuery,
    measure: each('AWS::Logs::QueryDefinition', ({ QueryString }) => QueryString.length),
  },
  {
    counts: 'metric filters of a log',
    max: 100,
    page: pages.logFilter,
    measure: (template) => countEach(ofType(template, 'AWS::Logs::MetricFilter').map(logOf)),
  },
  {
    counts: 'metric filters of a log that have a regular expression',
    max: 5,
    page: pages.logPatterns,
    measure: (template) => {
      const filters = ofType(template, 'AWS::Logs::MetricFilter');
      return countEach(filters.filter(([, { FilterPattern }]) => expressionsIn(FilterPattern) > 0).map(logOf));
    },
  },
  {
    counts: 'regular expressions of a metric filter',
    max: 2,
    page: pages.logPatterns,
    measure: each('AWS::Logs::MetricFilter', ({ FilterPattern }) => expressionsIn(FilterPattern)),
  },
  {
    counts: 'characters of a metric filter’s pattern',
    max: 1_024,
    page: pages.logFilter,
    measure: each('AWS::Logs::MetricFilter', ({ FilterPattern }, longest) => longest(FilterPattern).length),
  },
];

const ofFunctions: readonly Quota[] = [
  {
    counts: 'characters of a role’s own policies',
    max: 10_240,
    page: pages.iam,
    measure: each('AWS::IAM::Role', ({ Policies = [] }, longest) =>
      Policies.reduce((sum: number, policy: Policy) => sum + longest(policy.PolicyDocument).length, 0),
    ),
  },
  {
    counts: 'characters of a managed policy',
    max: 6_144,
    page: pages.iam,
    measure: each('AWS::IAM::ManagedPolicy', (policy, longest) => longest(policy.PolicyDocument).length),
  },
  {
    counts: 'bytes of a function’s environment',
    max: 4_096,
    page: pages.lambda,
    measure: each('AWS::Lambda::Function', ({ Environment = {} }, longest) =>
      Buffer.byteLength(longest(Environment.Variables ?? {})),
    ),
  },
  {
    counts: 'reserved concurrency of an account of 1,000',
    max: 900,
    page: pages.lambda,
    measure: ({ Resources }) => [['the template', stackConcurrency({ Resources }).reserved]],
  },
  {
    counts: 'patterns of an event source mapping',
    max: 5,
    page: pages.eventFilters,
    measure: each('AWS::Lambda::EventSourceMapping', ({ FilterCriteria }) => FilterCriteria?.Filters.length ?? 0),
    instead: 'Merge patterns of the table in functions/tables.ts; its consumer passes over what they let through.',
  },
  {
    counts: 'readers of a stream',
    max: 2,
    page: pages.streams,
    measure: (template) => {
      const mappings = ofType(template, 'AWS::Lambda::EventSourceMapping').map(([, mapping]) => mapping);
      const ofStreams = mappings.filter(({ StartingPosition }) => StartingPosition !== undefined);
      return countEach(ofStreams.map(({ EventSourceArn }) => EventSourceArn['Fn::GetAtt'][0]));
    },
  },
];

const ofData: readonly Quota[] = [
  {
    counts: 'indexes of a table',
    max: 20,
    page: pages.dynamodb,
    measure: each('AWS::DynamoDB::Table', ({ GlobalSecondaryIndexes = [] }) => GlobalSecondaryIndexes.length),
  },
  ...[
    { type: 'AWS::SQS::QueuePolicy', counts: 'bytes of a queue’s policy', max: 8_192, page: pages.sqs },
    { type: 'AWS::S3::BucketPolicy', counts: 'bytes of a bucket’s policy', max: 20_480, page: pages.s3 },
  ].map(({ type, ...quota }) => ({
    ...quota,
    measure: each(type, ({ PolicyDocument }, longest) => Buffer.byteLength(longest(PolicyDocument))),
  })),
];

const ofApi: readonly Quota[] = [
  {
    counts: 'bytes of an API’s body',
    max: 6_000_000,
    page: pages.api,
    measure: each('AWS::ApiGateway::RestApi', ({ Body }, longest) => Buffer.byteLength(longest(Body))),
  },
  {
    counts: 'resources of an API',
    max: 300,
    page: pages.api,
    measure: each('AWS::ApiGateway::RestApi', ({ Body }) => nodesOf(Object.keys(Body.paths)).size),
  },
  {
    counts: 'authorizers of an API',
    max: 10,
    page: pages.api,
    measure: each('AWS::ApiGateway::RestApi', ({ Body }) => Object.keys(Body.components.securitySchemes).length),
  },
  {
    counts: 'bytes of an access log’s format',
    max: 3_072,
    page: pages.api,
    measure: each('AWS::ApiGateway::Stage', ({ AccessLogSetting }) => Buffer.byteLength(AccessLogSetting.Format)),
  },
  {
    counts: 'calls of a method in a second',
    max: 10_000,
    page: pages.apiAccount,
    measure: each('AWS::ApiGateway::Stage', ({ MethodSettings }) => Math.max(...ratesIn(MethodSettings))),
  },
  {
    counts: 'calls of all routes with a rate of their own in a second',
    max: 10_000,
    page: pages.apiAccount,
    measure: each('AWS::ApiGateway::Stage', ({ MethodSettings }) =>
      ratesIn(MethodSettings.filter(({ HttpMethod }: { HttpMethod: string }) => HttpMethod !== '*')).reduce(
        (sum, rate) => sum + rate,
        0,
      ),
    ),
    harmless: 'A route’s rate bounds its own callers; beyond the account’s rate the gateway answers 429 to all.',
  },
];

/** Quotas of accounts are AWS's defaults. It raises most of them on request. */
export const quotas: readonly Quota[] = [...ofStack, ...ofMonitoring, ...ofFunctions, ...ofData, ...ofApi];

interface Policy {
  readonly PolicyDocument: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
type Properties = any;

function ofType({ Resources }: Template, type: string): [id: string, properties: Properties][] {
  return Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) =>
    Type === type ? [[id, Properties]] : [],
  );
}

/**
 * Measures each resource of a type. `longest` gives a value as JSON text, or a text, in which each
 * name is as long as it can be.
 */
function each(
  type: string,
  amountOf: (properties: Properties, longest: (value: unknown) => string, id: string) => number,
): Quota['measure'] {
  return (template) => {
    const longest = (value: unknown) => textOf(resolveLongest(value, template));
    return ofType(template, type).map(([id, properties]) => [id, amountOf(properties, longest, id)]);
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** How often each comes. */
function countEach(names: readonly string[]): Use[] {
  return Array.from(Map.groupBy(names, String), ([name, alike]) => [name, alike.length]);
}

function logOf([, { LogGroupName }]: readonly [id: string, filter: Properties]): string {
  return LogGroupName.Ref;
}

/** A filter pattern has each regular expression between two percent signs. */
function expressionsIn(pattern: unknown): number {
  return (JSON.stringify(pattern).match(/%[^%]+%/g) ?? []).length;
}

function ratesIn(settings: readonly { readonly ThrottlingRateLimit: number }[]): number[] {
  return settings.map(({ ThrottlingRateLimit }) => ThrottlingRateLimit);
}

/** Every node of these paths is a resource, the root included. */
function nodesOf(paths: readonly string[]): Set<string> {
  return new Set(
    paths.flatMap((path) => path.split('/').map((_, at, segments) => segments.slice(0, at + 1).join('/'))),
  );
}

/** The longest that AWS has. */
const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Partition': 'aws-us-gov',
  'AWS::Region': 'ap-northeast-1',
  'AWS::StackName': 'QuantumBatchApi-prod',
  'AWS::URLSuffix': 'amazonaws.com.cn',
};

/** As CloudFormation makes one: the stack, the logical id, and 12 or 13 characters of its own. */
function nameOf(id: string): string {
  return `QuantumBatchApi-prod-${id}-${'x'.repeat(13)}`;
}

/** An ARN or attribute of a resource, at least as long as any. */
function attributeOf(id: string, name: string, { Resources }: Template): string {
  const [, service = '', kind = ''] = Resources[id]!.Type.toLowerCase().split('::');
  const { 'AWS::Partition': partition, 'AWS::Region': region, 'AWS::AccountId': account } = pseudoParameters;
  const suffix = name === 'StreamArn' ? '/stream/2026-11-22T09:15:00.000' : ':*';
  return `arn:${partition}:${service}:${region}:${account}:${kind}/${nameOf(id)}${suffix}`;
}

/** Types whose reference is an ARN, or the address of a queue, which is no longer than one. */
const referredByArn = /^AWS::(SecretsManager::Secret|IAM::ManagedPolicy|SNS::Topic|SQS::Queue)$/;

function resolveLongest(value: unknown, template: Template): unknown {
  if (Array.isArray(value)) return value.map((part) => resolveLongest(part, template));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [[intrinsic, argument] = ['', undefined]] = entries;
  if (intrinsic === 'Ref') {
    const type = template.Resources[argument]?.Type ?? '';
    return (
      pseudoParameters[argument] ??
      (referredByArn.test(type) ? attributeOf(argument, 'Arn', template) : nameOf(argument))
    );
  }
  if (intrinsic === 'Fn::GetAtt') return attributeOf(argument[0], argument[1], template);
  if (intrinsic === 'Fn::Join')
    return argument[1].map((part: unknown) => resolveLongest(part, template)).join(argument[0]);
  if (intrinsic.startsWith('Fn::')) throw new Error(`Resolve ${intrinsic} here, too.`);
  return Object.fromEntries(entries.map(([name, part]) => [name, resolveLongest(part, template)]));
}

/** The greatest use of a quota in a template. */
function greatestUse({ measure }: Quota, text: string): Use {
  const uses = measure(JSON.parse(text), text);
  return uses.reduce((greatest, use) => (use[1] > greatest[1] ? use : greatest), ['', 0]);
}

/** A line for each quota that the template breaks, or fills more than our own bound lets it. */
export function findExcesses(text: string): string[] {
  return quotas.flatMap((quota) => {
    const { counts, max, page, ourMax = max, instead = '', harmless } = quota;
    const [name, amount] = greatestUse(quota, text);
    if (amount <= ourMax || harmless !== undefined) return [];
    const left = `${ourMax - amount} left${ourMax < max ? ` of our own ${ourMax}` : ''}`;
    return [`${counts}: ${amount} of ${max} (${name}), ${left}. ${site}${page} ${instead}`.trimEnd()];
  });
}

/** What is measured nowhere in the template: a quota of it would say nothing. */
export function findUnused(text: string): string[] {
  return quotas.flatMap((quota) => (greatestUse(quota, text)[1] > 0 ? [] : [quota.counts]));
}

/** The context of a deployment that has everything. */
export const largestContext = {
  stage: 'prod',
  alarmEmail: 'operator@example.org',
  consoleUrl: 'https://api.example.org/core-fast/console',
  domain: 'api.example.org',
  certificate: 'arn:aws:acm:eu-west-3:111122223333:certificate/4f5e',
  webAcl: 'arn:aws:wafv2:eu-west-3:111122223333:regional/webacl/lab/4f5e',
  monthlyBudget: '50',
  resultsDays: '365',
  devices: 'FRESNEL,EMU_MPS,EMU_FREE,EMU_TN',
  projects: Array.from({ length: maxProjects }, (_, at) => `${derivedUuid(at)} Project ${at}`).join(),
};

/** Two digits of large numbers: a word more in an alarm's text must not change the page. */
function roundUp(amount: number): number {
  const unit = amount < 1_000 ? 1 : 10 ** (Math.floor(Math.log10(amount)) - 1);
  return Math.ceil(amount / unit) * unit;
}

/** Each quota, and what the template of `largestContext` has of it: the fullest first. */
export async function quotaTable(): Promise<string> {
  const [directory] = await assembliesWithoutBundles([largestContext]);
  const file = readdirSync(directory!).find((name) => name.endsWith('.template.json'));
  const text = readFileSync(join(directory!, file!), 'utf8');
  const rows = quotas
    .map((quota) => ({ ...quota, amount: roundUp(greatestUse(quota, text)[1]) }))
    .sort((one, other) => other.amount / other.max - one.amount / one.max)
    .map(({ counts, max, amount, page, ourMax, harmless }) => [
      counts,
      amount,
      max,
      ourMax?.toLocaleString('en') ?? '',
      `[${page.split('/')[0]}](${site}${page})${harmless === undefined ? '' : `. ${harmless}`}`,
    ]);
  return markdownTable(['', 'in use', 'AWS takes', 'our bound', 'source'], rows);
}
