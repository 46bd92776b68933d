import type { Credentials } from './sigv4.ts';

/** The keys of the account's owner, who may do everything. DynamoDB Local knows no others. */
export const owner: Credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'local',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
};
