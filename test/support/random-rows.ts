import * as fc from 'fast-check';
import { BatchStatus, JobOrigin, JobStatus, QueuePriority } from '../../functions/schemas/values.ts';
import { fromMicroseconds, toMicroseconds } from '../../functions/values/timestamp.ts';

export const deviceTypes = ['EMU_FREE', 'EMU_SV', 'EMU_TN', 'EMU_MPS', 'EMU_FRESNEL', 'FRESNEL', 'FRESNEL_CAN1'];
export const tags = ['calibration', 'run#1', 'été ☀', 'a'.repeat(256), 'nightly'];
export const projectIds = [1, 2, 3, 4].map((number) => `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`);

/** Times of one day. Some are whole milliseconds or seconds, so that ties and all units occur. */
export const times = fc
  .tuple(fc.integer({ min: 0, max: 86_399 }), fc.constantFrom(0, 0, 1_000, 123_000, 123_456))
  .map(([second, microseconds]) =>
    fromMicroseconds(toMicroseconds('2026-03-01T00:00:00.000000Z') + second * 1_000_000 + microseconds),
  );

const createdAt = (seq: number) => fromMicroseconds(toMicroseconds('2026-01-01T00:00:00.000000Z') + seq * 1_000_003);

/**
 * Stored batches of one user in creation order. No status implies another attribute, so all
 * combinations occur.
 */
export const batchRows = (userId: string, count: number) =>
  fc
    .array(
      fc.record({
        id: fc.uuid(),
        parent_id: fc.option(fc.uuid()),
        project_id: fc.constantFrom(...projectIds),
        status: fc.constantFrom(...BatchStatus.options),
        open: fc.boolean(),
        device_type: fc.constantFrom(...deviceTypes),
        queue_priority: fc.constantFrom(...QueuePriority.options),
        tags: fc.uniqueArray(fc.constantFrom(...tags), { maxLength: 3 }),
        jobs_count: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 100_000 })),
        failed: fc.constantFrom(0, 0, 1, 70_000),
        updated_at: times,
        start_datetime: fc.option(times),
        end_datetime: fc.option(times),
      }),
      { minLength: count, maxLength: count },
    )
    .map((rows) =>
      rows.map(({ failed, ...row }, seq) => ({
        ...row,
        user_id: userId,
        seq,
        rev: 1,
        written_at: {},
        created_at: createdAt(seq),
        jobs_count_per_status: {
          ...Object.fromEntries(JobStatus.options.map((status) => [status, 0])),
          DONE: row.jobs_count - Math.min(failed, row.jobs_count),
          ERROR: Math.min(failed, row.jobs_count),
        },
        device_status: null,
        webhook: null,
        configuration: null,
        backend_configuration: null,
        erased_at: null,
      })),
    );

/** Stored jobs of one user in creation order. They belong to the given batches. */
export const jobRows = (userId: string, batchIds: readonly string[], count: number) =>
  fc
    .array(
      fc.record({
        id: fc.uuid(),
        parent_id: fc.option(fc.uuid()),
        batch_id: fc.constantFrom(...batchIds),
        project_id: fc.constantFrom(...projectIds),
        status: fc.constantFrom(...JobStatus.options),
        runs: fc.option(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1_000_000 })), { freq: 8 }),
        origin: fc.constantFrom(...JobOrigin.options),
        updated_at: times,
        start_timestamp: fc.option(times),
        end_timestamp: fc.option(times),
        variables: fc.option(fc.constant('{"omega":[1.5,1e300],"nested":{"deep":null}}')),
        errors: fc.option(fc.array(fc.constantFrom('timeout', 'out of range'), { maxLength: 2 })),
      }),
      { minLength: count, maxLength: count },
    )
    .map((rows) => {
      const orders = new Map<string, number>();
      return rows.map((row, seq) => {
        const creation_order = orders.get(row.batch_id) ?? 0;
        orders.set(row.batch_id, creation_order + 1);
        return {
          ...row,
          user_id: userId,
          seq,
          rev: 1,
          written_at: {},
          creation_order,
          created_at: createdAt(seq),
          results_key: null,
        };
      });
    });

/**
 * The batches with the right numbers of jobs, the first of them open and running, the second
 * closed.
 */
export function countJobs<Row extends { readonly id: string }>(
  batches: readonly Row[],
  jobs: readonly { readonly batch_id: string; readonly status: JobStatus }[],
) {
  return batches.map((batch, at) => {
    const own = jobs.filter(({ batch_id }) => batch_id === batch.id);
    const counts = JobStatus.options.map((status) => [status, own.filter((job) => job.status === status).length]);
    return {
      ...batch,
      ...(at === 0 && { open: true, status: 'RUNNING' as const }),
      ...(at === 1 && { open: false }),
      jobs_count: own.length,
      jobs_count_per_status: Object.fromEntries(counts) as Record<JobStatus, number>,
    };
  });
}
