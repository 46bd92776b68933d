import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { owner } from '../iam/owner.ts';
import type { TableDefinition } from '../template/deployment.ts';

/** Creates the tables that are not there yet, as the template describes them. */
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
        if (error instanceof ResourceInUseException) return;
        throw error;
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
