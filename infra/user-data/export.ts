/** `npm run export`: writes everything that a stack keeps of a user as files. */

import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { exportUser } from './export-user.ts';
import { stackData } from './stack-data.ts';

const usage = `Usage: npm run export -- --user ID --to DIR [--stack NAME]

Writes everything that is stored of a user into an empty folder: JSON lines by table, sequences and results as files, and
SHA256SUMS, a list with checksums.
  --user ID     the sub of their tokens
  --to DIR      the folder
  --stack NAME  this CloudFormation stack on AWS, with the usual region and credentials; without it the local stack`;

const options = {
  user: { type: 'string' },
  to: { type: 'string' },
  stack: { type: 'string' },
} as const;

await runCommand({ usage, options }, async ({ user, to, stack }) => {
  if (!user || !to) throw new SetupProblem(usage);
  console.log(`${await exportUser(await stackData(stack), user, to)} files in ${to}`);
  return 0;
});
