import * as z from 'zod';
import { UuidText } from './query-values.ts';

/** Parameters of a path that names a job. */
export const JobPath = z.object({ job_id: UuidText.describe('Id of the job.') });
