import * as z from 'zod/mini';
import { pageParameters } from './query-parameters.ts';

/** Parameters of a list that has no filters. */
export const PageQuery = z
  .object(pageParameters)
  .register(z.globalRegistry, { fields: { limit: 'Page size.', offset: 'Number of items to skip.' } });
export type PageQuery = z.output<typeof PageQuery>;
