/** `npm run deploy`: deploys a stage, unless that loses what cannot be made again. */

import { aws } from '../commands/aws-cli.ts';
import { cdk } from '../commands/cdk-cli.ts';
import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { deployStage } from './deploy-stage.ts';

const usage = `Usage: npm run deploy -- --stage STAGE [-c NAME=VALUE …] [--delete ID …]

Synthesizes the stage with its settings in cdk.json, which it prints, asks CloudFormation what would change, and deploys.
It needs the AWS CLI with credentials. docs/guides/deploying.md has the settings.
  -c NAME=VALUE  another setting, for this deployment alone
  --delete ID    lets this resource be deleted or replaced; without it, nothing is deployed that would lose data, clients or addresses`;

const options = {
  stage: { type: 'string' },
  context: { type: 'string', short: 'c', multiple: true },
  delete: { type: 'string', multiple: true },
} as const;

await runCommand({ usage, options }, async ({ stage, context = [], delete: mayLose = [] }) => {
  if (stage === undefined) throw new SetupProblem(usage);
  await deployStage({ stage, context, mayLose }, { aws, cdk });
  return 0;
});
