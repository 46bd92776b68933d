/** Someone who may ask the local issuer for tokens. */
export interface Account {
  readonly username: string;
  readonly password: string;
  /** The `sub` of the account's tokens. */
  readonly userId: string;
  /** What its tokens allow; by default what a person's tokens allow. */
  readonly scope?: string;
}

/** The two accounts of the demo data. */
export const accounts = [
  { username: 'demo', password: 'demo', userId: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10' },
  { username: 'guest', password: 'guest', userId: '7c3a9b64-85f2-4e07-b1d8-2f90c6e5a381' },
] as const satisfies readonly Account[];

/** Who runs the machines: an operator, who may have batches as well. */
export const operatorAccount = {
  username: 'operator',
  password: 'operator',
  userId: 'operator',
  scope: 'openid profile email operator',
} as const satisfies Account;

/** The machines that run the jobs: it may act for devices of every type, and owns nothing. */
export const deviceAccount = {
  username: 'device',
  password: 'device',
  userId: 'device',
  scope: 'device:*',
} as const satisfies Account;
