import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { SQSClientConfig } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';

const client = '../../functions/data/dynamodb/client.ts';
const patience = 600_000;

/** Functions that are loaded from now on wait for DynamoDB, S3 and SQS until they answer. */
export function usePatientClients() {
  vi.doMock(client, async (original) => {
    const { documentClient } = await original<typeof import('../../functions/data/dynamodb/client.ts')>();
    return { documentClient: () => documentClient(patience) };
  });
  const requestHandler = { requestTimeout: patience, socketTimeout: patience };
  vi.doMock('@aws-sdk/client-s3', async (original) => {
    const sdk = await original<typeof import('@aws-sdk/client-s3')>();
    class S3Client extends sdk.S3Client {
      constructor(config: S3ClientConfig) {
        super({ ...config, requestHandler });
      }
    }
    return { ...sdk, S3Client };
  });
  vi.doMock('@aws-sdk/client-sqs', async (original) => {
    const sdk = await original<typeof import('@aws-sdk/client-sqs')>();
    class SQSClient extends sdk.SQSClient {
      constructor(config: SQSClientConfig) {
        super({ ...config, requestHandler });
      }
    }
    return { ...sdk, SQSClient };
  });
}

/** Functions that are loaded from now on give DynamoDB up as they do on AWS. */
export function useOwnTimeouts() {
  vi.doUnmock(client);
}

/** Functions that are loaded from now on give S3 up as they do on AWS. */
export function useOwnTimeoutsOfS3() {
  vi.doUnmock('@aws-sdk/client-s3');
}
