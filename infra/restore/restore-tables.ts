import {
  DescribeTableCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
  RestoreTableToPointInTimeCommand,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { stackOutputs } from '../commands/aws-cli.ts';
import { restoredName } from '../stack/storage.ts';

/** DynamoDB says 20 minutes for most tables, and hours for large ones. */
const maxRestoreSeconds = 86_400;

interface Restoration {
  readonly source: string;
  readonly target: string;
  readonly description: TableDescription;
}

/**
 * Makes new tables as all of the stack's were at that second, ready to be imported into the stack.
 * It can be repeated: what is there is left as it is, and completed. Throws what DynamoDB throws,
 * InvalidRestoreTimeException for a second that it cannot go back to.
 */
export async function restoreTables(client: DynamoDBClient, stack: string, time: Date) {
  const restored = time.toISOString().replace(/[-:]|\.000/g, '');
  const outputs = await stackOutputs(stack);
  const restorations = Object.entries<TableDescription>(tables).map(([name, description]) => ({
    source: outputs.get(`${name}Table`)!,
    target: restoredName(stack, name, restored),
    description,
  }));
  for (const each of restorations) await startRestoring(client, each, time);
  for (const each of restorations) await completeTable(client, each);
  const stage = stack.replace(/^.*-/, '');
  console.log(`
Write it into settings.${stage} in cdk.json, and commit it: "tables": "${restored}"
Then: npx cdk deploy -c stage=${stage} --import-existing-resources
Then: npm run repair -- --fix --stack ${stack} --tables ${restored}`);
}

async function startRestoring(client: DynamoDBClient, { source, target }: Restoration, time: Date) {
  try {
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: target,
        RestoreDateTime: time,
      }),
    );
    console.log(`Restoring ${target}`);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TableAlreadyExistsException')) throw error;
    console.log(`${target} is there already`);
  }
}

/** Gives it what a restored table lacks: stream, expiry, recovery, protection, tags. */
async function completeTable(client: DynamoDBClient, { source, target, description }: Restoration) {
  await waitUntilTableExists({ client, maxWaitTime: maxRestoreSeconds, maxDelay: 20 }, { TableName: target });
  const { Table: old } = await client.send(new DescribeTableCommand({ TableName: source }));
  const { Table: now } = await client.send(new DescribeTableCommand({ TableName: target }));
  const TableName = target;
  if (description.stream !== undefined && now?.StreamSpecification?.StreamEnabled !== true) {
    const StreamSpecification = { StreamEnabled: true, StreamViewType: description.stream.view };
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
    await waitUntilTableExists({ client, maxWaitTime: maxRestoreSeconds, maxDelay: 20 }, { TableName });
  }
  const DeletionProtectionEnabled = old?.DeletionProtectionEnabled ?? false;
  if (now?.DeletionProtectionEnabled !== DeletionProtectionEnabled) {
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled }));
    await waitUntilTableExists({ client, maxWaitTime: maxRestoreSeconds, maxDelay: 20 }, { TableName });
  }
  if (description.timeToLive !== undefined) await expireItems(client, TableName, description.timeToLive);
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
  const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: old!.TableArn }));
  // CloudFormation writes those with this prefix itself.
  const own = Tags.filter(({ Key }) => !Key?.startsWith('aws:'));
  if (own.length > 0) await client.send(new TagResourceCommand({ ResourceArn: now!.TableArn, Tags: own }));
  console.log(`Complete: ${target}`);
}

async function expireItems(client: DynamoDBClient, TableName: string, AttributeName: string) {
  try {
    const TimeToLiveSpecification = { Enabled: true, AttributeName };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  } catch (error) {
    if (!(error instanceof Error && /already enabled/.test(error.message))) throw error;
  }
}
