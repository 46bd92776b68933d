import { deleteVersions, listVersions } from '../../functions/data/batches/erase-results.ts';
import type { TableName } from '../../functions/tables.ts';
import { timeLimits } from '../../functions/time-limits.ts';
import { userResultsPrefix } from '../../functions/values/results-key.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { scanUsers } from '../repair/scan-users.ts';
import type { StackData } from './stack-data.ts';
import { type Erasure, eraseItems, findItems, userItems } from './user-items.ts';
import { eraseMessages, hiddenSeconds } from './user-messages.ts';

/** What a device uploaded under a lease, below the id of its job: no other user's key is so. */
const leasedKey = /^[0-9a-f-]{36}\/\d+\/[0-9a-f]{64}\.json$/;

/**
 * What was begun before a user was erased has ended so long after it: links for uploads, calls that
 * were signing one, and messages, however long they were delayed.
 */
export const lookAgainSeconds = timeLimits.messageDelay + timeLimits.recoveryFunction;

interface EraseOptions extends Erasure {
  /** Also while devices have batches of the user. */
  readonly force: boolean;
  /** As the run before returned it. */
  readonly emptySince?: number | undefined;
  readonly report?: (line: string) => void;
}

interface Erased {
  /** When the last run ended that found anything, in milliseconds; without one before, this run. */
  readonly emptySince: number;
  /** How long to wait before the next run. 0: nothing is left, and nothing of before comes back. */
  readonly waitSeconds: number;
}

/**
 * Erases everything of a user: items of all tables, results in all versions, waiting messages.
 * Batches leave their queues first, then no device begins any. It can be interrupted and repeated.
 *
 * It is done only when a run that began `lookAgainSeconds` after `emptySince` finds nothing: a
 * device may upload by a link that it has, and a message may be delayed. New calls of the user, and
 * new events about them, make new rows at any time.
 *
 * Throws SetupProblem where a device has a batch of the user, unless `force`: then nothing was
 * erased.
 */
export async function eraseUser(data: StackData, options: EraseOptions): Promise<Erased> {
  const { userId, force, report = () => {} } = options;
  const begun = data.clock.now();
  if (!force) await requireNoLease(data, userId, begun);
  let found = 0;
  const note = (place: string, count: number, unit = '') => {
    if (count > 0) report(`${place}: ${count}${unit}`);
    found += count;
  };
  const erase = async (table: TableName) => note(table, await eraseItems(data, table, options));
  const tables = Object.keys(userItems) as TableName[];
  const [queue, ...others] = tables;
  await erase(queue!);
  // Before the rows: only they say which keys are the user's where another's id begins with theirs.
  let results = 0;
  for await (const versions of findResults(data, userId)) results += await deleteVersions(data.results, versions);
  note('results', results, ' versions');
  for (const table of others) await erase(table);
  const busy: string[] = [];
  for (const [name, url] of Object.entries(data.queues)) {
    const { deleted, underWay } = await eraseMessages(data.sqs, url, userId);
    note(name, deleted, ' messages');
    // One that was delayed has come by the time of the last run; without its batch it ends then.
    if (underWay > 0) busy.push(name);
  }
  const { emptySince } = options;
  if (found > 0 || emptySince === undefined) return { emptySince: data.clock.now(), waitSeconds: lookAgainSeconds };
  const waitSeconds = Math.max(0, Math.ceil((emptySince - begun) / 1_000) + lookAgainSeconds);
  if (waitSeconds > 0 || busy.length === 0) return { emptySince, waitSeconds };
  report(`Messages of this user or of others are being handled: ${busy.join(', ')}`);
  return { emptySince, waitSeconds: hiddenSeconds };
}

async function requireNoLease(data: StackData, userId: string, now: number): Promise<void> {
  for await (const items of findItems(data, 'DeviceQueue', userId)) {
    const leased = items.find(({ lease_until }) => Number(lease_until) > now);
    if (leased === undefined) continue;
    throw new SetupProblem(
      `The device ${leased.device_type} has a batch of this user: cancel it, wait for its worker, or add --force.`,
    );
  }
}

/**
 * All versions of results below the user's prefix, except results of users whose ids begin with it.
 */
export async function* findResults(data: StackData, userId: string) {
  const prefix = userResultsPrefix(userId);
  let others: readonly string[] | undefined;
  for await (const versions of listVersions(data.results, prefix)) {
    const isPlain = versions.every(({ Key = '' }) => leasedKey.test(Key.slice(prefix.length)));
    if (!isPlain && others === undefined) {
      const scan = { users: [], reached: {} };
      await scanUsers(data, scan, async () => {});
      others = scan.users.filter((id: string) => id.startsWith(`${userId}/`)).map(userResultsPrefix);
    }
    yield versions.filter(({ Key = '' }) => !others?.some((other) => Key.startsWith(other)));
  }
}

const day = 86_400_000;

/** Data of the user that cannot be erased, and until when they stay. */
export function whatStays({ logDays }: Pick<StackData, 'logDays'>, now: number): string[] {
  const until = (days: number) => new Date(now + days * day).toISOString().slice(0, 10);
  return [
    `${until(1)}  DynamoDB's streams: rows as they were before and after their last changes (24 hours)`,
    `${until(35)}  DynamoDB's backups, of any second: all tables as they were (35 days)`,
    `${until(logDays)}  logs of functions and gateway: the user's id with ids of batches and jobs (${logDays} days)`,
    `${until(90)}  the access log of the bucket: keys of results, with the user's id (90 days)`,
    `${until(30)}  traces of X-Ray: paths of calls, with ids of batches and jobs (30 days)`,
    'Versions of results are deleted: the bucket holds nothing. Usage and audit hold sums and acts under a pseudonym.',
    'The account of the user is in the user pool or at the issuer: delete it there. Until then their tokens create new rows.',
    'What was downloaded, sent to webhooks, or restored from a backup is not known here.',
  ];
}
