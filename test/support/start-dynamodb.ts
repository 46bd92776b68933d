/** One DynamoDB Local for all integration tests; AWS_ENDPOINT_URL_DYNAMODB, when set, is used instead. */

import type { TestProject } from 'vitest/node';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbEndpoint: string;
  }
}

export async function setup(project: TestProject) {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (given !== undefined) {
    project.provide('dynamodbEndpoint', given);
    return;
  }
  const local = await startDynamoDbLocal();
  project.provide('dynamodbEndpoint', local.endpoint);
  return local.stop;
}
