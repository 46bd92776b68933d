import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Batch } from '../schemas/batch.ts';
import type { BatchListQuery } from '../schemas/batch-list-query.ts';
import type { TableNames } from '../tables.ts';
import type { Page } from './page.ts';

export function batchRepository(_client: DynamoDBDocumentClient, _tables: TableNames) {
  return {
    async list(_userId: string, _query: BatchListQuery): Promise<Page<Batch>> {
      throw new Error('The list engine is not there yet.');
    },
  };
}
