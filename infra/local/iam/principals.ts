import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type AccessRequest, isAllowed, type PolicyStatement } from './policy.ts';
import type { Credentials } from './sigv4.ts';

/** Someone who may call the local services: a function in its role, or the account's owner. */
export interface Principal {
  readonly arn: string;
  readonly credentials: Credentials;
  mayDo(request: AccessRequest): boolean;
}

/** All of them, by access key id. */
export type Principals = ReadonlyMap<string, Principal>;

/** The keys of the account's owner, who may do everything. DynamoDB Local knows no others. */
export const owner: Credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'local',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'local',
};

/** A session of the role with new keys, so that requests made with them are known as its. */
export function assumeRole(roleArn: string, sessionName: string, statements: readonly PolicyStatement[]): Principal {
  return {
    arn: `${roleArn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/${sessionName}`,
    credentials: {
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(20).toString('hex'),
      sessionToken: randomBytes(24).toString('base64url'),
    },
    mayDo: (request) => isAllowed(statements, request),
  };
}

export function ownerPrincipal(accountId: string): Principal {
  return { arn: `arn:aws:iam::${accountId}:root`, credentials: owner, mayDo: () => true };
}

/**
 * Who signed the request, by the key id in its Authorization header; the signature itself is not
 * checked.
 */
export function findPrincipal(principals: Principals, headers: IncomingHttpHeaders): Principal | undefined {
  const id = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1];
  return id === undefined ? undefined : principals.get(id);
}
