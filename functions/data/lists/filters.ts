/**
 * Building blocks for the parameters of a list: how each of them becomes a condition or an order.
 */

import { toMicroseconds } from '../../timestamp.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { Condition, ListQuery, Order } from './query.ts';

type Filter = (value: never) => Condition;

/** Each id once, because DynamoDB refuses keys that repeat. */
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

/** Filters that every list has. */
export const commonFilters = {
  created_after: (from: string) => ({ kind: 'created', from }),
  created_before: (to: string) => ({ kind: 'created', to }),
} as const satisfies Readonly<Record<string, Filter>>;

/** The parameters of every list beside its filters. */
interface OrderAndPage {
  readonly order_by: string;
  readonly order_by_direction: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
}

/** How a list reads its parameters. */
export interface ListParameters<Query> {
  readonly filters: Readonly<Record<Exclude<keyof Query, keyof OrderAndPage | 'user_id'>, Filter>>;
  /** The values of `order_by` that are not the name of a column or a facet. */
  readonly orders: Readonly<Record<string, Order>>;
}

/**
 * The parameters in the terms of the list. An empty prefix is no condition, because every id starts
 * with it. An empty tag is one.
 */
export function makeListQuery<Query extends OrderAndPage>(
  list: ListDescription,
  { filters, orders }: ListParameters<Query>,
  query: Query,
): ListQuery {
  const conditions = Object.entries<Filter>(filters).flatMap(([name, filter]) => {
    const value = query[name as keyof Query];
    return value === undefined || (name === 'id__starts_with' && value === '') ? [] : [filter(value as never)];
  });
  const { offset, limit, order_by_direction: direction } = query;
  return { conditions, order: orders[query.order_by] ?? orderBy(list, query.order_by), direction, offset, limit };
}

function orderBy(list: ListDescription, name: string): Order {
  return name in list.columns ? { kind: 'column', column: name } : { kind: 'facet', facet: name };
}

/** Orders that every list has. All rows of a list have one owner. */
export const commonOrders = {
  // Creation times and sequence numbers ascend together, so `created_at` needs no column.
  created_at: { kind: 'creation' },
  user_id: { kind: 'creation' },
} as const satisfies Readonly<Record<string, Order>>;
