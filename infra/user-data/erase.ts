/** `npm run erase`: erases everything that a stack keeps of a user. */

import { randomUUID } from 'node:crypto';
import { readJsonFile, writeJsonFile } from '../commands/json-file.ts';
import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { eraseUser, lookAgainSeconds, whatStays } from './erase-user.ts';
import { stackData } from './stack-data.ts';

const usage = `Usage: npm run erase -- --user ID [--stack NAME] [--force]

Erases everything of a user, for good: rows in all tables, results in all versions, waiting messages, limits. Sums of usage and
acts in the audit trail stay, under a pseudonym. It can be interrupted and repeated. First see that the user's tokens are valid
no more, and that no control system sends events about them. It ends with 2, "run it again", until what was begun before cannot
bring anything back: after a first run for ${lookAgainSeconds / 60} minutes. 0: nothing is left.
  --user ID     the sub of their tokens
  --stack NAME  this CloudFormation stack on AWS, with the usual region and credentials; without it the local stack
  --force       also while a device has a batch of the user: its worker loses it`;

const options = {
  user: { type: 'string' },
  stack: { type: 'string' },
  force: { type: 'boolean', default: false },
} as const;

/**
 * What a run leaves to the next one of the same user: the pseudonym, and since when nothing was
 * found. Without it, as on another machine, the wait begins anew.
 */
interface Progress {
  readonly pseudonym: string;
  readonly emptySince?: number;
}

const progressFile = '.local/erasures.json';
/** Of all users: runs of others may write it meanwhile. */
const readProgress = () => readJsonFile<Readonly<Record<string, Progress>>>(progressFile) ?? {};

function writeProgress(of: string, progress?: Progress) {
  const { [of]: _, ...others } = readProgress();
  writeJsonFile(progressFile, progress === undefined ? others : { ...others, [of]: progress });
}

await runCommand({ usage, options }, async ({ user: userId, stack, force }) => {
  if (userId === undefined || userId === '') throw new SetupProblem(usage);
  const data = await stackData(stack);
  // Stacks of the same name may be in several accounts and regions; a bucket's name is unique.
  const of = `${userId} in ${data.results.name}`;
  const { [of]: before } = readProgress();
  const pseudonym = before?.pseudonym ?? `erased-${randomUUID()}`;
  // Without the time: a run that dies may have found something.
  writeProgress(of, { pseudonym });
  console.log(`Erasing ${userId} in ${data.name}`);
  const report = (line: string) => console.log(`  ${line}`);
  const { emptySince, waitSeconds } = await eraseUser(data, { userId, pseudonym, force, report, ...before });
  if (waitSeconds > 0) {
    writeProgress(of, { pseudonym, emptySince });
    console.log(`Not done: links and messages of before may bring something back.
Run it again in ${Math.ceil(waitSeconds / 60)} minutes, on this machine.`);
    return 2;
  }
  writeProgress(of);
  console.log(`Done. The pseudonym is ${pseudonym}.\n\nWhat stays, until when:`);
  for (const line of whatStays(data, Date.now())) console.log(`  ${line}`);
  return 0;
});
