/** `npm run smoke`: examines a deployment from outside and prints what holds. */

import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { awsDeployment } from './aws-deployment.ts';
import { checks } from './checks.ts';
import { examine, type Outcome } from './examine.ts';
import { localDeployment } from './local-deployment.ts';

const usage = `Usage: npm run smoke -- [--stack NAME --token TOKEN]

Examines a deployment and prints a line for each check: holds, fails, or not here (with the reason).
  --stack NAME   this CloudFormation stack, by its outputs; the AWS CLI with its usual region and credentials makes the calls to AWS
  --token TOKEN  a bearer token of any user; the environment variable TOKEN serves as well
Without --stack: the local stack that runs in this directory, with the token of its first account.
It stores a few quizzes and batches for the token's user, puts one message among the dead letters (and takes it out again on AWS)
and lets one alarm go off. On AWS it takes about ten minutes.
Exit code 0: nothing fails. 1: something does.`;

const options = {
  stack: { type: 'string' },
  token: { type: 'string' },
} as const;

await runCommand({ usage, options }, async ({ stack, token = process.env.TOKEN }) => {
  if (stack !== undefined && token === undefined) throw new SetupProblem('--stack needs --token TOKEN, or TOKEN.');
  const deployment = stack === undefined ? localDeployment() : await awsDeployment(stack, token!);
  console.log(`Examining ${deployment.name}\n`);
  const outcomes: Outcome['result'][] = [];
  for (const [area, ofArea] of checks) {
    for (const [promise, check] of Object.entries(ofArea)) {
      const { result, detail } = await examine(check, deployment);
      outcomes.push(result);
      const indented = detail === '' ? '' : `\n${' '.repeat(21)}${detail}`;
      console.log(`${result.padEnd(9)} ${area.padEnd(10)} ${promise}${indented}`);
    }
  }
  const count = (result: Outcome['result']) => outcomes.filter((each) => each === result).length;
  console.log(`\n${count('holds')} hold, ${count('fails')} fail, ${count('not here')} not here.`);
  return count('fails') === 0 ? 0 : 1;
});
