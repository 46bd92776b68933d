import * as z from 'zod/mini';
import { idSpelling } from './id-and-time-texts.ts';
import { IdsFilter } from './query-parameters.ts';
import { Uuid } from './values.ts';

/** What devices upload for a job. The service hands it on as it is, whatever it holds besides. */
const ResultsDocument = z
  .record(z.string(), z.unknown())
  .register(z.globalRegistry, { id: 'ResultsDocument', examples: [{ counter: { '000': 8, '001': 3 } }] });

/** Which jobs of a batch have their results read. */
export const ResultsQuery = z.object({ job_id: IdsFilter }).register(z.globalRegistry, {
  fields: { job_id: `Only the results of these jobs. Ids of other batches’ jobs are ignored. ${idSpelling}` },
});

/** Documents by the ids of their jobs. */
export const ResultsOfJobs = z.record(Uuid, ResultsDocument).register(z.globalRegistry, {
  id: 'ResultsOfJobs',
  examples: [{ '22afe093-6443-4460-bab2-60b21ccf278f': { counter: { '000': 8, '001': 3 } } }],
});
