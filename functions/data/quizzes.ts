import { createHash } from 'node:crypto';
import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  type DynamoDBDocumentClient,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { CorruptData, TooBusy } from '../errors.ts';
import type { QuizSubmission } from '../schemas/quiz-submissions.ts';
import type { TableNames } from '../tables.ts';
import { fromMicroseconds, toMicroseconds } from '../timestamp.ts';
import { formatUuid } from '../uuid.ts';
import { cancellationCodes, isContention } from './dynamodb/contention.ts';

/** A stored submission. `data` is the JSON text that was sent. */
export interface QuizRecord {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly user_id: string;
  readonly cms_quiz_id: string;
  readonly data: string;
}

const maxAttempts = 15;
const firstDelay = 25;
const longestDelay = 400;

/** The quiz submissions of each user. `now` is in milliseconds since 1970. */
export function quizRepository(client: DynamoDBDocumentClient, tables: TableNames<'Quizzes'>, now = Date.now) {
  const table = tables.Quizzes;
  return {
    /**
     * Stores at most 100 submissions of a user, all or none, and returns their records in the same order. A record belongs to
     * (user, quiz, position): submitted again it keeps `id` and `created_at`, and `updated_at` never goes back, however many
     * submit at once. Two calls; more only after contention, which it retries with jitter and then throws TooBusy.
     */
    async submit(userId: string, submissions: readonly QuizSubmission[]): Promise<QuizRecord[]> {
      if (submissions.length === 0) return [];
      const keyed = submissions.map((submission) => ({ id: quizRecordId(userId, submission), submission }));
      const updatedAt = await store(userId, keyed);
      const createdAt = await creationTimes(
        userId,
        keyed.map(({ id }) => id),
      );
      return keyed.map(({ id, submission: { cms_quiz_id, data } }) => {
        const created_at = createdAt.get(id);
        if (created_at === undefined) throw new CorruptData(`Quiz record ${id} is not there after it was stored.`);
        return { id, created_at, updated_at: updatedAt, user_id: userId, cms_quiz_id, data };
      });
    },
  };

  /** Writes in one transaction; returns the time of the write. */
  async function store(userId: string, keyed: readonly { id: string; submission: QuizSubmission }[]): Promise<string> {
    let earliest = 0;
    for (let attempt = 1; ; attempt++) {
      const time = fromMicroseconds(Math.max(now() * 1000, earliest));
      try {
        await client.send(
          new TransactWriteCommand({ TransactItems: keyed.map((record) => update(userId, record, time)) }),
        );
        return time;
      } catch (error) {
        const later = latestStoredTime(error);
        if (later === undefined && !isTransactionContention(error)) throw error;
        if (attempt === maxAttempts)
          throw new TooBusy('Too many submissions of these quizzes at once.', { cause: error });
        if (later !== undefined) earliest = later + 1;
        await backOff(attempt);
      }
    }
  }

  function update(userId: string, { id, submission }: { id: string; submission: QuizSubmission }, time: string) {
    return {
      Update: {
        TableName: table,
        Key: { user_id: userId, id },
        UpdateExpression:
          'SET #quiz = :quiz, #position = :position, #data = :data, #updated = :time, #created = if_not_exists(#created, :time)',
        // Of submissions at the same time the later one counts, by whichever clock.
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
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      },
    };
  }

  async function creationTimes(userId: string, ids: readonly string[]): Promise<Map<string, string>> {
    const times = new Map<string, string>();
    let keys: Record<string, unknown>[] = ids.map((id) => ({ user_id: userId, id }));
    for (let attempt = 1; keys.length > 0; attempt++) {
      if (attempt > maxAttempts) throw new TooBusy('The database is busy, try again later.');
      if (attempt > 1) await backOff(attempt);
      const output: BatchGetCommandOutput = await client.send(
        new BatchGetCommand({
          RequestItems: { [table]: { Keys: keys, ProjectionExpression: 'id, created_at', ConsistentRead: true } },
        }),
      );
      for (const item of output.Responses?.[table] ?? []) times.set(item.id, item.created_at);
      keys = output.UnprocessedKeys?.[table]?.Keys ?? [];
    }
    return times;
  }
}

/** The id of the record of (user, quiz, position): a UUID of version 8 (RFC 9562) from the hash of the three. */
export function quizRecordId(userId: string, { cms_quiz_id, position }: Omit<QuizSubmission, 'data'>): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([userId, cms_quiz_id, position]))
    .digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(hash.toString('hex', 0, 16));
}

/** Of single requests that are throttled the SDK has made several attempts already; of transactions that meet others, one. */
function isTransactionContention(error: unknown): boolean {
  return isContention(error) && (error as Error).name.startsWith('Transaction');
}

/** Where a transaction failed because records were stored at this write's time or later: the latest of those times. */
function latestStoredTime(error: unknown): number | undefined {
  if (!(error instanceof Error) || !cancellationCodes(error).includes('ConditionalCheckFailed')) return undefined;
  const { CancellationReasons: reasons = [] } = error as { CancellationReasons?: { Item?: Record<string, unknown> }[] };
  const times = reasons.map((reason) => attributeText(reason.Item?.updated_at)).filter((text) => text !== undefined);
  return Math.max(0, ...times.map(toMicroseconds));
}

/** The document client leaves the items of an error in DynamoDB's own notation. */
function attributeText(attribute: unknown): string | undefined {
  if (typeof attribute === 'string') return attribute;
  const { S } = (attribute ?? {}) as { S?: string };
  return S;
}

async function backOff(attempt: number): Promise<void> {
  const delay = Math.random() * Math.min(longestDelay, firstDelay * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, delay));
}
