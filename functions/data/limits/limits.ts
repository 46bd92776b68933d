/**
 * The limits of users and projects. One small item, the policy, holds the default and names the
 * subjects that have limits of their own by three bytes of a hash each: a call of any other subject
 * reads nothing else.
 */

import { createHash } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { LimitExceeded, NotFound } from '../../errors.ts';
import type { Act } from '../../schemas/audit.ts';
import { defaultSubject, Limits, projectSubject, SubjectLimits, userSubject } from '../../schemas/limits.ts';
import { Count, Timestamp } from '../../schemas/values.ts';
import type { TableNames } from '../../tables.ts';
import type { Page } from '../../values/page.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { optimisticTransaction } from '../dynamodb/optimistic-transaction.ts';
import { batchGet, queryFirst } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { auditWrite } from '../rows/audit.ts';

const policyKey = { part: 'policy', subject: defaultSubject };
const subjectKey = (subject: string) => ({ part: 'subjects', subject });

const Policy = z.object({
  /** Of the default; absent where there is none. */
  limits: z.exactOptional(Limits),
  updated_at: z.exactOptional(Timestamp),
  /** Three bytes for each other subject, in no order. */
  hashes: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array),
  rev: Count,
});
type Policy = z.infer<typeof Policy>;

const StoredLimits = z.object(SubjectLimits.shape);

const noPolicy: Policy = { hashes: new Uint8Array(), rev: 0 };
const hashBytes = 3;
/** So many subjects' hashes are 30 KB: a creation reads them. */
const maxSubjects = 10_000;

/** The limits that hold for one subject; each member is a limit. */
export interface EffectiveLimits {
  readonly subject: string;
  readonly limits: Readonly<{ [Name in keyof Limits]?: NonNullable<Limits[Name]> }>;
}

/**
 * The function that finds the limits of a user, and of a project if one is given, in this order;
 * empty where none holds. Strongly consistent. Read units: 1, one more for each further 1,300
 * subjects that have limits, and where the user or the project may have any 1 for each.
 */
export function effectiveLimits(
  client: DynamoDBDocumentClient,
  { Limits: table }: TableNames<'Limits'>,
): (userId: string, projectId?: string) => Promise<readonly EffectiveLimits[]> {
  return async (userId, projectId) => {
    const policy = await readPolicy(client, table);
    const user = userSubject(userId);
    const subjects = [user, ...(projectId === undefined ? [] : [projectSubject(projectId)])];
    const named = subjects.filter((subject) => placeOf(policy.hashes, subject) >= 0);
    const own = await readSubjects(client, table, named);
    return subjects.flatMap((subject) => {
      const set = { ...(subject === user && policy.limits), ...own.get(subject)?.limits };
      const limits = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== null));
      return Object.keys(limits).length === 0 ? [] : [{ subject, limits }];
    });
  };
}

/** The function that reads the limits of one subject. Throws NotFound where it has none. */
export function getLimits(
  client: DynamoDBDocumentClient,
  { Limits: table }: TableNames<'Limits'>,
): (subject: string) => Promise<SubjectLimits> {
  return async (subject) => {
    if (subject === defaultSubject) return requireLimits(defaultOf(await readPolicy(client, table)));
    return requireLimits((await readSubjects(client, table, [subject])).get(subject));
  };
}

/**
 * The function that lists all limits, the default first, then by subject. Strongly consistent: it
 * reads all up to the end of the page.
 */
export function listLimits(
  client: DynamoDBDocumentClient,
  { Limits: table }: TableNames<'Limits'>,
): (query: { readonly limit: number; readonly offset: number }) => Promise<Page<SubjectLimits>> {
  return async ({ limit, offset }) => {
    const policy = await readPolicy(client, table);
    const first = [defaultOf(policy) ?? []].flat();
    const range = {
      table,
      partition: { part: 'subjects' },
      sortKey: 'subject',
      range: 'all',
      consistent: true,
    } as const;
    const items = await queryFirst(client, range, offset + limit);
    const all = [...first, ...items.map((item) => storedRow(StoredLimits, item))];
    return { items: all.slice(offset, offset + limit), total: policy.hashes.length / hashBytes + first.length };
  };
}

interface LimitsOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A change of limits by an operator. */
interface LimitsChange {
  readonly operator: string;
  readonly subject: string;
  /** Undefined: the subject has none of its own any more. */
  readonly limits: Limits | undefined;
}

/**
 * The function that sets the limits of a subject in place of those before, or removes them, in one
 * transaction with its row of the audit trail. They hold for every creation that begins after it.
 * Throws NotFound where there is nothing to remove, and LimitExceeded beyond 10,000 subjects.
 */
export function changeLimits(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Limits' | 'Audit'>,
  { now = Date.now }: LimitsOptions = {},
): (change: LimitsChange) => Promise<SubjectLimits | undefined> {
  const table = tables.Limits;
  return (change) =>
    optimisticTransaction(client, async () => {
      const { subject, limits } = change;
      const [policy, stored] = await Promise.all([
        readPolicy(client, table),
        readSubjects(client, table, subject === defaultSubject ? [] : [subject]),
      ]);
      const before = subject === defaultSubject ? policy.limits : stored.get(subject)?.limits;
      if (limits === undefined) requireLimits(before);
      const updated_at = fromMilliseconds(now());
      const act: Act = {
        at: updated_at,
        operator: change.operator,
        action: limits === undefined ? 'limits.delete' : 'limits.put',
        target: { subject, ...(subject.startsWith('user:') && { user_id: subject.slice('user:'.length) }) },
        reason: null,
        before: before ?? null,
        after: limits ?? null,
      };
      const written = { ...change, had: before !== undefined, updated_at };
      const TransactItems = [...limitWrites(table, policy, written), auditWrite(tables, act)];
      return { transaction: { TransactItems }, result: limits && { subject, limits, updated_at } };
    });
}

/** All changes write the policy, so its revision is their only condition. */
function limitWrites(
  TableName: string,
  policy: Policy,
  { subject, limits, had, updated_at }: LimitsChange & { readonly had: boolean; readonly updated_at: string },
): Write[] {
  const set = limits && { limits, updated_at };
  const { rev, hashes, ...former } = policy;
  const isDefault = subject === defaultSubject;
  const named = isDefault ? hashes : hashesWith(hashes, subject, { had, has: limits !== undefined });
  const Item = { ...policyKey, ...(isDefault ? set : former), hashes: named, rev: rev + 1 };
  const condition =
    rev === 0
      ? { ConditionExpression: 'attribute_not_exists(rev)' }
      : { ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': rev } };
  const writes = [{ Put: { TableName, Item, ...condition } }];
  if (isDefault) return writes;
  const Key = subjectKey(subject);
  return [...writes, set ? { Put: { TableName, Item: { ...Key, ...set } } } : { Delete: { TableName, Key } }];
}

function hashOf(subject: string): Uint8Array {
  return createHash('sha256').update(subject).digest().subarray(0, hashBytes);
}

/** Where the subject's hash is; negative where it is not: then it has no limits of its own. */
function placeOf(hashes: Uint8Array, subject: string): number {
  const hash = hashOf(subject);
  for (let at = 0; at < hashes.length; at += hashBytes) {
    if (hash.every((byte, place) => hashes[at + place] === byte)) return at;
  }
  return -1;
}

/** The hashes with one of the subject more, or one less. Two subjects may have the same. */
function hashesWith(
  hashes: Uint8Array,
  subject: string,
  { had, has }: { readonly had: boolean; readonly has: boolean },
) {
  if (had === has) return hashes;
  if (!has) {
    const at = placeOf(hashes, subject);
    return Buffer.concat([hashes.subarray(0, at), hashes.subarray(at + hashBytes)]);
  }
  if (hashes.length >= maxSubjects * hashBytes) {
    throw new LimitExceeded(`There are limits of ${maxSubjects} subjects, and may be no more: remove one.`);
  }
  return Buffer.concat([hashes, hashOf(subject)]);
}

/** The limits of those of the subjects that have any. */
async function readSubjects(client: DynamoDBDocumentClient, table: string, subjects: readonly string[]) {
  const items = await batchGet(client, { table, keys: subjects.map(subjectKey), consistent: true });
  return new Map(items.map((item) => [String(item.subject), storedRow(StoredLimits, item)]));
}

async function readPolicy(client: DynamoDBDocumentClient, table: string): Promise<Policy> {
  const [item] = await batchGet(client, { table, keys: [policyKey], consistent: true });
  return item === undefined ? noPolicy : storedRow(Policy, item);
}

function defaultOf({ limits, updated_at }: Policy): SubjectLimits | undefined {
  return limits && updated_at ? { subject: defaultSubject, limits, updated_at } : undefined;
}

function requireLimits<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new NotFound('The subject has no limits of its own.');
  return found;
}
