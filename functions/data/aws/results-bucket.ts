import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

export interface ResultsBucket {
  readonly name: string;
  readonly client: S3Client;
}

/**
 * The bucket of this name, for links and erasures: functions that read and write objects load less
 * by bucketObjects. It is read without the checksum mode that the SDK adds to every GET by
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
