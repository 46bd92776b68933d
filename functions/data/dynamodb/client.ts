import { type ConsumedCapacity, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { countInRequestLog } from '../../runtime/request-log.ts';

/**
 * The document client that every repository is given, configured by the environment (region,
 * credentials, `AWS_ENDPOINT_URL_DYNAMODB`). A call takes at most 3 attempts of `timeout` ms each,
 * so that no sequence of calls that a request needs outlives the function's time limit. The
 * capacity that calls consume is counted in the request's log line.
 */
export function documentClient(timeout = 1_000): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    logger: loggerWithoutInfo,
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: timeout,
      throwOnRequestTimeout: true,
      socketTimeout: timeout,
    },
  });
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
      const metric = reads.has(String(context.commandName)) ? 'ReadUnits' : 'WriteUnits';
      countInRequestLog({ [metric]: consumedUnits(answer.output as Consumption), calls: 1 });
      return answer;
    },
    { step: 'initialize', name: 'countConsumedCapacity' },
  );
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/**
 * The SDK copies every answer for a logger that has `info`, also for the silent one that it has by
 * default.
 */
const loggerWithoutInfo = { trace() {}, debug() {}, warn() {}, error() {} } as Logger;
type Logger = NonNullable<DynamoDBClientConfig['logger']>;

const reads = new Set(['GetItemCommand', 'BatchGetItemCommand', 'QueryCommand']);

/** What an answer says of its cost. Some commands report one table, others several. */
interface Consumption {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
}

function consumedUnits({ ConsumedCapacity = [] }: Consumption): number {
  return [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
}
