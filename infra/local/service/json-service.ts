import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccessRequest } from '../iam/policy.ts';
import { findPrincipal, type Principals } from '../iam/principals.ts';
import { type HttpServer, readBody, startHttpServer } from './http-server.ts';
import { Refusal } from './refusal.ts';

/** A call of a service that speaks AWS's JSON protocol. */
export interface JsonCall {
  readonly operation: string;
  readonly body: Buffer;
  /** Throws Refusal unless the caller's role allows it. */
  requireAccess(access: AccessRequest): void;
}

interface JsonServiceOptions {
  readonly principals: Principals;
  readonly maxRequestBytes: number;
  /** The answer of 200. Undefined: the call has been answered. Refusals become answers. */
  readonly perform: (
    call: JsonCall,
    request: IncomingMessage,
    response: ServerResponse,
  ) => object | Promise<object | undefined>;
}

/** Serves AWS's JSON protocol, which DynamoDB, SQS and Secrets Manager speak, on any free port. */
export function startJsonService({ principals, maxRequestBytes, perform }: JsonServiceOptions): Promise<HttpServer> {
  return startHttpServer(0, async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
    try {
      const result = await perform(await readCall(request, principals, maxRequestBytes), request, response);
      if (result !== undefined) answer(200, result);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, status } = error;
      answer(status, { __type: code, message, Message: message });
    }
  });
}

async function readCall(request: IncomingMessage, principals: Principals, maxRequestBytes: number): Promise<JsonCall> {
  const body = await readBody(request, maxRequestBytes);
  if (body === undefined) throw new Refusal('ValidationException', 'The request is too large.');
  const principal = findPrincipal(principals, request.headers);
  if (principal === undefined) {
    throw new Refusal('UnrecognizedClientException', 'The security token included in the request is invalid.');
  }
  return {
    operation: String(request.headers['x-amz-target']).split('.')[1] ?? '',
    body,
    requireAccess(access) {
      if (principal.mayDo(access)) return;
      const { action, resource } = access;
      const message = `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
      throw new Refusal('AccessDeniedException', message);
    },
  };
}
