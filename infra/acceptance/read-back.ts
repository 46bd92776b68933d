/** What the account says of the stack, compared with the template that it was made of. */

import { deepEqual, equal } from 'node:assert/strict';
import { type ConnectionOptions, connect, type SecureVersion } from 'node:tls';
import { outputReader } from '../commands/aws-cli.ts';
import { eventually } from '../smoke/eventually.ts';
import type { Checks } from '../smoke/examine.ts';
import { type Acceptance, physicalNames, readResources } from './acceptance.ts';

export const readBackChecks: Checks<Acceptance> = {
  'the API has kept compression and binary types': (acceptance) => checkRestApi(acceptance, 'kept'),
  'the API has kept its TLS policy and endpoint': (acceptance) => checkRestApi(acceptance, 'secure'),
  async 'TLS 1.1 is refused, TLS 1.2 is not'(acceptance) {
    const { protocol, hostname, port } = new URL((await outputReader(acceptance.stack, acceptance.aws))('ApiUrl'));
    equal(protocol, 'https:');
    await checkTls({ host: hostname, servername: hostname, port: Number(port || 443) });
  },
  'functions on a queue’s circle are allowed it, all others are not': checkRecursion,
  'nothing differs from the template (drift)': checkDrift,
  'functions start in less than 2 s': checkStarts,
  'alarms that ask for a quota of the account have values': checkQuotaAlarms,
};

/** Members of `get-rest-api`'s answer, by where the template has them. */
const restApiMembers = {
  kept: { MinimumCompressionSize: 'minimumCompressionSize', BinaryMediaTypes: 'binaryMediaTypes' },
  secure: {
    SecurityPolicy: 'securityPolicy',
    EndpointAccessMode: 'endpointAccessMode',
    EndpointConfiguration: 'endpointConfiguration',
  },
} as const;

export async function checkRestApi(
  acceptance: Pick<Acceptance, 'aws' | 'stack' | 'assembly'>,
  members: keyof typeof restApiMembers,
): Promise<string> {
  const [id, { Properties }] = resourcesOf(acceptance, 'AWS::ApiGateway::RestApi')[0]!;
  const restApiId = (await physicalNames(acceptance))(id);
  const found = await acceptance.aws('apigateway', 'get-rest-api', '--rest-api-id', restApiId);
  deepEqual([found.apiStatus, found.apiStatusMessage, found.warnings ?? []], ['AVAILABLE', undefined, []]);
  const pairs = Object.entries(restApiMembers[members]);
  for (const [property, member] of pairs) {
    const value = member === 'endpointConfiguration' ? { Types: found[member]?.types } : found[member];
    deepEqual(value, Properties[property], `${member}: ${JSON.stringify(value)}`);
  }
  return pairs.map(([property]) => `${property} ${JSON.stringify(Properties[property])}`).join(', ');
}

export async function checkTls(server: ConnectionOptions) {
  equal(await agreedProtocol(server, 'TLSv1.1'), undefined);
  equal(await agreedProtocol(server, 'TLSv1.2'), 'TLSv1.2');
}

/**
 * The protocol of a client that knows none newer; undefined where the server refuses it. Throws
 * where there is no server. OpenSSL speaks the old ones at its lowest level of security alone.
 */
function agreedProtocol(server: ConnectionOptions, maxVersion: SecureVersion): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const socket = connect({ ...server, minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' });
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.once('error', (error) => (isConnected ? resolve(undefined) : reject(error)));
    socket.once('secureConnect', () => {
      resolve(socket.getProtocol() ?? undefined);
      socket.destroy();
    });
  });
}

export async function checkRecursion(acceptance: Pick<Acceptance, 'aws' | 'stack' | 'assembly'>): Promise<string> {
  const nameOf = await physicalNames(acceptance);
  const differences: string[] = [];
  const allowed: string[] = [];
  for (const [id, { Properties }] of resourcesOf(acceptance, 'AWS::Lambda::Function')) {
    const { RecursiveLoop } = await acceptance.aws(
      ...['lambda', 'get-function-recursion-config', '--function-name', nameOf(id)],
    );
    // Lambda's default.
    const expected = Properties.RecursiveLoop ?? 'Terminate';
    if (RecursiveLoop !== expected) differences.push(`${id}: ${RecursiveLoop}, not ${expected}`);
    if (RecursiveLoop === 'Allow') allowed.push(id);
  }
  deepEqual(differences, []);
  return `allowed: ${allowed.join(', ') || 'none'}`;
}

export async function checkDrift({ aws, stack }: Pick<Acceptance, 'aws' | 'stack'>) {
  const of = ['--stack-name', stack];
  const { StackDriftDetectionId: id } = await aws('cloudformation', 'detect-stack-drift', ...of);
  const status = await eventually(600, async () => {
    const found = await aws(
      ...['cloudformation', 'describe-stack-drift-detection-status', '--stack-drift-detection-id', id],
    );
    return found.DetectionStatus !== 'DETECTION_IN_PROGRESS' && found;
  });
  // It has failed where a resource could not be examined: the reason names it.
  equal(status.DetectionStatus, 'DETECTION_COMPLETE', status.DetectionStatusReason);
  if (status.StackDriftStatus === 'IN_SYNC') return;
  const { StackResourceDrifts } = await aws(
    ...['cloudformation', 'describe-stack-resource-drifts', ...of],
    ...['--stack-resource-drift-status-filters', 'MODIFIED', 'DELETED'],
  );
  const differences = StackResourceDrifts.map(
    ({ LogicalResourceId, StackResourceDriftStatus, PropertyDifferences = [] }: Drift) =>
      `${LogicalResourceId} ${StackResourceDriftStatus} ${PropertyDifferences.map(({ PropertyPath }) => PropertyPath)}`,
  );
  throw new Error(differences.join('; ') || status.StackDriftStatus);
}

interface Drift {
  readonly LogicalResourceId: string;
  readonly StackResourceDriftStatus: string;
  readonly PropertyDifferences?: readonly { readonly PropertyPath: string }[];
}

/** Of the functions of routes: Lambda writes a line about each start into their log. */
export async function checkStarts(acceptance: Pick<Acceptance, 'aws' | 'stack' | 'assembly'>): Promise<string> {
  const functions = resourcesOf(acceptance, 'AWS::Lambda::Function');
  const [, { Properties }] = functions.find(([id]) => id.startsWith('ApiListBatches'))!;
  const group = (await physicalNames(acceptance))(Properties.LoggingConfig.LogGroup.Ref);
  const { events } = await acceptance.aws(
    ...['logs', 'filter-log-events', '--log-group-name', group, '--start-time', String(Date.now() - 86_400_000)],
    ...['--filter-pattern', '{ $.type = "platform.report" && $.record.metrics.initDurationMs > 0 }'],
  );
  const times: number[] = events.map(
    ({ message }: { message: string }) => JSON.parse(message).record.metrics.initDurationMs,
  );
  if (times.length === 0) throw new Error('No start is in the log.');
  const longest = Math.max(...times);
  if (longest >= 2_000) throw new Error(`The longest of ${times.length} starts took ${longest} ms.`);
  return `${times.length} starts, the longest ${longest} ms`;
}

/**
 * CloudWatch also takes expressions that it cannot calculate. An alarm without values never goes
 * off.
 */
export async function checkQuotaAlarms(acceptance: Pick<Acceptance, 'aws' | 'assembly'>): Promise<string> {
  const alarms = resourcesOf(acceptance, 'AWS::CloudWatch::Alarm').filter(([, { Properties }]) =>
    JSON.stringify(Properties).includes('SERVICE_QUOTA('),
  );
  const isoTime = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
  const facts: string[] = [];
  for (const [id, { Properties }] of alarms) {
    const [value] = await eventually(600, async () => {
      const { MetricDataResults } = await acceptance.aws(
        ...['cloudwatch', 'get-metric-data', '--metric-data-queries', JSON.stringify(Properties.Metrics)],
        ...['--start-time', isoTime(30), '--end-time', isoTime(0)],
      );
      const [{ Values }] = MetricDataResults;
      return Values.length > 0 && Values;
    });
    facts.push(`${id} ${value}`);
  }
  return facts.join(', ');
}

function resourcesOf({ assembly }: Pick<Acceptance, 'assembly'>, type: string) {
  return Object.entries(readResources({ assembly })).filter(([, { Type }]) => Type === type);
}
