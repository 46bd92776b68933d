import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
  type TimeToLiveSpecification,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { SetupProblem } from '../../commands/setup-problem.ts';
import { owner } from '../iam/principals.ts';
import type { TableDefinition } from '../template/deployment.ts';

/**
 * Creates the tables that are not there yet, as the template describes them. A table of an
 * interrupted start gets the time to live that it lacks. Throws SetupProblem for a table with other
 * keys, indexes or another stream.
 */
export async function createTables(
  endpoint: string,
  region: string,
  tables: readonly TableDefinition[],
): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region, credentials: owner });
  await Promise.all(
    tables.map(async ({ create, timeToLive }) => {
      try {
        await client.send(new CreateTableCommand(create));
      } catch (error) {
        if (!(error instanceof ResourceInUseException)) throw error;
        await requireSame(client, create);
      }
      if (timeToLive !== undefined) await enableTimeToLive(client, create.TableName, timeToLive);
    }),
  );
  client.destroy();
}

async function requireSame(client: DynamoDBClient, create: TableDefinition['create']) {
  const { TableName } = create;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (isDeepStrictEqual(summarize(Table), summarize(create))) return;
  throw new SetupProblem(
    `The table ${TableName} has other keys, indexes or another stream than this version: another version made it. Use another folder or DynamoDB.`,
  );
}

function summarize(table: TableDescription | CreateTableCommandInput = {}) {
  const indexes = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema }) => [IndexName, KeySchema]);
  return { key: table.KeySchema, indexes: Object.fromEntries(indexes), stream: table.StreamSpecification };
}

async function enableTimeToLive(
  client: DynamoDBClient,
  TableName: string,
  TimeToLiveSpecification: TimeToLiveSpecification,
) {
  try {
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  } catch (error) {
    // It is enabled already.
    if ((error as Error).name !== 'ValidationException') throw error;
  }
}
