import type { Operation } from '../../http/operation.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { deviceOfLease, LeaseJobPath, ResultsRequest, UploadLink } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Get a link for the upload of results',
  description: `For results above 1 MB: a report carries smaller ones itself. A link for one PUT of the running job’s
results, with these headers, within 300 s. It takes only the document of this length and SHA-256. Afterwards report the job with \`results\`: the report refers to the document of the last requested link.
Uploads by other links never change reported results.`,
  path: LeaseJobPath,
  device: deviceOfLease,
  body: jsonBody(ResultsRequest),
  success: { status: 200, data: UploadLink },
  errors: ['not_found', 'lease_lost', 'job_not_leased'],
} satisfies Operation;
