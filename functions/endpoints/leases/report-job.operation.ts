import type { Operation } from '../../http/operation.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { deviceOfLease, LeaseJobPath, NextJob, ReportRequest } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Report the end of a job',
  description: [
    'Ends the running job, and starts the next one of its batch. `job` null and `done` true: the batch has ended, or an operator lets the',
    'device start nothing and the batch is back in its place: claim another one. A job that has run for longer than it may is ERROR, whatever is reported.',
    '`job` null and `done` false: the batch is open and waits for jobs; ask for the next one after `retry_after` seconds.',
    'A repeated report answers the same. 409: the lease is lost, or the job has ended in another way; it may have been canceled. Then nothing',
    'is changed: ask for the next job.',
  ].join(' '),
  path: LeaseJobPath,
  device: deviceOfLease,
  body: jsonBody(ReportRequest),
  success: { status: 200, data: () => NextJob },
  errors: ['not_found', 'lease_lost', 'job_ended', 'job_not_leased'],
} satisfies Operation;
