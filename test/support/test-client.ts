import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { loggerWithoutInfo } from '../../functions/data/dynamodb/client.ts';

/** A client for DynamoDB Local, which accepts any credentials. */
export function testClient(endpoint: string): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(
    new DynamoDBClient({
      logger: loggerWithoutInfo,
      endpoint,
      region: 'eu-west-3',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    }),
  );
}
