import * as z from 'zod/mini';
import { parseTimestamp } from '../values/timestamp.ts';
import { reportFault } from './faults.ts';
import { UuidText } from './id-and-time-texts.ts';
import { many, one, Text } from './query-parameters.ts';
import { Count, NullableText, Uuid } from './values.ts';

/** A day in UTC. */
const DayText = z.pipe(
  z.string().register(z.globalRegistry, { format: 'date', examples: ['2026-11-22'] }),
  z.transform((text, context) => {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && parseTimestamp(text) !== undefined;
    const message = 'Input should be a valid date in the format YYYY-MM-DD';
    return isDay ? text : reportFault(context, { type: 'date_parsing', message });
  }),
);

const UsageGroup = z.enum(['project_id', 'user_id', 'device_type']).register(z.globalRegistry, { id: 'UsageGroup' });
export type UsageGroup = z.infer<typeof UsageGroup>;

const UsagePeriod = z.enum(['day', 'month']).register(z.globalRegistry, { id: 'UsagePeriod' });

const UsageScope = z.enum(['own', 'all']).register(z.globalRegistry, { id: 'UsageScope' });

export const UsageQuery = z
  .object({
    from: one(DayText),
    to: one(DayText),
    period: one(UsagePeriod),
    group_by: many(UsageGroup),
    scope: one(UsageScope),
    user_id: one(Text),
    project_id: one(UuidText),
  })
  .register(z.globalRegistry, {
    fields: {
      from: 'First day, in UTC; by default the first of the month of `to`.',
      to: 'Last day, in UTC; by default today. At most 366 days after `from`.',
      period: 'Whether a row sums a day (the default) or a month.',
      group_by: 'Further groups of rows. Rows are sorted by these, in this order. Repeat it for several.',
      scope:
        '`all`: the usage of all users, for operators; by default the caller’s, and with `project_id` all of the project.',
      user_id:
        'This user’s usage, for operators and, with `project_id`, for its administrators; users may name themselves.',
      project_id: 'The usage of this project, by all its users: for operators and administrators of the project.',
    },
  });
export type UsageQuery = z.output<typeof UsageQuery>;

const JobsPerFinalStatus = z
  .strictObject({ DONE: Count, ERROR: Count, CANCELED: Count })
  .register(z.globalRegistry, { id: 'JobsPerFinalStatus' });

const amounts = {
  // Whole numbers of any size: sums may exceed 2^53.
  batches: z.number(),
  jobs: z.number(),
  jobs_per_status: JobsPerFinalStatus,
  shots: z.number(),
  device_seconds: z.number(),
};

const fields = {
  period: 'The day or the month, in UTC, in which they ended: `2026-11-22`, `2026-11`.',
  project_id: 'Project; only in rows by project.',
  user_id: 'User; only in rows by user.',
  user_name: 'What the user is called, null where that is not known; for operators, in rows by user.',
  device_type: 'Device type; only in rows by device type.',
  batches: 'Batches that ended.',
  jobs: 'Jobs that ended.',
  jobs_per_status: 'Jobs by their final status.',
  shots: 'Shots of the jobs that are DONE: `runs`, or the sum of the results’ counter if `runs` is null.',
  device_seconds:
    'How long devices worked on the ended jobs: under a lease from handing out to report, otherwise from start to end.',
};

const UsageRow = z
  .strictObject({
    period: z.string(),
    project_id: z.exactOptional(Uuid),
    user_id: z.exactOptional(z.string()),
    user_name: z.exactOptional(NullableText),
    device_type: z.exactOptional(z.string()),
    ...amounts,
  })
  .register(z.globalRegistry, { id: 'UsageRow', fields });

const UsageTotal = z.strictObject(amounts).register(z.globalRegistry, { id: 'UsageTotal', fields });

const example = { jobs: 3, jobs_per_status: { DONE: 2, ERROR: 1, CANCELED: 0 }, shots: 200, device_seconds: 12.5 };

export const UsageReport = z.strictObject({ rows: z.array(UsageRow), total: UsageTotal }).register(z.globalRegistry, {
  id: 'UsageReport',
  fields: { rows: 'By period, then by group. There is no row if nothing ended.', total: 'The sum of all rows.' },
  examples: [{ rows: [{ period: '2026-11-22', batches: 1, ...example }], total: { batches: 1, ...example } }],
});
export type UsageReport = z.infer<typeof UsageReport>;
