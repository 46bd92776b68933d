/**
 * A process of its own for one query of batches: prints how many bytes its peak of memory rises by the query, over
 * what the same process needs for a page of one row. Its argument is a QueryOfOwner as JSON.
 */

import { listBatches } from '../../functions/data/batches.ts';
import { documentClient } from '../../functions/data/dynamodb/client.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { TableNames } from '../../functions/tables.ts';
import { defaults } from './list-cases.ts';

/** The endpoint, region and credentials come from the environment. */
export interface QueryOfOwner {
  readonly tables: TableNames;
  readonly userId: string;
  readonly query: BatchListQuery;
}

const { tables, userId, query }: QueryOfOwner = JSON.parse(process.argv[2] ?? '');
const list = listBatches(documentClient(60_000), tables);
await list(userId, { ...defaults, limit: 1 });
const before = process.resourceUsage().maxRSS;
await list(userId, query);
console.log((process.resourceUsage().maxRSS - before) * 1_024);
