import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ownerLists } from '../columns/lists.ts';
import { commitChanges } from './commit-changes.ts';
import type { Change, Draft } from './draft.ts';
import type { LifecycleOptions } from './lifecycle.ts';
import type { LifecycleTables } from './transaction.ts';

/**
 * The function that carries out operations that a user's call asks for, in their order, and returns
 * the draft of the last transaction: in it are the rows as they are now, without a further read.
 * Throws what stopped an operation.
 */
export function requestChange(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  { now = Date.now, rowsPerBlock, lists = ownerLists(rowsPerBlock) }: LifecycleOptions = {},
): (userId: string, operations: readonly [Change, ...Change[]]) => Promise<Draft> {
  return async (userId, operations) => {
    let last: Draft | undefined;
    const onCommitted = (draft: Draft) => {
      last = draft;
    };
    const [error] = await commitChanges({ client, tables, userId, lists, now, onCommitted }, [operations]);
    if (error !== undefined) throw error;
    return last as Draft;
  };
}
