import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * The document client that every repository is given, configured by the environment (region, credentials,
 * `AWS_ENDPOINT_URL_DYNAMODB`). A call takes at most 3 attempts of 1 s each, so that no sequence of calls that a request
 * needs outlives the function's time limit.
 */
export function documentClient(): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
  });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
