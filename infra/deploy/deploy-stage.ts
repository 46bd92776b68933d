import { SetupProblem } from '../commands/setup-problem.ts';
import { type Change, findLosses, type Loss } from './losses.ts';

/** What makes the calls: the AWS CLI, and the CDK's, which throws where its exit code is not 0. */
export interface Tools {
  // biome-ignore lint/suspicious/noExplicitAny: each command of the CLI has its own answer.
  aws(...parameters: string[]): Promise<any>;
  cdk(...parameters: string[]): Promise<void>;
}

interface DeployOptions {
  readonly stage: string;
  /** `name=value`, as for `cdk -c`. */
  readonly context: readonly string[];
  /** The logical ids of what may be deleted or replaced. */
  readonly mayLose: readonly string[];
}

interface DeployAssembly extends Pick<DeployOptions, 'mayLose'> {
  readonly stack: string;
  /** The folder. */
  readonly assembly: string;
  readonly options?: readonly string[];
}

const changeSet = 'before-deployment';

/** Synthesizes the stage, and deploys it as `deployAssembly` does. */
export async function deployStage({ stage, context, mayLose }: DeployOptions, tools: Tools): Promise<void> {
  await tools.cdk('synth', '--quiet', ...[`stage=${stage}`, ...context].flatMap((each) => ['-c', each]));
  await deployAssembly({ stack: `QuantumBatchApi-${stage}`, assembly: 'cdk.out', mayLose }, tools);
}

/**
 * Deploys the stack of an assembly, with more options of `cdk deploy`. Before, CloudFormation
 * itself says what it would do: in a change set that is not carried out. Throws SetupProblem, and
 * deploys nothing, where that deletes or replaces something irreplaceable that `mayLose` does not
 * name.
 */
export async function deployAssembly(
  { stack, assembly, mayLose, options = [] }: DeployAssembly,
  { aws, cdk }: Tools,
): Promise<void> {
  const deploy = ['deploy', stack, '--app', assembly, ...options];
  if (await exists(aws('cloudformation', 'describe-stacks', '--stack-name', stack))) {
    const prepared = ['--method', 'prepare-change-set', '--change-set-name', changeSet];
    await cdk(
      ...deploy,
      ...prepared,
      ...(options.includes('--require-approval') ? [] : ['--require-approval', 'never']),
    );
    const of = ['--stack-name', stack, '--change-set-name', changeSet];
    // There is none where nothing changes.
    const described = await exists(aws('cloudformation', 'describe-change-set', ...of));
    const losses = findLosses((described?.Changes ?? []) as readonly Change[]);
    if (described !== undefined) await aws('cloudformation', 'delete-change-set', ...of);
    const unnamed = losses.filter(({ id }) => !mayLose.includes(id));
    if (unnamed.length > 0) throw new SetupProblem(refusal(unnamed));
  }
  await cdk(...deploy);
}

/** The answer; undefined where there is no such stack or change set. */
async function exists<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof SetupProblem && /does not exist|ChangeSetNotFound/.test(error.message)) return undefined;
    throw error;
  }
}

function refusal(losses: readonly Loss[]): string {
  return [
    'Nothing was deployed. It would lose, for good:',
    ...losses.map(({ id, how, what }) => `  ${id} would be ${how} (${what})`),
    'Is a setting missing in cdk.json, or another one given? What is used is printed above.',
    `If it is meant: ${losses.map(({ id }) => `--delete ${id}`).join(' ')}`,
  ].join('\n');
}
