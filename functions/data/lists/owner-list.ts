/** A list as users ask for it: its parameters, and what a row shows. */

import type { Page } from '../../values/page.ts';
import type { Row } from '../columns/column-items.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Filter } from './filters.ts';
import type { TablesOfList } from './owner-reads.ts';
import type { ListQuery, Order } from './query.ts';
import { type Counts, countByFacet, readList } from './reader.ts';

/** The parameters of every list beside its filters. */
interface OrderAndPage {
  readonly user_id?: readonly string[] | undefined;
  readonly order_by: string;
  readonly order_by_direction: 'ASC' | 'DESC';
  readonly limit: number;
  readonly offset: number;
  readonly count_by?: string | undefined;
}

export interface ListParameters<Query> {
  readonly filters: Readonly<Record<Exclude<keyof Query, keyof OrderAndPage>, Filter>>;
  /** The values of `order_by` that are not the name of a column or a facet. */
  readonly orders: Readonly<Record<string, Order>>;
}

/** A list that users ask for: what is stored, and how its parameters are read. */
interface OwnerList<List extends ListDescription, Query> {
  readonly list: List;
  readonly parameters: ListParameters<Query>;
}

/**
 * Lists what a user owns, for these parameters. A row has one owner, so a filter by other users
 * finds nothing. Costs and guarantees: see readList.
 */
export async function listOwned<List extends ListDescription, Query extends OrderAndPage, Shown>(
  db: Db<TablesOfList<List>>,
  { list, parameters, show }: OwnerList<List, Query> & { readonly show: (row: Row) => Shown },
  userId: string,
  query: Query,
): Promise<Page<Shown>> {
  if (query.user_id !== undefined && !query.user_id.includes(userId)) return { items: [], total: 0 };
  const { items, total } = await readList(db, list, userId, makeListQuery(list, parameters, query));
  return { items: items.map(show), total };
}

/**
 * Counts what a list would show, by the values of a facet. Costs and guarantees: see countByFacet.
 */
export function countOwned<List extends ListDescription, Query extends OrderAndPage>(
  db: Db<TablesOfList<List>>,
  { list, parameters, facet }: OwnerList<List, Query> & { readonly facet: string },
  userId: string,
  query: Query,
): Promise<Counts> {
  const isOthers = query.user_id !== undefined && !query.user_id.includes(userId);
  const nothing = { kind: 'ids', oneOf: [] } as const;
  const { conditions } = makeListQuery(list, parameters, query);
  return countByFacet(db, list, userId, { conditions: isOthers ? [nothing] : conditions, facet });
}

/**
 * The parameters in the terms of the list. An empty prefix is no condition, because every id starts
 * with it. An empty tag is one.
 */
function makeListQuery<Query extends OrderAndPage>(
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
