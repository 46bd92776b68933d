import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * AWS refuses more write units a second on one partition key, whatever was saved before: burst
 * capacity does not help there
 * (repost.aws/knowledge-center/dynamodb-spiky-workloads-short-intervals).
 */
export const maxUnitsPerSecond = 1_000;

/**
 * The write units that a transaction of one owner takes on the partition key that it takes most of:
 * its items of one table share a key. A transaction takes 2 units for each started KB of an item.
 * Indexes need no count: an entry takes 1 unit for each KB, 2 where its key changes, so the table's
 * own key is always the hottest. A deleted item counts as 1 KB, an updated one as what is set.
 */
export function unitsOnHottestKey(writes: readonly Write[]): number {
  const units = new Map<string | undefined, number>();
  for (const { Put, Update, Delete, ConditionCheck } of writes) {
    const table = (Put ?? Update ?? Delete ?? ConditionCheck)?.TableName;
    const bytes = attributeBytes({ ...Put?.Item, ...Update?.Key, ...Update?.ExpressionAttributeValues });
    units.set(table, (units.get(table) ?? 0) + 2 * Math.max(1, Math.ceil(bytes / 1_024)));
  }
  return Math.max(0, ...units.values());
}

/** As DynamoDB counts them: names and values, in UTF-8. */
export function attributeBytes(attributes: Readonly<Record<string, unknown>>): number {
  return Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + (value === undefined ? 0 : valueBytes(value)),
    0,
  );
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.length;
  // Two digits a byte, and one for the exponent.
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (typeof value !== 'object' || value === null) return 1;
  const members = Object.keys(value).length;
  // A list has no names.
  const bytes = Array.isArray(value)
    ? value.reduce<number>((sum, each) => sum + valueBytes(each), 0)
    : attributeBytes(value as Readonly<Record<string, unknown>>);
  return 3 + members + bytes;
}
