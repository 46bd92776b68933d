import { CreateTableCommand, type CreateTableCommandInput, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type TableDescription, type TableName, type TableNames, tables } from '../../functions/tables.ts';

/** Creates every table of tables.ts, named `prefix`, its name and `suffix`. Returns these names. */
export async function createTables(client: DynamoDBClient, prefix: string, suffix = ''): Promise<TableNames> {
  const names = await Promise.all(
    Object.entries<TableDescription>(tables).map(async ([name, table]) => {
      const physicalName = prefix + name + suffix;
      await client.send(new CreateTableCommand(createTableInput(physicalName, table)));
      return [name, physicalName] as const;
    }),
  );
  return Object.fromEntries(names) as Record<TableName, string>;
}

function createTableInput(physicalName: string, table: TableDescription): CreateTableCommandInput {
  const indexes = Object.entries(table.indexes).map(([name, keys]) => ({
    IndexName: name,
    KeySchema: keySchema(keys.partitionKeys, keys.sortKeys),
    Projection: { ProjectionType: 'ALL' as const },
  }));
  return {
    TableName: physicalName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: Object.entries(table.keyTypes).map(([name, type]) => ({
      AttributeName: name,
      AttributeType: type,
    })),
    KeySchema: keySchema([table.partitionKey], [table.sortKey]),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
  };
}

function keySchema(partitionKeys: readonly string[], sortKeys: readonly string[]) {
  return [
    ...partitionKeys.map((name) => ({ AttributeName: name, KeyType: 'HASH' as const })),
    ...sortKeys.map((name) => ({ AttributeName: name, KeyType: 'RANGE' as const })),
  ];
}
