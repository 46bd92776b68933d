import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
  type TimeToLiveSpecification,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { SetupProblem } from '../../commands/setup-problem.ts';
import { owner } from '../iam/principals.ts';
import type { TableDefinition } from '../template/deployment.ts';

/**
 * Creates the tables that are not there yet, as the template describes them. A table of an
 * earlier release, or of an interrupted start, gets the stream and the time to live that it lacks.
 * Throws SetupProblem for a table whose keys or indexes are others.
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
        await completeTable(client, create);
      }
      if (timeToLive !== undefined) await enableTimeToLive(client, create.TableName, timeToLive);
    }),
  );
  client.destroy();
}

async function completeTable(client: DynamoDBClient, create: TableDefinition['create']) {
  const { TableName, StreamSpecification } = create;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (!isDeepStrictEqual(describeKeys(Table), describeKeys(create))) {
    throw new SetupProblem(
      `The table ${TableName} has other keys or indexes than this version: another version made it. Use another folder or DynamoDB.`,
    );
  }
  if (StreamSpecification === undefined || Table?.StreamSpecification?.StreamEnabled === true) return;
  await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
}

function describeKeys(table: TableDescription | CreateTableCommandInput = {}) {
  const indexes = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema }) => [IndexName, KeySchema]);
  return { key: table.KeySchema, indexes: Object.fromEntries(indexes) };
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
