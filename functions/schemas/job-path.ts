import * as z from 'zod/mini';
import { UuidText } from './query-values.ts';

/** Parameters of a path that names a job. */
export const JobPath = z.object({ job_id: UuidText });

/** What the OpenAPI document says of them. */
export const jobPathDescriptions = { job_id: 'Id of the job.' };
