import type { IncomingHttpHeaders } from 'node:http';
import type { ResourceDefinition } from '../template/api-definition.ts';

/** A request as the gateway knows it. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly extendedRequestId: string;
  readonly method: string;
  /** The stage in front of the path, `/core-fast`, if it was in the URL; otherwise empty. */
  readonly stagePath: string;
  /** Behind the stage, still encoded. */
  readonly path: string;
  /** Decoded, in the order of the URL. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly sourceIp: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Aborted once its client waits no more. */
  readonly gone: AbortSignal;
  /** Undefined when no resource has this path. */
  readonly resource: ResourceDefinition | undefined;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** What functions see of the caller: `principalId` and the authorizer's own values, as text. */
export type AuthorizerContext = Readonly<Record<string, string | number>>;
