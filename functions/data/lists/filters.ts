/**
 * Building blocks for the parameters of a list: how each of them becomes a condition or an order.
 */

import { toMicroseconds } from '../../values/timestamp.ts';
import type { Condition, Order } from './query.ts';

export type Filter = (value: never) => Condition;

export const facetIn = (facet: string) => (oneOf: readonly (string | boolean)[]) =>
  ({ kind: 'facet', facet, oneOf }) as const satisfies Condition;
export const facetIs = (facet: string) => (value: string | boolean) => facetIn(facet)([value]);
export const inSets = (sets: string) => (oneOf: readonly string[]) =>
  ({ kind: 'set', sets, oneOf: [...new Set(oneOf)] }) as const satisfies Condition;
export const atLeast = (column: string) => (from: number) =>
  ({ kind: 'range', column, from }) as const satisfies Condition;
export const atMost = (column: string) => (to: number) => ({ kind: 'range', column, to }) as const satisfies Condition;
export const notBefore = (column: string) => (time: string) => atLeast(column)(toMicroseconds(time));
export const notAfter = (column: string) => (time: string) => atMost(column)(toMicroseconds(time));

export const commonFilters = {
  // Each id once, because DynamoDB refuses keys that repeat.
  id: (oneOf: readonly string[]) => ({ kind: 'ids', oneOf: [...new Set(oneOf)] }),
  id__starts_with: (prefix: string) => ({ kind: 'idPrefix', prefix }),
  project_id: facetIn('project_id'),
  status: facetIn('status'),
  created_after: (from: string) => ({ kind: 'created', from }),
  created_before: (to: string) => ({ kind: 'created', to }),
} as const satisfies Readonly<Record<string, Filter>>;

/** Orders that every list has. */
export const commonOrders = {
  // Creation times and sequence numbers ascend together, so `created_at` needs no column.
  created_at: { kind: 'creation' },
  user_id: { kind: 'creation', byOwner: true },
} as const satisfies Readonly<Record<string, Order>>;
