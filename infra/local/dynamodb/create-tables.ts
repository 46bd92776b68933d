import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { owner } from '../iam/owner.ts';
import type { TableDefinition } from '../template/deployment.ts';

/**
 * Creates the tables that are not there yet, as the template describes them. A table of an
 * earlier release gets the stream that it lacks.
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
        return addStream(client, create);
      }
      if (timeToLive !== undefined) {
        await client.send(
          new UpdateTimeToLiveCommand({ TableName: create.TableName, TimeToLiveSpecification: timeToLive }),
        );
      }
    }),
  );
  client.destroy();
}

async function addStream(client: DynamoDBClient, { TableName, StreamSpecification }: TableDefinition['create']) {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (StreamSpecification === undefined || Table?.StreamSpecification?.StreamEnabled === true) return;
  await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
}
