/** The two people of the local stack, and the keys of its owner. */

import type { Credentials } from '../iam/sigv4.ts';

export interface Account {
  readonly username: string;
  readonly password: string;
  /** The `sub` of the account's tokens. */
  readonly userId: string;
}

export const accounts = [
  { username: 'demo', password: 'demo', userId: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10' },
  { username: 'guest', password: 'guest', userId: '7c3a9b64-85f2-4e07-b1d8-2f90c6e5a381' },
] as const satisfies readonly Account[];

/** May do everything, as the account's owner on AWS; DynamoDB Local knows no other keys. */
export const owner: Credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'local',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
};
