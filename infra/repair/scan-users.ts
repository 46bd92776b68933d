import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';

const segments = 4;
const scanned = ['Columns', 'Batches', 'Jobs'] as const;

/** How far a scan has come: plain data, to be kept and given again. */
export interface UserScan {
  readonly users: string[];
  /**
   * For each table and segment the key to go on from; null once the segment is done, absent before
   * it is begun.
   */
  readonly reached: Record<string, Item | null>;
}

/**
 * Finds every user who has any item, in no order. Reads all three tables, strongly consistent, four
 * segments at a time. After each page it adds the new users to `scan` and calls `onPage`.
 */
export async function scanUsers(
  { client, tables }: Db<(typeof scanned)[number]>,
  scan: UserScan,
  onPage: () => Promise<void>,
): Promise<void> {
  const users = new Set(scan.users);
  const scanSegment = async (table: (typeof scanned)[number], segment: number) => {
    const place = `${table} ${segment}`;
    while (scan.reached[place] !== null) {
      const start = scan.reached[place];
      const { Items = [], LastEvaluatedKey } = await client.send(
        new ScanCommand({
          TableName: tables[table],
          ProjectionExpression: 'user_id',
          ConsistentRead: true,
          Segment: segment,
          TotalSegments: segments,
          ...(start !== undefined && { ExclusiveStartKey: start }),
        }),
      );
      for (const { user_id: userId } of Items) {
        if (users.has(userId)) continue;
        users.add(userId);
        scan.users.push(userId);
      }
      scan.reached[place] = LastEvaluatedKey ?? null;
      await onPage();
    }
  };
  for (const table of scanned) {
    await Promise.all(Array.from({ length: segments }, (_, segment) => scanSegment(table, segment)));
  }
}
