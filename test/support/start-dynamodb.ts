/**
 * DynamoDB Local for all integration tests: one for every two processors, four at most, since each
 * carries out one request at a time. AWS_ENDPOINT_URL_DYNAMODB, when set, is used instead.
 */

import { availableParallelism } from 'node:os';
import type { TestProject } from 'vitest/node';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbEndpoints: readonly string[];
  }
}

export async function setup(project: TestProject) {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (given !== undefined) {
    project.provide('dynamodbEndpoints', [given]);
    return;
  }
  const count = Math.min(4, Math.ceil(availableParallelism() / 2));
  const started = await Promise.all(Array.from({ length: count }, () => startDynamoDbLocal({ isBusy: true })));
  project.provide(
    'dynamodbEndpoints',
    started.map(({ endpoint }) => endpoint),
  );
  return async () => void (await Promise.all(started.map(({ stop }) => stop())));
}
