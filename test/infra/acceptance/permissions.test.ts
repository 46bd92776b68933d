import { beforeAll, describe, expect, it } from 'vitest';
import { checkPermissions } from '../../../infra/acceptance/permissions.ts';
import { isAllowed, type PolicyStatement } from '../../../infra/local/iam/policy.ts';
import { placeholders } from '../../../infra/local/template/synthesize.ts';
import { type Resource, readTemplate } from '../../../infra/local/template/template.ts';
import { assemblyWith, fakeAws } from '../../support/fake-aws.ts';
import { synthesize } from '../../support/synthesize.ts';

const account = {
  ...{ accountId: '123456789012', region: 'eu-west-1', stackName: 'QuantumBatchApi-dev' },
  queueEndpoint: 'https://sqs.eu-west-1.amazonaws.com',
};
let text: string;

beforeAll(async () => {
  ({ text } = await synthesize({ stage: 'dev', ...placeholders }));
});

/** What a role allows, as the account has it. */
type Change = (statements: readonly PolicyStatement[], role: string) => readonly PolicyStatement[];

/**
 * IAM as its reference documents it: one result for each action, the decision about each resource
 * in it, the most restrictive one outside.
 */
function simulator(resources: readonly Resource[], change: Change) {
  return (parameters: readonly string[]) => {
    const list = (option: string) => {
      const rest = parameters.slice(parameters.indexOf(option) + 1);
      const end = rest.findIndex((each) => each.startsWith('--'));
      return rest.slice(0, end < 0 ? rest.length : end);
    };
    const [arn] = list('--policy-source-arn');
    const { logicalId, properties } = resources.find(({ attributes }) => attributes.Arn === arn)!;
    const written = properties.Policies.flatMap(
      (each: { PolicyDocument: { Statement: PolicyStatement[] } }) => each.PolicyDocument.Statement,
    );
    const statements = change(written, logicalId);
    const conditions = { 's3:prefix': 'results/' };
    return {
      EvaluationResults: list('--action-names').map((action) => {
        const specific = list('--resource-arns').map((resource) => ({
          EvalResourceName: resource,
          EvalResourceDecision: isAllowed(statements, { action, resource, conditions }) ? 'allowed' : 'implicitDeny',
          MatchedStatements: [],
        }));
        const isAll = specific.every((each) => each.EvalResourceDecision === 'allowed');
        return {
          ...{ EvalActionName: action, EvalResourceName: '*', EvalDecision: isAll ? 'allowed' : 'implicitDeny' },
          ResourceSpecificResults: specific,
        };
      }),
      IsTruncated: false,
    };
  };
}

function check(
  change: Change,
  simulate: (...of: Parameters<typeof simulator>) => (parameters: readonly string[]) => object = simulator,
) {
  const template = JSON.parse(text);
  const { resources, outputs } = readTemplate(template, account);
  const StackId = `arn:aws:cloudformation:${account.region}:${account.accountId}:stack/${account.stackName}/any`;
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  const StackResourceSummaries = resources.map(({ logicalId, ref, type }) => ({
    ...{ LogicalResourceId: logicalId, PhysicalResourceId: ref, ResourceType: type },
  }));
  const aws = fakeAws({
    'cloudformation describe-stacks': { Stacks: [{ StackId, Outputs }] },
    'cloudformation list-stack-resources': { StackResourceSummaries },
    'iam simulate-principal-policy': simulate(resources, change),
  });
  return checkPermissions({ aws, stack: account.stackName, assembly: assemblyWith(template) });
}

const asWritten: Change = (statements) => statements;
const ofGetJob =
  (change: (statements: readonly PolicyStatement[]) => readonly PolicyStatement[]): Change =>
  (all, role) =>
    role.startsWith('ApiGetJobRole') ? change(all) : all;

describe('the check of permissions', () => {
  it('finds that roles as synthesized agree with `uses`', async () => {
    expect(await check(asWritten)).toMatch(/^\d{4,} decisions about \d\d roles$/);
  });

  it('names what a role lacks, and what it has too much', async () => {
    await expect(
      check(ofGetJob((all) => all.filter((each) => !JSON.stringify(each).includes('GetItem')))),
    ).rejects.toThrow(
      'getJob may not GetItem Jobs; getJob may not BatchGetItem Sequences; getJob may not GetItem Sequences',
    );
    const broad: PolicyStatement = { Effect: 'Allow', Action: ['sqs:*', 'secretsmanager:DeleteSecret'], Resource: '*' };
    const found = await check(ofGetJob((all) => [...all, broad])).catch((error: Error) => error.message);
    expect(found).toContain('getJob may PurgeQueue Webhooks/dead_letters');
    expect(found).toContain('getJob may DeleteSecret WebhookKey');
    expect(found).not.toContain('getJob may GetItem');
  });

  it('is not content with fewer decisions than it asked for', async () => {
    // As before there were results of resources: one decision, which is of all of them together.
    const aggregate = (resources: readonly Resource[], change: Change) => (parameters: readonly string[]) => {
      const { EvaluationResults } = simulator(resources, change)(parameters);
      return { EvaluationResults: EvaluationResults.map(({ ResourceSpecificResults: _, ...each }) => each) };
    };
    await expect(check(asWritten, aggregate)).rejects.toThrow('The simulator does not decide about');
  });
});
