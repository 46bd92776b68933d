/** The trail of what operators did: for each act one row, written in the act's own transaction. */

import { randomUUID } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../tables.ts';
import { toMicroseconds } from '../timestamp.ts';

export const auditActions = ['device.set', 'batch.cancel', 'batch.priority', 'limits.put', 'limits.delete'] as const;

export interface Act {
  /** A canonical time. */
  readonly at: string;
  /** The user id of the operator. */
  readonly operator: string;
  readonly action: (typeof auditActions)[number];
  /** What it was done to. The list filters by its `user_id` and `device_type`, if it has them. */
  readonly target: Readonly<Record<string, string>>;
  readonly reason: string | null;
  /** What the act changed, as it was and as it is. Null where there was or is nothing. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Rows are deleted some time after this. */
const keptDays = 400;

/**
 * The write of an act's row, for the transaction that makes the act: 2 write units for each KB. No
 * function may change or delete a row.
 */
export function auditWrite(
  { Audit }: TableNames<'Audit'>,
  act: Act,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
  const expires_at = Math.floor(toMicroseconds(act.at) / 1_000_000) + keptDays * 24 * 3600;
  return {
    Put: {
      TableName: Audit,
      Item: { month: act.at.slice(0, 7), key: `${act.at}#${randomUUID()}`, ...act, expires_at },
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': 'key' },
    },
  };
}
