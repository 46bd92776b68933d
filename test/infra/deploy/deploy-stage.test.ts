import { describe, expect, it } from 'vitest';
import { SetupProblem } from '../../../infra/commands/setup-problem.ts';
import { deployStage, type Tools } from '../../../infra/deploy/deploy-stage.ts';
import { type Change, irreplaceable } from '../../../infra/deploy/losses.ts';
import { contexts } from '../../support/contexts.ts';
import { synthesize } from '../../support/synthesize.ts';

type Details = NonNullable<Change['ResourceChange']>['Details'];

/** As `aws cloudformation describe-change-set` answers. */
const change = (Action: 'Add' | 'Modify' | 'Remove', type: string, rest: object = {}): Change => ({
  ResourceChange: { Action, LogicalResourceId: `The${type}`, ResourceType: `AWS::${type}`, ...rest },
});
const detail = (
  Evaluation: 'Static' | 'Dynamic',
  RequiresRecreation: 'Never' | 'Conditionally' | 'Always',
): Details => [{ Evaluation, Target: { RequiresRecreation } }];
const client = 'Cognito::UserPoolClient';

/** A deployment to a stack with these changes; undefined where nothing changes. */
async function deploy(changes: readonly Change[] | undefined, mayLose: readonly string[] = [], isDeployed = true) {
  const calls: string[] = [];
  const tools: Tools = {
    async aws(_, command) {
      calls.push(command!);
      if (command === 'describe-stacks' && !isDeployed) throw new SetupProblem('Stack with id X does not exist');
      if (command === 'describe-change-set' && changes === undefined) {
        throw new SetupProblem('An error occurred (ChangeSetNotFound): ChangeSet [before-deployment] does not exist');
      }
      return { Changes: changes };
    },
    async cdk(command, ...parameters) {
      calls.push(parameters.includes('prepare-change-set') ? 'prepare' : command!);
    },
  };
  const options = { stage: 'prod', context: ['resultsDays=30'], mayLose };
  const problem = await deployStage(options, tools).catch((error: Error) => error.message);
  return { problem, calls, isCarriedOut: calls.at(-1) === 'deploy' };
}

describe('deployStage', () => {
  it('asks CloudFormation what would change, and deploys where nothing is lost', async () => {
    const harmless = [
      change('Add', client),
      change('Modify', client, { Replacement: 'False', Details: detail('Static', 'Never') }),
      // It refers to a pool that is changed, and stays.
      change('Modify', client, { Replacement: 'Conditional', Details: detail('Dynamic', 'Always') }),
      change('Remove', 'Lambda::Function'),
      change('Modify', 'ApiGateway::Deployment', { Replacement: 'True' }),
    ];
    const { problem, calls } = await deploy(harmless);
    expect(problem).toBeUndefined();
    expect(calls).toEqual([
      ...['synth', 'describe-stacks', 'prepare', 'describe-change-set', 'delete-change-set', 'deploy'],
    ]);
  });

  it('deploys what is there for the first time, and where nothing changes', async () => {
    expect((await deploy(undefined, [], false)).calls).toEqual(['synth', 'describe-stacks', 'deploy']);
    expect((await deploy(undefined)).isCarriedOut).toBe(true);
  });

  it.each([
    ['deleted', change('Remove', client)],
    ['replaced', change('Modify', client, { Replacement: 'True' })],
    ['replaced', change('Modify', client, { Replacement: 'Conditional', Details: detail('Static', 'Conditionally') })],
  ])('deploys nothing where a client would be %s, unless it is named', async (how, lost) => {
    const { problem, isCarriedOut } = await deploy([lost]);
    expect(isCarriedOut).toBe(false);
    expect(problem).toContain(`The${client} would be ${how} (AWS::${client}: an id and a secret`);
    expect(problem).toContain(`--delete The${client}`);
    expect((await deploy([lost], ['TheOther'])).isCarriedOut).toBe(false);
    expect((await deploy([lost], [`The${client}`])).isCarriedOut).toBe(true);
  });

  it('throws what AWS refuses', async () => {
    const failing = { aws: () => Promise.reject(new SetupProblem('ExpiredToken')), cdk: async () => undefined };
    const options = { stage: 'dev', context: [], mayLose: [] };
    await expect(deployStage(options, failing)).rejects.toThrow('ExpiredToken');
  });
});

describe('what is irreplaceable', () => {
  it('are all types that prod keeps when they leave the stack, but what only records what happened', async () => {
    const kept = (await synthesize(contexts.withDevices))
      .ofType()
      .filter(({ attributes }) => attributes.DeletionPolicy?.startsWith('Retain'))
      .map(({ type }) => type);
    const alsoNamed = ['AWS::SQS::Queue', 'AWS::ApiGateway::RestApi', 'AWS::ApiGateway::DomainName'];
    const records = ['AWS::Logs::LogGroup', 'AWS::KMS::Key', 'AWS::ApiGateway::Account', 'AWS::IAM::Role'];
    expect(new Set([...Object.keys(irreplaceable), ...records])).toEqual(new Set([...kept, ...alsoNamed]));
  });
});
