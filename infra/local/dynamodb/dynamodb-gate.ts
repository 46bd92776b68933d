import { Agent, type IncomingMessage, request as requestUpstream, type ServerResponse } from 'node:http';
import type { Principals } from '../iam/principals.ts';
import { owner } from '../iam/principals.ts';
import type { HttpServer } from '../service/http-server.ts';
import { startJsonService } from '../service/json-service.ts';
import type { AccountContext } from '../template/resource-types.ts';

/** DynamoDB's own. */
const maxRequestBytes = 16 * 1024 * 1024;

/** The fields that name tables, in all operations that functions send. */
interface DynamoDbRequest {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
}

/** What functions call that writes nothing. */
const reads = new Set(['GetItem', 'BatchGetItem', 'Query']);

export interface DynamoDbGate extends HttpServer {
  /** How many calls that may write it has passed on so far. */
  writes(): number;
}

/**
 * The DynamoDB endpoint that functions are given. It passes on to `endpoint` what the caller's role
 * allows. It answers everything else with AccessDeniedException, as DynamoDB does. DynamoDB Local
 * itself allows everyone everything.
 */
export async function startDynamoDbGate(
  endpoint: string,
  principals: Principals,
  account: AccountContext,
): Promise<DynamoDbGate> {
  let writes = 0;
  const agent = new Agent({ keepAlive: true });
  const target = new URL(endpoint);
  const server = await startJsonService({
    principals,
    maxRequestBytes,
    async perform({ operation, body, requireAccess }, request, response) {
      for (const access of neededAccess(operation, JSON.parse(body.toString()), account)) requireAccess(access);
      await forward(request, body, response);
      if (!reads.has(operation)) writes++;
      return undefined;
    },
  });
  return {
    url: server.url,
    writes: () => writes,
    stop: async () => {
      await server.stop();
      agent.destroy();
    },
  };

  /**
   * When the connection to DynamoDB breaks, the caller's connection is broken too, so that the
   * caller sees it.
   */
  function forward(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const upstream = requestUpstream(
        {
          agent,
          host: target.hostname,
          port: target.port,
          method: request.method,
          path: request.url,
          // All callers get the same key: without -sharedDb, DynamoDB Local keeps a database for
          // each key.
          headers: {
            ...request.headers,
            host: target.host,
            authorization: request.headers.authorization?.replace(
              /Credential=[^/]+\//,
              `Credential=${owner.accessKeyId}/`,
            ),
          },
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
          answer.on('error', () => response.destroy());
        },
      );
      upstream.on('error', () => response.destroy());
      response.on('close', () => {
        upstream.destroy();
        resolve();
      });
      upstream.end(body);
    });
  }
}

/**
 * IAM's actions and resources for a request. A transaction or a batch needs one for each of its
 * parts.
 */
function neededAccess(operation: string, body: DynamoDbRequest, account: AccountContext) {
  const table = (name: string) =>
    name.startsWith('arn:') ? name : `arn:aws:dynamodb:${account.region}:${account.accountId}:table/${name}`;
  const access = (action: string, name: string) => ({ action: `dynamodb:${action}`, resource: table(name) });
  if (body.TransactItems !== undefined) {
    const actions: Readonly<Record<string, string>> = {
      Put: 'PutItem',
      Update: 'UpdateItem',
      Delete: 'DeleteItem',
      ConditionCheck: 'ConditionCheckItem',
      Get: 'GetItem',
    };
    return body.TransactItems.flatMap((item) =>
      Object.entries(item).map(([part, { TableName }]) => access(actions[part] ?? part, TableName)),
    );
  }
  if (body.RequestItems !== undefined) return Object.keys(body.RequestItems).map((name) => access(operation, name));
  if (body.TableName === undefined) return [{ action: `dynamodb:${operation}`, resource: '*' }];
  const index = body.IndexName === undefined ? '' : `/index/${body.IndexName}`;
  return [access(operation, body.TableName + index)];
}
