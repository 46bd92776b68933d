import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';

type Attributes = Readonly<Record<string, unknown>>;

/** Gives a stored item these attributes, by hand. One that is undefined is removed. */
export async function changeItem(
  client: DynamoDBDocumentClient,
  TableName: string,
  { Key, attributes }: { readonly Key: Attributes; readonly attributes: Attributes },
): Promise<void> {
  const all = Object.entries(attributes);
  const given = all.filter(([, value]) => value !== undefined);
  const set = given.map(([name]) => `#${name} = :${name}`).join();
  const removed = all.flatMap(([name, value]) => (value === undefined ? `#${name}` : [])).join();
  await client.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: `${set && `SET ${set} `}${removed && `REMOVE ${removed}`}`,
      ExpressionAttributeNames: Object.fromEntries(all.map(([name]) => [`#${name}`, name])),
      ...(set && { ExpressionAttributeValues: Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])) }),
    }),
  );
}
