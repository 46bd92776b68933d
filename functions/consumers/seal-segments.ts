import type { Context, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { ListDescription } from '../data/columns/list-description.ts';
import { isUnavailable } from '../data/dynamodb/aws-errors.ts';
import { database } from '../data/dynamodb/db.ts';
import { foldChanges, listOfChanges } from '../data/lists/fold-changes.ts';
import { sealSegments } from '../data/lists/seal-segments.ts';
import { TimedOut } from '../errors.ts';
import { otherFunctions } from '../other-functions.ts';
import { countInRequestLog } from '../runtime/request-log.ts';
import { consume, type Fault } from './consume.ts';

const db = database(otherFunctions.sealSegments);

/**
 * The pause for each sealed column: sealing takes at most 800 of a user's 1,000 write units a
 * second.
 */
const pauseMilliseconds = 60;

const parallelUsers = 8;

/**
 * What is begun must end in its call: a fold that Lambda stops half-way and lets go on much later
 * would delete items too early. It waits up to 28 s.
 */
const neededMilliseconds = 40_000;

/** A record's list and owner. `changed`: the list, if the record is of changes beside its head. */
function subjectOf({ dynamodb }: DynamoDBRecord) {
  const { user_id, key } = dynamodb?.Keys ?? {};
  const [userId, keyOfItem] = [user_id?.S ?? '', key?.S ?? ''];
  return { userId, key: keyOfItem, changed: listOfChanges(db, keyOfItem) };
}

/**
 * Folds the changes of lists, each list once, and seals old segments of lists that have grown:
 * users side by side, what is of one user in turn. A record that DynamoDB could not serve comes
 * again, and one that there is no time for. One that fails otherwise is logged and passed over:
 * then lists read more.
 */
export function handler({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const isLate = () => context.getRemainingTimeInMillis() < neededMilliseconds;
  return consume(context, Records, (...records) => sealFor(isLate, ...records), {
    parallel: parallelUsers,
    groupOf: (record) => subjectOf(record).userId,
  });
}

async function sealFor(
  isLate: () => boolean,
  record: DynamoDBRecord,
  ofUser: readonly DynamoDBRecord[],
): Promise<Fault | undefined> {
  const { userId, key, changed } = subjectOf(record);
  try {
    // One fold is for all changes of a list.
    const isLast = record === ofUser.findLast((each) => subjectOf(each).changed === changed);
    if (changed !== undefined && !isLast) return undefined;
    if (isLate()) return { error: new TimedOut('It comes again.'), disposition: 'delivered again', isExpected: true };
    if (changed === undefined) await seal(userId, key);
    else await fold(userId, changed);
    return undefined;
  } catch (error) {
    return { error, disposition: isUnavailable(error) ? 'delivered again' : 'passed over', user_id: userId };
  }
}

async function fold(userId: string, list: ListDescription): Promise<void> {
  countInRequestLog({ folded_rows: await foldChanges(db, { userId, list }) });
}

async function seal(userId: string, key: string): Promise<void> {
  const sealed = await sealSegments(db, { userId, key });
  countInRequestLog({ sealed_columns: sealed });
  await db.clock.sleep(sealed * pauseMilliseconds);
}
