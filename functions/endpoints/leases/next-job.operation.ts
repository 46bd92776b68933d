import type { Operation } from '../../http/operation.ts';
import { deviceOfLease, LeasePath, NextJob } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Get the next job',
  description:
    'The job to run under the lease, started where it was not; the lease lives for another 60 s. An open batch that waits for jobs for 120 s is TIMED_OUT, and after an hour at the device it goes behind the others, unless the device or an operator has set other times. `done`: claim another batch, also where an operator lets the device start nothing. 409: the lease is lost.',
  path: LeasePath,
  device: deviceOfLease,
  success: { status: 200, data: () => NextJob },
  errors: ['lease_lost'],
} satisfies Operation;
