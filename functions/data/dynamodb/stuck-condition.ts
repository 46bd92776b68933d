/** Conditions of transactions that can never hold: they look like conflicts, and do not pass. */

import { CorruptData } from '../../errors.ts';
import { type TableName, tables as tableFacts } from '../../tables.ts';
import type { TransactionCanceled } from './aws-errors.ts';
import type { Db } from './db.ts';
import type { Write } from './write-units.ts';

/**
 * Failures in a row after which a condition is stuck. Fewer may be conflicts: other writers change
 * what is read in between.
 */
const maxSameFailures = 5;

/**
 * A condition failed again and again although what it was decided from did not change: an item is
 * where none may be, or parts that are stored contradict each other.
 */
export class StuckCondition extends CorruptData {
  override readonly name = 'StuckCondition';
}

/** What is known of the condition that failed last. */
export interface FailedCondition {
  readonly text: string;
  readonly times: number;
}

/**
 * Counts a failed condition of a transaction. Throws StuckCondition, which names the item, when the
 * same condition of the same item has failed five times in a row although each new read found the
 * same: no condition of the transaction compares anything else than before. Undefined when another
 * transaction was at an item.
 */
export function countFailure(
  { tables }: Db<never>,
  error: TransactionCanceled,
  { writes, before }: { readonly writes: readonly Write[]; readonly before: FailedCondition | undefined },
): FailedCondition | undefined {
  const { reasons } = error;
  const [first] = reasons;
  const write = first && writes[first.place];
  if (write === undefined || reasons.some(({ code }) => code !== 'ConditionalCheckFailed')) return undefined;
  const item = nameOf(tables, write);
  const text = JSON.stringify([item, writes.map(conditionOf)]);
  const times = text === before?.text ? before.times + 1 : 1;
  if (times < maxSameFailures) return { text, times };
  const message = `A condition failed ${times} times, and nothing that it rests on changed: ${item}.`;
  throw new StuckCondition(message, { cause: error });
}

/** The item of a write, by its table and key. */
function nameOf(names: Db<never>['tables'], { Put, Update, Delete, ConditionCheck }: Write): string {
  const part = Put ?? Update ?? Delete ?? ConditionCheck;
  const [table] = Object.entries(names).find(([, name]) => name === part?.TableName) ?? [];
  const attributes = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
  const facts = tableFacts[table as TableName];
  const key = facts && [facts.partitionKey, facts.sortKey].map((name) => attributes[name]);
  return `${table} ${(key ?? []).join(' ')}`;
}

/** What a write is conditional on: the expression, and the values that it compares. */
function conditionOf({ Put, Update, Delete, ConditionCheck }: Write) {
  const { ConditionExpression = '', ExpressionAttributeValues = {} } = Put ?? Update ?? Delete ?? ConditionCheck ?? {};
  return [
    ConditionExpression,
    (ConditionExpression.match(/:\w+/g) ?? []).map((name) => ExpressionAttributeValues[name]),
  ];
}
