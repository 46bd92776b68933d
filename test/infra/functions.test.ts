import { describe, expect, it } from 'vitest';
import { otherFunctions } from '../../functions/other-functions.ts';
import { type QueueDescription, type QueueName, queues } from '../../functions/queues.ts';
import type { FunctionDescription, Uses } from '../../functions/rights.ts';
import { routes } from '../../functions/routes.ts';
import { type TableDescription, type TableName, tables } from '../../functions/tables.ts';
import { synthesize } from '../support/synthesize.ts';

const synthesis = await synthesize();
const { ofType, one, readable } = synthesis;

/** The queues that feed a function. */
function queuesOf(name: string) {
  return Object.entries<QueueDescription>(queues)
    .filter(([, { consumer }]) => consumer.function === name)
    .map(([queue]) => queue);
}

/** The tables whose streams feed a function. */
function streamsOf(name: string) {
  return Object.entries<TableDescription>(tables)
    .filter(([, { stream }]) => stream?.consumer === name)
    .map(([table]) => table);
}

const functions = Object.entries<FunctionDescription>({ ...routes, ...otherFunctions }).map(([name, description]) => ({
  name,
  description,
  path: `${constructOf(name, description)}/${name[0]!.toUpperCase()}${name.slice(1)}`,
}));

function constructOf(name: string, { entry }: FunctionDescription) {
  if (name === 'rotateWebhookKey') return 'WebhookKey';
  if (entry.startsWith('schedules/')) return 'Schedules';
  return queuesOf(name).length + streamsOf(name).length > 0 ? 'Consumers' : 'Api';
}

const configuration: Record<string, Record<string, string>> = {
  getConsole: { ISSUER: 'Identity/UserPool.ProviderURL' },
  authorizer: {
    ISSUER: 'Identity/UserPool.ProviderURL',
    AUDIENCE: 'Identity/UserPool/Client,Identity/UserPool/Machines',
    JWKS_URI: 'Identity/UserPool.ProviderURL/.well-known/jwks.json',
  },
  getResultsLink: { RESULTS_LINK_SECONDS: '300' },
};

/** The functions of a kind write into one log. */
function logOf(path: string) {
  if (path === 'Api/Authorizer') return 'Api/AuthorizerLog';
  return path.startsWith('Api/') ? 'Api/FunctionsLog' : `${path.split('/')[0]}/Log`;
}

/** The gateway decides which calls are traced: Lambda has a rule of its own for all others. */
const isTraced = (path: string) => path.startsWith('Api/');

/**
 * What AWS needs of every function, its log and its traces, and of a consumer, its queues and
 * streams.
 */
function operation(name: string, path: string) {
  return [
    `logs:CreateLogStream ${logOf(path)}`,
    `logs:PutLogEvents ${logOf(path)}`,
    ...(isTraced(path) ? ['xray:PutTelemetryRecords *', 'xray:PutTraceSegments *'] : []),
    ...queuesOf(name).flatMap((queue) =>
      ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map((action) => `sqs:${action} Queues/${queue}`),
    ),
    ...streamsOf(name).flatMap((table) =>
      ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
        (action) => `dynamodb:${action} Storage/${table}.StreamArn`,
      ),
    ),
  ];
}

function listDeclared(uses: Uses) {
  return Object.entries(uses).flatMap(([name, actions]) => actions.map((action) => grant(name, action)));
}

function grant(name: string, action: string) {
  if (name === 'Results') return `s3:${action} Storage/Results/results/*`;
  if (name === 'ResultsVersions') return `s3:${action} Storage/Results of results/*`;
  if (name === 'WebhookKey') return `secretsmanager:${action} WebhookKey/Secret`;
  const queue = usedQueue(name);
  if (queue !== undefined) return `sqs:${action} ${queue.path}`;
  return `dynamodb:${action} Storage/${name.replace('/', '/index/')}`;
}

function environment(uses: Uses) {
  return Object.fromEntries(
    Object.keys(uses).map((name) => {
      if (name.startsWith('Results')) return ['RESULTS_BUCKET', 'Storage/Results'];
      if (name === 'WebhookKey') return ['WEBHOOK_KEY_ARN', 'WebhookKey/Secret'];
      const queue = usedQueue(name);
      if (queue !== undefined) return [queue.variable, queue.path];
      const table = name.split('/')[0] as TableName;
      return [tables[table].environmentVariable, `Storage/${table}`];
    }),
  );
}

/** A queue that `uses` names as `Queue` or `Queue/dead_letters`. */
function usedQueue(used: string) {
  const [name = '', deadLetters] = used.split('/');
  if (!Object.hasOwn(queues, name)) return undefined;
  const { environmentVariable, deadLetterVariable } = queues[name as QueueName];
  return deadLetters === undefined
    ? { path: `Queues/${name}`, variable: environmentVariable }
    : { path: `Queues/${name}DeadLetters`, variable: deadLetterVariable };
}

/** Every action and resource that the policies of a role allow, one pair a line. */
function listGranted(rolePath: string) {
  const { Policies } = one('AWS::IAM::Role', rolePath).properties;
  const policies: { PolicyDocument: { Statement: Record<string, unknown>[] } }[] = Policies ?? [];
  return policies.flatMap(({ PolicyDocument }) =>
    PolicyDocument.Statement.flatMap((statement) => {
      const { Condition, ...rest } = statement;
      expect(rest).toEqual({ Effect: 'Allow', Action: expect.anything(), Resource: expect.anything() });
      const prefix = (Condition as { StringLike?: Record<string, string> })?.StringLike?.['s3:prefix'];
      if (Condition !== undefined) expect(Condition).toEqual({ StringLike: { 's3:prefix': prefix } });
      const condition = prefix === undefined ? '' : ` of ${prefix}`;
      return [statement.Action]
        .flat()
        .flatMap((action) => [statement.Resource].flat().map((r) => `${action} ${readable(r)}${condition}`));
    }),
  );
}

describe('the functions', () => {
  it('exist once for each route and each other description', () => {
    const paths = ofType('AWS::Lambda::Function').map(({ path }) => path);
    expect(paths.sort()).toEqual(functions.map(({ path }) => path).sort());
  });

  /** What `describeOne` says of each function, by its name. */
  function ofEach(describeOne: (each: (typeof functions)[number]) => unknown) {
    return Object.fromEntries(functions.map((each) => [each.name, describeOne(each)]));
  }

  it('run on Node 24 and arm64 with 1 GB unless they say less, traced where the gateway calls them, with a JSON log for each kind', () => {
    const settings = ofEach(({ path }) => {
      const { properties } = one('AWS::Lambda::Function', path);
      const { Runtime, Architectures, Handler, MemorySize, Timeout, TracingConfig, LoggingConfig } = properties;
      const { ReservedConcurrentExecutions: reserved } = properties;
      const { LogGroup, ...log } = LoggingConfig;
      const settings = { Runtime, Architectures, Handler, MemorySize, Timeout, TracingConfig, reserved };
      return { ...settings, log: { ...log, in: readable(LogGroup) } };
    });
    expect(settings).toEqual(
      ofEach(({ path, description }) => ({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        MemorySize: description.memoryMegabytes ?? 1024,
        Timeout: description.timeoutSeconds ?? 15,
        TracingConfig: isTraced(path) ? { Mode: 'Active' } : undefined,
        reserved: undefined,
        log: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO', SystemLogLevel: 'INFO', in: logOf(path) },
      })),
    );
  });

  it('may do what they declare and nothing else', () => {
    const granted = ofEach(({ path }) => {
      const role = readable(one('AWS::Lambda::Function', path).properties.Role);
      const { ManagedPolicyArns: managed } = one('AWS::IAM::Role', role).properties;
      return { role, managed, actions: listGranted(role).sort() };
    });
    expect(granted).toEqual(
      ofEach(({ name, path, description }) => ({
        role: `${path}Role`,
        managed: undefined,
        actions: [...listDeclared(description.uses), ...operation(name, path)].sort(),
      })),
    );
  });

  it('get the names of what they use in their environment, and nothing else', () => {
    const variables = ofEach(({ path }) => {
      const { Environment } = one('AWS::Lambda::Function', path).properties;
      const entries = Object.entries(Environment?.Variables ?? {});
      return Object.fromEntries(entries.map(([variable, value]) => [variable, readable(value)]));
    });
    expect(variables).toEqual(
      ofEach(({ name, description }) => ({ ...environment(description.uses), ...configuration[name] })),
    );
  });

  it('have rights to tables of other owners, and to write public ones, only where it is written here', () => {
    const creating = ['createBatch', 'addJobs', 'rebatch'];
    const endingForAll = ['closeBatch', 'cancelJob', 'cancelJobs', 'cancelBatch', 'cancelBatches'];
    const ending = [...endingForAll, 'cancelBatchOfUser'];
    // They look for rows of fellows.
    const reading = [
      ...['listBatches', 'listJobs'],
      ...['getBatch', 'getBatchStatus', 'getFullResults', 'getBatchWebhook'],
      ...['getJob', 'getJobStatus', 'getResultsLink'],
    ];
    const ownersOnly = ['setTags', 'eraseBatch', 'testWebhook'];
    const inBackground = ['applyEvents', 'applyWaitingEvents', 'recoverBatches', 'measureQueues'];
    const leasing = ['claimBatch', 'reportJob', 'nextJob', 'releaseLease'];
    const counting = [...creating, ...ending, ...inBackground, ...leasing, 'getOwnLimits'];
    const limiting = ['putLimits', 'deleteLimits'];
    const statuses = ['getBatchStatus', 'getJobStatus'];
    const ofDevices = ['announceDevice', 'setDevice', 'removeDevice'];
    const watching = ['getDevice', 'getMetrics'];
    const allowed: Readonly<Record<TableName, 'any' | readonly string[]>> = {
      ...{ Batches: 'any', Jobs: 'any', Columns: 'any', Sequences: 'any', Quizzes: 'any', WebhookAttempts: 'any' },
      DeviceQueue: [
        ...[...creating, ...ending, ...inBackground, ...leasing, ...statuses, ...ofDevices],
        ...['extendLease', 'uploadResults', 'setBatchPriority', 'listQueue', 'listDevices', 'reportCalibration'],
        ...watching,
      ],
      Limits: [...creating, 'getOwnLimits', 'listLimits', 'getLimits', ...limiting],
      Usage: [...counting, ...limiting, 'setTags', 'eraseBatch', 'listUsage'],
      Counters: [
        ...[...counting, ...limiting, ...watching],
        ...['eraseBatch', 'getFullResults', 'testWebhook', 'deliverWebhooks', 'listMinutes'],
      ],
      Contributors: [
        ...[...creating, ...reading, ...endingForAll, ...ownersOnly, 'applyEvents', 'applyWaitingEvents'],
        ...['listProjects', 'listQueue', 'listUsage', 'listLimits', 'getLimits', 'listAudit'],
        ...['setDevice', 'setBatchPriority', 'getDevice'],
      ],
      Audit: [
        ...[...endingForAll, 'cancelBatchOfUser', 'getBatchOfUser', 'setBatchPriority'],
        ...['setDevice', 'listAudit', ...limiting],
      ],
      Devices: [...ofDevices, 'claimBatch', 'rotateWebhookKey'],
      Calibrations: ['reportCalibration'],
    };
    const reads = ['GetItem', 'BatchGetItem', 'Query'];
    for (const [name, table] of Object.entries<TableDescription>(tables)) {
      expect([name, allowed[name as TableName] === 'any']).toEqual([name, table.partition === 'owner']);
      const rightsOf = ({ uses }: FunctionDescription) =>
        Object.entries<readonly string[]>(uses).flatMap(([used, actions]) =>
          used.split('/')[0] === name ? actions : [],
        );
      const counted = (action: string) => table.partition !== 'public' || !reads.includes(action);
      const found = functions.filter(({ description }) => rightsOf(description).some(counted)).map((each) => each.name);
      if (allowed[name as TableName] !== 'any') {
        expect([name, ...found.sort()]).toEqual([name, ...[...allowed[name as TableName]].sort()]);
      }
      if (name === 'Audit') {
        const actions = new Set(functions.flatMap(({ description }) => rightsOf(description)));
        expect([...actions].sort()).toEqual(['PutItem', 'Query']);
      }
    }
  });
});
