/** Checks that only AWS can make, with answers in the forms that AWS's references document. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer, type SecureVersion } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Acceptance } from '../../../infra/acceptance/acceptance.ts';
import { beforeChecks } from '../../../infra/acceptance/before.ts';
import { checkThrottles } from '../../../infra/acceptance/many-jobs.ts';
import {
  checkDrift,
  checkQuotaAlarms,
  checkRecursion,
  checkRestApi,
  checkStarts,
  checkTls,
} from '../../../infra/acceptance/read-back.ts';
import { checkRotation } from '../../../infra/acceptance/rotation.ts';
import { type Answers, assemblyWith, fakeAws } from '../../support/fake-aws.ts';
import { receiverCertificate, receiverKey } from '../../support/receiver-certificate.ts';

const stack = 'Any';

/** A template of one API and two functions. */
const template = {
  Resources: {
    Api: {
      Type: 'AWS::ApiGateway::RestApi',
      Properties: {
        ...{ SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09', EndpointAccessMode: 'STRICT' },
        ...{ MinimumCompressionSize: 0, BinaryMediaTypes: ['*/*'], EndpointConfiguration: { Types: ['REGIONAL'] } },
      },
    },
    ApiStage: {
      Type: 'AWS::ApiGateway::Stage',
      Properties: { MethodSettings: [{ ThrottlingRateLimit: 50 }, { ThrottlingRateLimit: 500 }] },
    },
    ApiListBatches: {
      Type: 'AWS::Lambda::Function',
      Properties: { ReservedConcurrentExecutions: 10, LoggingConfig: { LogGroup: { Ref: 'Log' } } },
    },
    DeliverWebhooks: { Type: 'AWS::Lambda::Function', Properties: { RecursiveLoop: 'Allow' } },
    Log: { Type: 'AWS::Logs::LogGroup' },
    Scarce: {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: { Metrics: [{ Id: 'share', Expression: '100 * used / SERVICE_QUOTA(used)' }] },
    },
    Calls: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Count' } },
  },
};

/** Its physical names are the logical ids with `-1`. */
const StackResourceSummaries = Object.entries(template.Resources).map(([id, { Type }]) => ({
  ...{ LogicalResourceId: id, PhysicalResourceId: `${id}-1`, ResourceType: Type, ResourceStatus: 'CREATE_COMPLETE' },
}));

function acceptanceWith(answers: Answers, outputs: Readonly<Record<string, string>> = {}) {
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  return {
    stack,
    assembly: assemblyWith(template),
    aws: fakeAws({
      'cloudformation list-stack-resources': { StackResourceSummaries },
      'cloudformation describe-stacks': { Stacks: [{ StackName: stack, Outputs }] },
      ...answers,
    }),
  };
}

describe('before a deployment', () => {
  const check = (promise: string, answers: Answers) =>
    beforeChecks[promise]!(acceptanceWith(answers) as unknown as Acceptance);
  const quotas = (concurrent: number, rate: number): Answers => ({
    'lambda get-account-settings': {
      AccountLimit: { ConcurrentExecutions: concurrent, UnreservedConcurrentExecutions: concurrent },
      AccountUsage: { FunctionCount: 0 },
    },
    'apigateway get-account': { throttleSettings: { burstLimit: 5_000, rateLimit: rate } },
  });
  const parameter = (Value: string) => ({
    'ssm get-parameter': {
      Parameter: { Value, ARN: 'arn:aws:ssm:eu-west-1:123456789012:parameter/cdk-bootstrap/any/version' },
    },
  });

  it('needs a bootstrap of that version', async () => {
    const promise = 'the account and region are bootstrapped for the CDK';
    expect(await check(promise, parameter('30'))).toBe('version 30');
    await expect(check(promise, parameter('5'))).rejects.toThrow('Version 5; 6 is needed: npx cdk bootstrap.');
  });

  it('needs quotas that hold the stack', async () => {
    const promise = 'the account’s quotas are large enough';
    expect(await check(promise, quotas(110, 500))).toMatch('concurrent executions: 110, 110 needed');
    await expect(check(promise, quotas(10, 500))).rejects.toThrow('the account has 10, the stack needs 110');
    await expect(check(promise, quotas(110, 400))).rejects.toThrow('the account has 400, the stack needs 500');
  });

  it('lets CloudFormation read the template out of the bootstrapped bucket, and leaves nothing there', async () => {
    const promise = 'CloudFormation reads the template';
    const calls: string[] = [];
    const note = (name: string, answer: object) => (parameters: readonly string[]) => {
      calls.push(`${name} ${parameters.slice(0, 4).join(' ')}`);
      return answer;
    };
    const answers = (Capabilities: readonly string[]): Answers => ({
      ...parameter('30'),
      's3api put-object': note('put', { ETag: '"1"' }),
      's3api delete-object': note('delete', {}),
      'cloudformation validate-template': note('validate', { Parameters: [], Capabilities }),
    });
    await check(promise, answers(['CAPABILITY_IAM']));
    const object = '--bucket assets-123456789012-eu-west-1 --key acceptance.template.json';
    const url = 'https://assets-123456789012-eu-west-1.s3.eu-west-1.amazonaws.com/acceptance.template.json';
    expect(calls).toEqual([`put ${object}`, `validate --template-url ${url}`, `delete ${object}`]);
    await expect(check(promise, answers(['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM']))).rejects.toThrow();
    expect(calls.at(-1)).toBe(`delete ${object}`);
  });
});

describe('what the import kept of the API', () => {
  const answer = {
    ...{ id: 'Api-1', name: 'Any', binaryMediaTypes: ['*/*'], minimumCompressionSize: 0, apiKeySource: 'HEADER' },
    ...{ endpointConfiguration: { types: ['REGIONAL'], ipAddressType: 'ipv4' }, disableExecuteApiEndpoint: false },
    ...{ securityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09', endpointAccessMode: 'STRICT', apiStatus: 'AVAILABLE' },
  };
  const check = (changes: object, members: 'kept' | 'secure') =>
    checkRestApi(acceptanceWith({ 'apigateway get-rest-api': { ...answer, ...changes } }), members);

  it('is as in the template', async () => {
    expect(await check({}, 'kept')).toBe('MinimumCompressionSize 0, BinaryMediaTypes ["*/*"]');
    expect(await check({}, 'secure')).toMatch('EndpointAccessMode "STRICT"');
  });

  it.each([
    ['secure', { securityPolicy: 'TLS_1_0' }],
    ['secure', { endpointAccessMode: 'BASIC' }],
    ['secure', { endpointConfiguration: { types: ['EDGE'] } }],
    ['kept', { minimumCompressionSize: undefined }],
    ['kept', { binaryMediaTypes: [] }],
    ['kept', { apiStatus: 'FAILED', apiStatusMessage: 'why' }],
    ['kept', { warnings: ['Ignored x-amazon-apigateway-any'] }],
  ] as const)('fails where %s: %j', async (members, changes) => {
    await expect(check(changes, members)).rejects.toThrow();
  });
});

describe('the lowest TLS', () => {
  async function serverFrom(minVersion: SecureVersion) {
    const options = { key: receiverKey, cert: receiverCertificate, ciphers: 'DEFAULT@SECLEVEL=0', minVersion };
    const server = createTlsServer(options, (socket) => socket.end());
    server.on('tlsClientError', () => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return { host: '127.0.0.1', port, servername: 'receiver.example', ca: receiverCertificate };
  }

  it('is 1.2: a server that still speaks 1.1, or speaks 1.3 only, fails', async () => {
    await checkTls(await serverFrom('TLSv1.2'));
    await expect(checkTls(await serverFrom('TLSv1.1'))).rejects.toThrow();
    await expect(checkTls(await serverFrom('TLSv1.3'))).rejects.toThrow();
  });

  it('is not proven by a server that is not there', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(checkTls({ host: '127.0.0.1', port })).rejects.toThrow('ECONNREFUSED');
  });
});

describe('recursion', () => {
  const check = (loops: Readonly<Record<string, string>>) =>
    checkRecursion(
      acceptanceWith({
        'lambda get-function-recursion-config': ([, name]) => ({ RecursiveLoop: loops[name!] }),
      }),
    );

  it('is allowed to whom the template allows it, and to nobody else', async () => {
    const right = { 'ApiListBatches-1': 'Terminate', 'DeliverWebhooks-1': 'Allow' };
    expect(await check(right)).toBe('allowed: DeliverWebhooks');
    await expect(check({ ...right, 'DeliverWebhooks-1': 'Terminate' })).rejects.toThrow(
      'DeliverWebhooks: Terminate, not Allow',
    );
    await expect(check({ ...right, 'ApiListBatches-1': 'Allow' })).rejects.toThrow(
      'ApiListBatches: Allow, not Terminate',
    );
  });
});

describe('drift', () => {
  const check = (status: object, drifts: readonly object[] = []) => {
    const answers = [{ DetectionStatus: 'DETECTION_IN_PROGRESS', StackDriftStatus: 'NOT_CHECKED' }, status];
    return checkDrift(
      acceptanceWith({
        'cloudformation detect-stack-drift': { StackDriftDetectionId: 'b78ac9b0' },
        'cloudformation describe-stack-drift-detection-status': () => answers.shift()!,
        'cloudformation describe-stack-resource-drifts': { StackResourceDrifts: drifts },
      }),
    );
  };

  it('is none, once the detection is complete', async () => {
    await check({ DetectionStatus: 'DETECTION_COMPLETE', StackDriftStatus: 'IN_SYNC', DriftedStackResourceCount: 0 });
  });

  it('is named', async () => {
    const drift = {
      ...{ LogicalResourceId: 'Api', ResourceType: 'AWS::ApiGateway::RestApi', StackResourceDriftStatus: 'MODIFIED' },
      PropertyDifferences: [
        { PropertyPath: '/SecurityPolicy', ExpectedValue: 'a', ActualValue: 'b', DifferenceType: 'NOT_EQUAL' },
      ],
    };
    const drifted = { DetectionStatus: 'DETECTION_COMPLETE', StackDriftStatus: 'DRIFTED' };
    await expect(check(drifted, [drift])).rejects.toThrow('Api MODIFIED /SecurityPolicy');
  });

  it('is unknown where the detection fails', async () => {
    const status = { DetectionStatus: 'DETECTION_FAILED', DetectionStatusReason: 'Failed to detect drift on [Api]' };
    await expect(check(status)).rejects.toThrow('Failed to detect drift on [Api]');
  });
});

describe('starts of functions', () => {
  const event = (initDurationMs: number) => ({
    message: JSON.stringify({ type: 'platform.report', record: { metrics: { durationMs: 12.5, initDurationMs } } }),
  });
  const check = (events: readonly object[]) => {
    const groups: (string | undefined)[] = [];
    const found = checkStarts(
      acceptanceWith({
        'logs filter-log-events': ([, group]) => {
          groups.push(group);
          return { events, searchedLogStreams: [] };
        },
      }),
    );
    return found.finally(() => expect(groups).toEqual(['Log-1']));
  };

  it('are short', async () => {
    expect(await check([event(310.5), event(402)])).toBe('2 starts, the longest 402 ms');
    await expect(check([event(310.5), event(2_000)])).rejects.toThrow('took 2000 ms');
    await expect(check([])).rejects.toThrow('No start is in the log.');
  });
});

describe('alarms that ask for a quota', () => {
  it('have a value, once Lambda has measured one', async () => {
    const asked: unknown[] = [];
    const found = checkQuotaAlarms(
      acceptanceWith({
        'cloudwatch get-metric-data': ([, queries]) => {
          asked.push(JSON.parse(queries!));
          return { MetricDataResults: [{ Id: 'share', Values: asked.length === 1 ? [] : [3.5, 2] }] };
        },
      }),
    );
    expect(await found).toBe('Scarce 3.5');
    const { Metrics } = template.Resources.Scarce.Properties;
    expect(asked).toEqual([Metrics, Metrics]);
  });
});

describe('throttles', () => {
  const check = (throttled: number) =>
    checkThrottles(
      acceptanceWith(
        {
          'cloudwatch get-metric-statistics': (parameters) => {
            const Sum = parameters.includes('WriteThrottleEvents') ? throttled / 2 : 30_000;
            return { Label: 'any', Datapoints: [{ Timestamp: '2026-11-24T01:02:00Z', Sum, Unit: 'Count' }] };
          },
        },
        { JobsTable: 'jobs', ColumnsTable: 'columns' },
      ),
    );

  it('are few', async () => {
    expect(await check(4)).toBe('30000 units written to jobs, 4 writes throttled');
    await expect(check(600)).rejects.toThrow('600 writes throttled');
  });
});

describe('the rotation', () => {
  it('makes another key and keeps the former one, the clock publishing it later', async () => {
    let answers = [['whpk_a', null]];
    const server = createServer((_, response) => {
      const [public_key, previous_public_key] = (answers.length > 1 ? answers.shift() : answers[0])!;
      response.end(JSON.stringify({ data: { public_key, previous_public_key } }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const check = (after: (string | null)[][]) => {
      answers = [['whpk_a', null], ['whpk_a', null], ...after];
      const outputs = { ApiUrl: `http://127.0.0.1:${port}`, WebhookKeyArn: 'arn' };
      return checkRotation(acceptanceWith({ 'secretsmanager rotate-secret': { ARN: 'arn', VersionId: '1' } }, outputs));
    };
    await check([['whpk_b', 'whpk_a']]);
    await expect(check([['whpk_b', null]])).rejects.toThrow();
  });
});
