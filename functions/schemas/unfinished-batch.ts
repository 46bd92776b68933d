import * as z from 'zod/mini';
import { Uuid } from './values.ts';

/** A message about a batch that is created or canceled in several transactions. */
export const UnfinishedBatch = z.object({ user_id: z.string(), batch_id: Uuid });
export type UnfinishedBatch = z.infer<typeof UnfinishedBatch>;
