import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { JobPath } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get a link to the results of a job',
  description:
    'A link that downloads the results as JSON, without a token, for some minutes; null while the job has no results.',
  path: JobPath,
  success: {
    status: 200,
    data: () =>
      z.strictObject({
        results_link: z.nullable(z.string()).register(z.globalRegistry, {
          format: 'uri',
          examples: ['https://results.s3.eu-west-3.amazonaws.com/results/…?X-Amz-Signature=…'],
        }),
      }),
  },
  errors: [404],
} satisfies Operation;
