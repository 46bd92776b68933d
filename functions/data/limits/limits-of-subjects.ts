/**
 * The limits of users and projects. One small item, the policy, holds the default limits, and three
 * bytes of a hash for each subject with limits of its own. A call of any other subject reads
 * nothing else.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { LimitExceeded, NotFound } from '../../errors.ts';
import { rowLimits } from '../../limits.ts';
import type { NewAct } from '../../schemas/audit.ts';
import {
  defaultSubject,
  Limits,
  projectOfSubject,
  projectSubject,
  SubjectLimits,
  userOfSubject,
  userSubject,
} from '../../schemas/limits.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { Count, Timestamp } from '../../schemas/values.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import type { Page } from '../../values/page.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { type Decision, optimisticTransaction } from '../dynamodb/optimistic-transaction.ts';
import { batchGet, queryFirst } from '../dynamodb/reads.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { namesOf } from '../projects/names.ts';
import { auditWrite } from '../rows/acts.ts';

const policyKey = { part: 'policy', subject: defaultSubject };
const subjectKey = (subject: string) => ({ part: 'subjects', subject });

const Policy = z.object({
  /** Of the default; absent where there is none. */
  limits: z.exactOptional(Limits),
  updated_at: z.exactOptional(Timestamp),
  /** Three bytes for each other subject, in no order. */
  hashes: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array),
  /**
   * As many for each project whose limits of rows were taken away, the oldest first: its rows go on
   * counting, so that the next limit finds them counted.
   */
  counting: z._default(z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array), new Uint8Array()),
  rev: Count,
});
type Policy = z.infer<typeof Policy>;

const StoredLimits = z.object(SubjectLimits().shape);

const noPolicy: Policy = { hashes: new Uint8Array(), counting: new Uint8Array(), rev: 0 };
const hashBytes = 3;
/** Hashes are 30 KB at most, and as much again of projects that count on: a creation reads both. */
const maxSubjects = 10_000;

/** The limits that hold for one subject; each member is a limit. */
export interface EffectiveLimits {
  readonly subject: string;
  readonly limits: Readonly<{ [Name in keyof Limits]?: NonNullable<Limits[Name]> }>;
  /** Of a project: its rows are counted, whether it has a limit for them now or had one before. */
  readonly isCounted?: boolean;
}

/**
 * Finds the limits of a user, and of a project if one is given, in this order, each if it has any
 * or counts. Strongly consistent. Read units: 1, one more for each further 1,300 subjects with
 * limits or counts, and 1 each for a user or a project that may have limits.
 */
export async function effectiveLimits(
  db: Db<'Limits'>,
  userId: string,
  projectId?: string,
): Promise<readonly EffectiveLimits[]> {
  const policy = await readPolicy(db);
  const user = userSubject(userId);
  const subjects = [user, ...(projectId === undefined ? [] : [projectSubject(projectId)])];
  const named = subjects.filter((subject) => placeOf(policy.hashes, subject) >= 0);
  const own = await readSubjects(db, named);
  return subjects.flatMap((subject) => {
    const isUser = subject === user;
    const limits = heldBy(policy, subject, own.get(subject)?.limits);
    const isCounted = !isUser && (limitsRows(limits) || placeOf(policy.counting, subject) >= 0);
    return Object.keys(limits).length === 0 && !isCounted ? [] : [{ subject, limits, ...(isCounted && { isCounted }) }];
  });
}

/** A user has the default limits, where none of its own replaces or lifts them. */
function heldBy({ limits }: Policy, subject: string, own: Limits | undefined): EffectiveLimits['limits'] {
  const set = { ...(userOfSubject(subject) !== undefined && limits), ...own };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== null));
}

function limitsRows(limits: Limits | undefined): boolean {
  return rowLimits.some((name) => typeof limits?.[name] === 'number');
}

/** Limits as operators see them, with the names of users. */
type NamedLimitsDb = Db<'Limits' | 'Columns' | 'Contributors'>;

/** Reads the limits of one subject. Throws NotFound where it has none. */
export async function getLimits(db: NamedLimitsDb, subject: string): Promise<SubjectLimits> {
  const found =
    subject === defaultSubject ? defaultOf(await readPolicy(db)) : (await readSubjects(db, [subject])).get(subject);
  const [named] = await withNames(db, [requireLimits(found)]);
  return named!;
}

/**
 * Lists all limits, the default first, then by subject. Strongly consistent, except for names: it
 * reads all up to the end of the page.
 */
export async function listLimits(
  db: NamedLimitsDb,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Page<SubjectLimits>> {
  const policy = await readPolicy(db);
  const first = [defaultOf(policy) ?? []].flat();
  const read = { table: 'Limits', partition: { part: 'subjects' }, sortKey: 'subject' } as const;
  const items = await queryFirst(db, { ...read, range: 'all', consistent: true }, offset + limit);
  const all = [...first, ...items.map((item) => storedRow(StoredLimits, item))];
  const page = await withNames(db, all.slice(offset, offset + limit));
  return { items: page, total: policy.hashes.length / hashBytes + first.length };
}

/** With what the users among the subjects are called: namesOf's costs. */
async function withNames(db: NamedLimitsDb, page: readonly SubjectLimits[]): Promise<SubjectLimits[]> {
  const names = await namesOf(
    db,
    page.flatMap(({ subject }) => userOfSubject(subject) ?? []),
  );
  return page.map((found) => {
    const userId = userOfSubject(found.subject);
    return userId === undefined ? found : { ...found, user_name: names.get(userId) ?? null };
  });
}

export interface LimitsChange {
  readonly operator: string;
  readonly operatorName?: string | undefined;
  readonly subject: string;
  /** Undefined: the subject has none of its own any more. */
  readonly limits: Limits | undefined;
}

/**
 * Sets the limits of a subject in place of its former ones, or removes them, in one transaction
 * with its row of the audit trail; the same limits again write nothing. They hold for every
 * creation that begins afterwards. Throws NotFound when there is nothing to remove, and
 * LimitExceeded beyond 10,000 subjects.
 */
export function changeLimits(db: Db<'Limits' | 'Audit'>, change: LimitsChange): Promise<SubjectLimits | undefined> {
  return optimisticTransaction(db, () => planLimits(db, change));
}

/** What changeLimits writes, and the limits that then hold for a user or a project. */
export async function planLimits(
  db: Db<'Limits' | 'Audit'>,
  change: LimitsChange,
): Promise<Decision<SubjectLimits | undefined> & { readonly held: EffectiveLimits['limits'] }> {
  const { subject, limits } = change;
  const [policy, stored] = await Promise.all([
    readPolicy(db),
    readSubjects(db, subject === defaultSubject ? [] : [subject]),
  ]);
  const former = subject === defaultSubject ? defaultOf(policy) : stored.get(subject);
  const before = former?.limits;
  const held = heldBy(policy, subject, limits);
  if (limits === undefined) requireLimits(before);
  if (former !== undefined && isDeepStrictEqual(former.limits, limits)) return { result: former, held };
  const updated_at = fromMilliseconds(db.clock.now());
  const userId = userOfSubject(subject);
  const projectId = projectOfSubject(subject);
  const act: NewAct = {
    at: updated_at,
    operator: change.operator,
    operator_name: change.operatorName,
    action: limits === undefined ? 'limits.delete' : 'limits.put',
    target: {
      subject,
      ...(userId !== undefined && { user_id: userId }),
      ...(projectId !== undefined && { project_id: projectId }),
    },
    reason: null,
    before: before ?? null,
    after: limits ?? null,
  };
  const written = { ...change, before, updated_at };
  const TransactItems = [...limitWrites(db, policy, written), auditWrite(db, act)];
  return { transaction: { TransactItems }, result: limits && { subject, limits, updated_at }, held };
}

/** All changes write the policy, so its revision is their only condition. */
function limitWrites(
  { tables: { Limits: TableName } }: Db<'Limits'>,
  policy: Policy,
  change: LimitsChange & { readonly before: Limits | undefined; readonly updated_at: string },
): Write[] {
  const { subject, limits, before, updated_at } = change;
  const set = limits && { limits, updated_at };
  const { rev, hashes, counting: _, ...former } = policy;
  const isDefault = subject === defaultSubject;
  const presence = { had: before !== undefined, has: limits !== undefined };
  const named = isDefault ? hashes : hashesWith(hashes, subject, presence);
  const counting = countingAfter(policy, change);
  const Item = { ...policyKey, ...(isDefault ? set : former), hashes: named, counting, rev: rev + 1 };
  const condition = rev === 0 ? ifAbsent('subject') : ifUnchanged(policy, ['rev']);
  const writes = [{ Put: { TableName, Item, ...condition } }];
  if (isDefault) return writes;
  const Key = subjectKey(subject);
  return [...writes, set ? { Put: { TableName, Item: { ...Key, ...set } } } : { Delete: { TableName, Key } }];
}

/** The projects that count on. Beyond 10,000 the oldest leaves. */
function countingAfter(
  { counting }: Policy,
  { subject, before, limits }: LimitsChange & { before: Limits | undefined },
) {
  const had = placeOf(counting, subject) >= 0;
  const has = subject.startsWith('project:') && (had || limitsRows(before)) && !limitsRows(limits);
  const isFull = has && counting.length >= maxSubjects * hashBytes;
  return hashesWith(isFull ? counting.subarray(hashBytes) : counting, subject, { had, has });
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

/** The hashes with one more or one less of this subject. Two subjects may have the same hash. */
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

/** The limits of these subjects, as far as they have any. */
async function readSubjects(db: Db<'Limits'>, subjects: readonly string[]) {
  const items = await batchGet(db, { table: 'Limits', keys: subjects.map(subjectKey), consistent: true });
  return new Map(items.map((item) => [String(item.subject), storedRow(StoredLimits, item)]));
}

async function readPolicy(db: Db<'Limits'>): Promise<Policy> {
  const [item] = await batchGet(db, { table: 'Limits', keys: [policyKey], consistent: true });
  return item === undefined ? noPolicy : storedRow(Policy, item);
}

function defaultOf({ limits, updated_at }: Policy): SubjectLimits | undefined {
  return limits && updated_at ? { subject: defaultSubject, limits, updated_at } : undefined;
}

function requireLimits<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new NotFound('The subject has no limits of its own.');
  return found;
}
