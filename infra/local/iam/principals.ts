import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { owner } from '../demo/accounts.ts';
import type { FunctionDefinition } from '../template/deployment.ts';
import { type AccessRequest, isAllowed } from './policy.ts';
import type { Credentials } from './sigv4.ts';

/** Someone who may call the local services: a function in its role, or the owner. */
export interface Principal {
  readonly arn: string;
  readonly credentials: Credentials;
  mayDo(request: AccessRequest): boolean;
}

/** All of them, by access key id. */
export type Principals = ReadonlyMap<string, Principal>;

/** The function in its role: with keys of its own, so that a request with them is known as its. */
export function functionPrincipal(definition: FunctionDefinition): Principal {
  return {
    arn: `${definition.roleArn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/${definition.name}`,
    credentials: {
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(20).toString('hex'),
      sessionToken: randomBytes(24).toString('base64url'),
    },
    mayDo: (request) => isAllowed(definition.statements, request),
  };
}

export function ownerPrincipal(accountId: string): Principal {
  return { arn: `arn:aws:iam::${accountId}:root`, credentials: owner, mayDo: () => true };
}

/** Who signed the request, by the key id in its Authorization header; the signature itself is not looked at. */
export function findPrincipal(principals: Principals, headers: IncomingHttpHeaders): Principal | undefined {
  const id = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1];
  return id === undefined ? undefined : principals.get(id);
}
