import type { Operation } from '../../http/operation.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { deviceOfLease, LeaseJobPath, ResultsRequest, UploadLink } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Get a link for the upload of results',
  description: `A link to PUT the results of the running job to, with these headers, within 300 s. It takes only the document of this length and
SHA-256. Report the job with \`results\` afterwards: the report means the document of the last link that was asked for. What was reported
never changes, whenever another link is used.`,
  path: LeaseJobPath,
  device: deviceOfLease,
  body: jsonBody(ResultsRequest),
  success: { status: 200, data: () => UploadLink },
  errors: ['not_found', 'lease_lost', 'job_not_leased'],
} satisfies Operation;
