import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { readByRole } from '../../schemas/claims.ts';
import { JobPath } from '../../schemas/job.ts';

const linkExample =
  'https://results.s3.eu-west-3.amazonaws.com/results/0f8d1c52/22afe093.json?X-Amz-Signature=5d6a3f0e';

export const operation = {
  tag: 'Jobs',
  summary: 'Get a link to the results of a job',
  description: `A link that downloads the results as JSON, without a token, for 300 s; null while the job has no results. If the
results were never uploaded, the link answers 403. If they were erased or have expired, the call answers 404 with its own reason. ${readByRole}`,
  path: JobPath,
  success: {
    status: 200,
    data: () =>
      z
        .strictObject({
          results_link: z.nullable(z.string().register(z.globalRegistry, { format: 'uri', examples: [linkExample] })),
        })
        .register(z.globalRegistry, {
          id: 'ResultsLink',
          fields: { results_link: 'Where to download the results; null if there are none.' },
        }),
  },
  errors: ['not_found', 'results_erased', 'results_expired'],
} satisfies Operation;
