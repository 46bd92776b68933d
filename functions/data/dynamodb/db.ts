import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { FunctionDescription } from '../../rights.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { type TableName, type TableNames, tables } from '../../tables.ts';
import type { OwnerFormats } from '../columns/lists.ts';
import { documentClient } from './client.ts';

/** DynamoDB as a function uses it: repositories ask for no more tables than they read or write. */
export interface Db<Used extends TableName> {
  readonly client: DynamoDBDocumentClient;
  /** The physical names of the tables. */
  readonly tables: TableNames<Used>;
  readonly clock: Clock;
  /** The stored formats of lists, where they differ from this release's (see formatsOf). */
  readonly formats?: OwnerFormats | undefined;
}

/** The tables that a function may use, by its `uses` in routes.ts. */
export type TablesOf<Described extends FunctionDescription> = {
  [Use in keyof Described['uses']]: Extract<Use extends `${infer Table}/${string}` ? Table : Use, TableName>;
}[keyof Described['uses']];

/**
 * The database of a function: exactly the tables of its `uses`, with their names from its
 * environment. A missing variable names itself. Made at cold start, once for each function.
 */
export function database<Described extends FunctionDescription>(described: Described): Db<TablesOf<Described>> {
  const used = Object.keys(described.uses).map((use) => use.split('/')[0] as TableName);
  const names = used
    .filter((name) => name in tables)
    .map((name) => [name, requiredEnv(tables[name].environmentVariable)]);
  return { client: documentClient(described.callMilliseconds), tables: Object.fromEntries(names), clock: systemClock };
}
