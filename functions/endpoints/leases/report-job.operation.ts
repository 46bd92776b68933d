import type { Operation } from '../../http/operation.ts';
import { jsonBodyWithText } from '../../schemas/json-body.ts';
import { deviceOfLease, LeaseJobPath, NextJob, ReportRequest } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Report the end of a job',
  description: [
    'Ends the running job, and starts the next one of its batch. `results_document` carries results of up to 1 MB; larger ones are uploaded by a link, and reported with `results`.',
    '`job` null and `done` true: claim another batch;',
    'this one has ended, or returned to the queue because an operator paused the device.',
    '`job` null and `done` false: the batch is open and waits for jobs; ask for the next one after `retry_after` seconds.',
    'A job that has run for too long becomes ERROR, whatever is reported. A repeated report gets the same answer.',
    '409: the lease is lost, or the job has ended in another way, such as by cancellation. Then nothing changes: ask for the next job.',
  ].join(' '),
  path: LeaseJobPath,
  device: deviceOfLease,
  body: jsonBodyWithText(ReportRequest, 'results_document'),
  success: { status: 200, data: NextJob },
  errors: ['not_found', 'lease_lost', 'job_ended', 'job_not_leased'],
} satisfies Operation;
