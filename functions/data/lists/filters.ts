/** Building blocks for a list's parameters: how each becomes a condition, and where each order is found. */

import { toMicroseconds } from '../../timestamp.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { Condition, ListQuery, Order } from './query.ts';

type Filter = (value: never) => Condition;

/** Each id once, however often it was given: keys that repeat are refused by DynamoDB. */
export const ids = (oneOf: readonly string[]): Condition => ({ kind: 'ids', oneOf: [...new Set(oneOf)] });
export const idPrefix = (prefix: string): Condition => ({ kind: 'idPrefix', prefix });
export const facetIn = (facet: string) => (oneOf: readonly (string | boolean)[]) =>
  ({ kind: 'facet', facet, oneOf }) as const satisfies Condition;
export const facetIs = (facet: string) => (value: string | boolean) => facetIn(facet)([value]);
export const inSets = (sets: string) => (oneOf: readonly string[]) =>
  ({ kind: 'set', sets, oneOf: [...new Set(oneOf)] }) as const satisfies Condition;
export const inSet = (sets: string) => (value: string) => inSets(sets)([value]);
export const atLeast = (column: string) => (from: number) =>
  ({ kind: 'range', column, from }) as const satisfies Condition;
export const atMost = (column: string) => (to: number) => ({ kind: 'range', column, to }) as const satisfies Condition;
export const notBefore = (column: string) => (time: string) => atLeast(column)(toMicroseconds(time));
export const notAfter = (column: string) => (time: string) => atMost(column)(toMicroseconds(time));

/** The parameters that every list has beside its filters. */
interface OrderAndPage {
  readonly order_by: string;
  readonly order_by_direction: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
}

/** The parameters in the list's own terms. An empty prefix is no condition, for every id starts with it; an empty tag is one. */
export function listQuery<Query extends OrderAndPage>(
  list: ListDescription,
  filters: Readonly<Record<Exclude<keyof Query, keyof OrderAndPage | 'user_id'>, Filter>>,
  query: Query,
): ListQuery {
  const conditions = Object.entries<Filter>(filters).flatMap(([name, filter]) => {
    const value = query[name as keyof Query];
    return value === undefined || (name === 'id__starts_with' && value === '') ? [] : [filter(value as never)];
  });
  const { offset, limit, order_by_direction: direction } = query;
  return { conditions, order: orderOf(list, query.order_by), direction, offset, limit };
}

/** Creation times and sequence numbers ascend together, so `created_at` needs no column. */
function orderOf(list: ListDescription, name: string): Order {
  if (name === 'created_at') return { kind: 'creation' };
  return name in list.columns ? { kind: 'column', column: name } : { kind: 'facet', facet: name };
}
