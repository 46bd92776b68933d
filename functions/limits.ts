/**
 * The limits that operators set, and what follows from each: data only, and the only place that
 * lists them. Validation, enforcement, counters, what is used and left, the docs, the console's
 * form and the tests follow from here. Each limit may be set for users and for projects.
 *
 * The order is that of members in answers. Where several are reached, the first refuses.
 */

import {
  type BatchStatusName,
  batchStatusNames,
  isFinalBatchStatus,
  isFinalJob,
  type JobStatusName,
  jobStatusNames,
} from './statuses.ts';

/** When limits of a kind are checked, and the reason of a refusal; null: none is refused. */
export const limitKinds = {
  /** Rows that match: a user's are counted in lists, a project's by a counter. */
  rows: { checked: 'creation, with all jobs that the call announces', refusal: 'limit_exceeded' },
  /** An amount of usage since the month began (UTC). What runs goes on. */
  month: { checked: 'creation; the refusal names the day on which it begins anew', refusal: 'limit_exceeded' },
  /** Calls in a minute of the clock. */
  minute: { checked: 'creation; the refusal has `Retry-After`', refusal: 'too_many_creations' },
  /** The time of one job at a device: the shortest of user, project and device. */
  run: { checked: 'while a job runs: longer ones end as `ERROR`, "The job ran longer than 600 s."', refusal: null },
  devices: { checked: 'creation', refusal: 'device_type_not_allowed' },
  priority: { checked: 'creation: a priority above it is lowered', refusal: null },
} as const;

export type LimitKind = keyof typeof limitKinds;

/** The rows that a limit counts, by the values of facets of their list. */
export type CountedRows =
  | {
      readonly list: 'batch';
      readonly where: { readonly status: readonly BatchStatusName[]; readonly open?: readonly boolean[] };
    }
  | { readonly list: 'job'; readonly where: { readonly status: readonly JobStatusName[] } };

type LimitFacts = {
  /** What it counts, or allows: a sentence for the docs. */
  readonly description: string;
} & (
  | { readonly kind: 'rows'; readonly unit: 'batches' | 'jobs'; readonly counts: CountedRows }
  | {
      readonly kind: 'month';
      readonly unit: 'shots' | 'seconds';
      /** Amounts of usage are whole: as many are one of the unit. */
      readonly counts: { readonly amount: 'shots' | 'device_us'; readonly perUnit: number };
    }
  | { readonly kind: 'minute'; readonly unit: 'calls' }
  | { readonly kind: 'run'; readonly unit: 'seconds' }
  | { readonly kind: 'devices' | 'priority' }
);

export const limits = {
  max_unfinished_batches: {
    kind: 'rows',
    unit: 'batches',
    counts: { list: 'batch', where: { status: batchStatusNames.filter((name) => !isFinalBatchStatus(name)) } },
    description: 'Batches that have not ended, whether they wait or run.',
  },
  max_unfinished_jobs: {
    kind: 'rows',
    unit: 'jobs',
    counts: { list: 'job', where: { status: jobStatusNames.filter((status) => !isFinalJob({ status })) } },
    description: 'Jobs that have not ended, whether they wait or run.',
  },
  shots_per_month: {
    kind: 'month',
    unit: 'shots',
    counts: { amount: 'shots', perUnit: 1 },
    description: 'Shots of the jobs that are `DONE` since the month began (UTC).',
  },
  device_seconds_per_month: {
    kind: 'month',
    unit: 'seconds',
    counts: { amount: 'device_us', perUnit: 1_000_000 },
    description: 'Seconds that devices have worked since the month began (UTC).',
  },
  creations_per_minute: {
    kind: 'minute',
    unit: 'calls',
    description: 'Calls in a minute of the clock that create batches or add jobs.',
  },
  max_job_seconds: { kind: 'run', unit: 'seconds', description: 'How long a device may run one job.' },
  device_types: { kind: 'devices', description: 'The only devices that batches may be for.' },
  highest_priority: { kind: 'priority', description: 'A priority above it is lowered to it.' },
} as const satisfies Record<string, LimitFacts>;

export type LimitName = keyof typeof limits;
export const limitNames = Object.keys(limits) as LimitName[];

type LimitOfKind<Kind extends LimitKind> = {
  [Name in LimitName]: (typeof limits)[Name]['kind'] extends Kind ? Name : never;
}[LimitName];

export function limitsOfKind<Kind extends LimitKind>(...kinds: Kind[]): LimitOfKind<Kind>[] {
  return limitNames.filter((name): name is LimitOfKind<Kind> => (kinds as LimitKind[]).includes(limits[name].kind));
}

/**
 * The limits by which something is counted: they have a number that is used, and one that is left.
 */
export const countedLimits = limitsOfKind('rows', 'month', 'minute');
export type CountedLimit = (typeof countedLimits)[number];

/** The limits whose counters follow from rows. */
export const rowLimits = limitsOfKind('rows');
export type RowLimit = (typeof rowLimits)[number];
