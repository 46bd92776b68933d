import * as z from 'zod/mini';
import { CorruptData, PayloadTooLarge } from '../../errors.ts';
import { QuizRow, type QuizSubmission } from '../../schemas/quiz.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { fromMicroseconds, toMicroseconds } from '../../values/timestamp.ts';
import { derivedUuid } from '../../values/uuid.ts';
import { isConflict, KeysThrottled, TransactionCanceled } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { sendTransaction } from '../dynamodb/optimistic-transaction.ts';
import { batchGet } from '../dynamodb/reads.ts';
import { retry } from '../dynamodb/retry.ts';
import type { Write } from '../dynamodb/write-units.ts';

const CreationTime = z.pick(QuizRow, { id: true, created_at: true });

const tooMuch = 'The database cannot take so much of one user at once: send fewer submissions in a call, up to 400 KB.';

interface IdentifiedSubmission {
  readonly id: string;
  readonly submission: QuizSubmission;
}

/**
 * Stores at most 100 submissions of a user, all or none, and returns their records in the same
 * order. A record belongs to (user, quiz, position). Submitted again, it keeps `id` and
 * `created_at`; `updated_at` never goes back, however many calls submit at once.
 *
 * It takes two calls. After contention it tries again with jitter, up to 15 times, and then throws
 * TooBusy. What DynamoDB throttles is sent five times. If it throttled their key, several
 * submissions then throw PayloadTooLarge: AWS charges the larger of the old and the new record, so
 * they may take more units than a key has in a second, and no repetition would help.
 */
export async function submitQuizzes(
  db: Db<'Quizzes'>,
  userId: string,
  submissions: readonly QuizSubmission[],
): Promise<QuizRow[]> {
  if (submissions.length === 0) return [];
  const identified = submissions.map((submission) => ({ id: quizRecordId(userId, submission), submission }));
  const updatedAt = await store(db, userId, identified);
  const ids = identified.map(({ id }) => id);
  const createdAt = await readCreationTimes(db, userId, ids);
  return identified.map(({ id, submission: { cms_quiz_id, data } }) => {
    const created_at = createdAt.get(id);
    if (created_at === undefined) throw new CorruptData(`Quiz record ${id} is not there after it was stored.`);
    return { id, created_at, updated_at: updatedAt, user_id: userId, cms_quiz_id, data };
  });
}

/** Writes in one transaction; returns the time of the write. */
async function store(db: Db<'Quizzes'>, userId: string, submissions: readonly IdentifiedSubmission[]): Promise<string> {
  let earliest = 0;
  const write = async () => {
    const time = fromMicroseconds(Math.max(db.clock.now() * 1000, earliest));
    const TransactItems = submissions.map((submission) => planUpdate(db, { userId, submission, time }));
    await sendTransaction(db, { TransactItems }).catch((error: unknown) => {
      throw error instanceof KeysThrottled && submissions.length > 1
        ? new PayloadTooLarge(tooMuch, { cause: error })
        : error;
    });
    return time;
  };
  return retry(db.clock, write, {
    attempts: 15,
    firstMilliseconds: 50,
    maxDelayMilliseconds: 400,
    message: 'Too many submissions of these quizzes at once.',
    mayPass(error) {
      if (error instanceof TransactionCanceled) earliest = Math.max(earliest, latestStoredTime(error) + 1);
      return isConflict(error);
    },
  });
}

interface StoredSubmission {
  readonly userId: string;
  readonly submission: IdentifiedSubmission;
  readonly time: string;
}

function planUpdate({ tables }: Db<'Quizzes'>, { userId, submission: identified, time }: StoredSubmission): Write {
  const { id, submission } = identified;
  return {
    Update: {
      TableName: tables.Quizzes,
      Key: { user_id: userId, id },
      UpdateExpression:
        'SET #quiz = :quiz, #position = :position, #data = :data, #updated = :time, #created = if_not_exists(#created, :time)',
      // The last of several submissions wins: its time is later than what is stored, whatever the
      // clocks say.
      ConditionExpression: 'attribute_not_exists(#updated) OR #updated < :time',
      ExpressionAttributeNames: {
        '#quiz': 'cms_quiz_id',
        '#position': 'position',
        '#data': 'data',
        '#updated': 'updated_at',
        '#created': 'created_at',
      },
      ExpressionAttributeValues: {
        ':quiz': submission.cms_quiz_id,
        ':position': submission.position,
        ':data': submission.data,
        ':time': time,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

async function readCreationTimes(
  db: Db<'Quizzes'>,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const keys = ids.map((id) => ({ user_id: userId, id }));
  const items = await batchGet(db, { table: 'Quizzes', keys, consistent: true, attributes: ['id', 'created_at'] });
  const rows = items.map((item) => storedRow(CreationTime, item));
  return new Map(rows.map(({ id, created_at }) => [id, created_at]));
}

/**
 * The id of the record of (user, quiz, position): a UUID of version 8 (RFC 9562) from the hash of
 * the three.
 */
export function quizRecordId(userId: string, { cms_quiz_id, position }: Omit<QuizSubmission, 'data'>): string {
  return derivedUuid([userId, cms_quiz_id, position]);
}

/**
 * The latest time in microseconds at which one of the records that stopped the transaction was
 * stored; 0 if none did.
 */
function latestStoredTime({ reasons }: TransactionCanceled): number {
  const times = reasons.flatMap(({ item }) => attributeText(item?.updated_at) ?? []);
  return Math.max(0, ...times.map(toMicroseconds));
}

/** The document client leaves the items of an error in DynamoDB's own notation. */
function attributeText(attribute: unknown): string | undefined {
  if (typeof attribute === 'string') return attribute;
  const { S } = (attribute ?? {}) as { S?: string };
  return S;
}
