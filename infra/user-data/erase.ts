/** `npm run erase`: erases everything that a stack keeps of a user. */

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readJsonFile, writeJsonFile } from '../commands/json-file.ts';
import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { eraseUser, whatStays } from './erase-user.ts';
import { stackData } from './stack-data.ts';

const usage = `Usage: npm run erase -- --user ID [--stack NAME] [--force]

Erases everything of a user, for good: rows in all tables, results in all versions, waiting messages, limits. Sums of usage and
acts in the audit trail stay, under a pseudonym. It can be interrupted and repeated. First see that the user's tokens are valid
no more, and that no control system sends events about them.
  --user ID     the sub of their tokens
  --stack NAME  this CloudFormation stack on AWS, with the usual region and credentials; without it the local stack
  --force       also while a device has a batch of the user: its worker loses it`;

const options = {
  user: { type: 'string' },
  stack: { type: 'string' },
  force: { type: 'boolean', default: false },
} as const;

/** Keeps the pseudonym of a run that was interrupted: the next one goes on with it. */
const progressFile = '.local/erase.json';

await runCommand({ usage, options }, async ({ user: userId, stack, force }) => {
  if (userId === undefined || userId === '') throw new SetupProblem(usage);
  const data = await stackData(stack);
  const begun = readJsonFile<{ of: string; pseudonym: string }>(progressFile);
  const of = `${userId} in ${data.name}`;
  const pseudonym = begun?.of === of ? begun.pseudonym : `erased-${randomUUID()}`;
  writeJsonFile(progressFile, { of, pseudonym });
  console.log(`Erasing ${of}`);
  const unseen = await eraseUser(data, { userId, pseudonym, force, report: (line) => console.log(`  ${line}`) });
  rmSync(progressFile, { force: true });
  console.log(`Done. The pseudonym is ${pseudonym}.\n\nWhat stays, until when:`);
  for (const line of whatStays(data, Date.now())) console.log(`  ${line}`);
  if (unseen === 0) return 0;
  console.log(`\n${unseen} messages are delayed or under way, some perhaps of this user: run it again in 15 minutes.`);
  return 2;
});
