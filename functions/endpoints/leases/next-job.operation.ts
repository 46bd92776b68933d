import type { Operation } from '../../http/operation.ts';
import { deviceOfLease, LeasePath, NextJob } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Get the next job',
  description:
    'The job to run under the lease; it is started if it was not. The lease is extended by 60 s. An open batch becomes TIMED_OUT after waiting 120 s for jobs, and goes behind the others after an hour at the device, unless the device or an operator has set other times. `done`: claim another batch. 409: the lease is lost.',
  path: LeasePath,
  device: deviceOfLease,
  success: { status: 200, data: NextJob },
  errors: ['lease_lost'],
} satisfies Operation;
