import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

export interface ResultsBucket {
  readonly name: string;
  readonly client: S3Client;
}

/**
 * The bucket of this name. It is read without the checksum mode that the SDK adds to every GET by
 * default: a plain download cannot use it. The client is made when it is first needed.
 */
export function resultsBucket(name: string, config: S3ClientConfig = {}): ResultsBucket {
  let client: S3Client | undefined;
  return {
    name,
    get client() {
      client ??= new S3Client({
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        ...config,
      });
      return client;
    },
  };
}

/**
 * For functions that wait for results, or for S3 to take them: a call takes at most 3 attempts of
 * 2 s each; so does the content of an object that stops on its way.
 */
export const boundedCalls: S3ClientConfig = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 2_000,
    throwOnRequestTimeout: true,
    socketTimeout: 2_000,
  },
};
