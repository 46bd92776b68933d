import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Job } from '../schemas/job.ts';
import type { JobListQuery } from '../schemas/job-list-query.ts';
import type { TableNames } from '../tables.ts';
import type { Page } from './page.ts';

export function jobRepository(_client: DynamoDBDocumentClient, _tables: TableNames) {
  return {
    async list(_userId: string, _query: JobListQuery): Promise<Page<Job>> {
      throw new Error('The list engine is not there yet.');
    },
  };
}
