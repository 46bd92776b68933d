/** The limits of a user or a project, as operators set them. */

import * as z from 'zod/mini';
import { isUserId } from '../identity/user-id.ts';
import {
  type CountedLimit,
  countedLimits,
  type LimitKind,
  type LimitName,
  limitNames,
  limits,
  type RowLimit,
  rowLimits,
} from '../limits.ts';
import { parseUuid } from '../values/uuid.ts';
import { reportFault } from './faults.ts';
import { onDemand } from './on-demand.ts';
import { boundedText } from './sent-values.ts';
import { Count, NullableText, QueuePriority, Timestamp } from './values.ts';

const maxNumber = 1_000_000_000;
const AnyCount = z.nullable(z.int().check(z.gte(0), z.lte(maxNumber)));
const Positive = z.nullable(z.int().check(z.gte(1), z.lte(maxNumber)));

/** What a limit of each kind may be set to. */
const values = {
  rows: AnyCount,
  month: AnyCount,
  minute: Positive,
  run: Positive,
  devices: z.nullable(z.array(boundedText(128)).check(z.maxLength(100))),
  priority: z.nullable(QueuePriority),
} satisfies Record<LimitKind, z.ZodMiniType>;

type Members = { [Name in LimitName]: (typeof values)[(typeof limits)[Name]['kind']] };
const members = Object.fromEntries(limitNames.map((name) => [name, values[limits[name].kind]])) as Members;
const fields = Object.fromEntries(limitNames.map((name) => [name, limits[name].description]));

type Optional = { [Name in keyof Members]: z.ZodMiniExactOptional<Members[Name]> };

/**
 * Limits as an operator sets them. Null: no limit; in a user's own limits it lifts the default's. A
 * member that is left out: the default's limit for a user, no limit for a project or the default.
 */
export const Limits = z
  .strictObject(
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, z.exactOptional(member)])) as Optional,
  )
  .register(z.globalRegistry, {
    id: 'Limits',
    fields,
    example: { max_unfinished_batches: 100, shots_per_month: 1_000_000, device_types: ['EMU_MPS'] },
  });
export type Limits = z.infer<typeof Limits>;

/** Limits of a subject, as operators see them. */
export const SubjectLimits = onDemand(() =>
  z
    .strictObject({
      subject: z.string().register(z.globalRegistry, { examples: ['user:0f8d1c52'] }),
      user_name: z.exactOptional(NullableText),
      limits: Limits,
      updated_at: Timestamp,
    })
    .register(z.globalRegistry, {
      id: 'ProducedSubjectLimitsResponse',
      fields: {
        subject: '`default`, `user:ID` or `project:ID`.',
        user_name: 'What a user is called; null where that is not known. Not in the answer to a change.',
        limits: 'As set.',
        updated_at: 'When they were set.',
      },
    }),
);
export type SubjectLimits = z.infer<ReturnType<typeof SubjectLimits>>;

const counts = <Value extends z.ZodMiniType>(value: Value) =>
  z.strictObject(Object.fromEntries(countedLimits.map((name) => [name, value])) as Record<CountedLimit, Value>);
const Amount = z.nullable(z.number().check(z.nonnegative()));

export const OwnLimits = onDemand(() =>
  z
    .strictObject({
      limits: z.strictObject(members).register(z.globalRegistry, { id: 'EffectiveLimits', fields }),
      used: counts(Amount).register(z.globalRegistry, { id: 'UsedOfLimits', fields }),
      left: counts(Amount).register(z.globalRegistry, { id: 'LeftOfLimits', fields }),
      month_ends_at: Timestamp,
    })
    .register(z.globalRegistry, {
      id: 'ProducedOwnLimitsResponse',
      fields: {
        limits: 'The limits that hold for the caller; null: no limit.',
        used: 'How much of each the caller has used. `creations_per_minute` is null without a limit: calls are not counted then.',
        left: 'What is left of each; null without a limit.',
        month_ends_at: 'When the monthly limits begin anew.',
      },
    }),
);
export type OwnLimits = z.infer<ReturnType<typeof OwnLimits>>;

const subjectFault = {
  type: 'value_error',
  message: 'Input should be default, user:ID with the id of a user without a percent sign, or project:UUID',
};

/**
 * `default`, `user:ID` or `project:UUID`; the value is canonical. An id with a percent sign is
 * refused: gateways may decode a path more than once, and another user must not get the limits.
 */
const Subject = z.pipe(
  z.string().register(z.globalRegistry, { examples: ['user:0f8d1c52'] }),
  z.transform((text, context): string => {
    const [kind, id] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
    if (text === defaultSubject) return text;
    if (kind === 'user' && isUserId(id) && !id.includes('%')) return userSubject(id);
    const project = kind === 'project' ? parseUuid(id) : undefined;
    return project === undefined ? reportFault(context, subjectFault) : projectSubject(project);
  }),
);

export const defaultSubject = 'default';
export const userSubject = (userId: string) => `user:${userId}`;
export const projectSubject = (projectId: string) => `project:${projectId}`;
/** The user, or the project, that a subject names; undefined for any other. */
export const userOfSubject = (subject: string) => idAfter(userSubject(''), subject);
export const projectOfSubject = (subject: string) => idAfter(projectSubject(''), subject);

function idAfter(prefix: string, subject: string): string | undefined {
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : undefined;
}

export const SubjectPath = z.object({ subject: Subject }).register(z.globalRegistry, {
  fields: { subject: '`default`, `user:ID` or `project:ID`, percent-encoded.' },
});

/** What is counted of a user or a project: its counter in the table Counters. */
export const LimitCounter = z.object({
  /** Grows whenever something is added: the condition of the next creation. */
  rev: z._default(Count, 0),
  /** Of a project: how many rows each limit has counted (`counted_in_project`). */
  ...(Object.fromEntries(rowLimits.map((name) => [name, z._default(z.int(), 0)])) as Record<
    RowLimit,
    z.ZodMiniDefault<z.ZodMiniInt>
  >),
  /** Of a user: jobs that calls under way have announced but not yet created. */
  jobs_to_come: z._default(z.int(), 0),
  /** The minute since 1970 that `creations` counts. */
  minute: z._default(Count, 0),
  creations: z._default(Count, 0),
});
export type LimitCounter = z.infer<typeof LimitCounter>;
