/** A list as users ask for it: its parameters, and what a row shows. */

import type { Page } from '../../values/page.ts';
import type { Row } from '../columns/column-items.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { fewAtOnce } from '../dynamodb/few-at-once.ts';
import type { Member } from '../projects/access.ts';
import { findListedOwners, type ListedOwner } from '../projects/listed-owners.ts';
import { type Filter, facetIn } from './filters.ts';
import type { TablesOfList } from './owner-reads.ts';
import type { ListQuery, Order } from './query.ts';
import { type Counts, countByFacet, type ListOwner, readList, readMergedList } from './reader.ts';

/** The parameters of every list beside its filters. */
interface OrderAndPage {
  readonly user_id?: readonly string[] | undefined;
  readonly scope?: 'project' | undefined;
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

/** A row of a list, and what its owner is called: null where that is not known. */
export type Listed<Shown> = Shown & { readonly user_name: string | null };

/**
 * Lists what the caller may see, for these parameters: own rows, and rows of fellows where the
 * parameters ask for them. Costs and guarantees: see findListedOwners and readMergedList; for own
 * rows alone, see readList.
 */
export async function listVisible<List extends ListDescription, Query extends OrderAndPage, Shown extends object>(
  db: Db<TablesOfList<List> | 'Contributors'>,
  { list, parameters, show }: OwnerList<List, Query> & { readonly show: (rows: readonly Row[]) => Promise<Shown[]> },
  caller: Member,
  query: Query,
): Promise<Page<Listed<Shown>>> {
  const owners = await findListedOwners(db, caller, query);
  const listQuery = makeListQuery(list, parameters, query);
  const { items, total } = await readOwners(db, list, owners, listQuery);
  const names = new Map(owners.map(({ userId, userName }) => [userId, userName]));
  const shown = await show(items);
  const nameOf = (at: number) => names.get(String(items[at]!.user_id)) ?? null;
  return { items: shown.map((row, at) => ({ ...row, user_name: nameOf(at) })), total };
}

function readOwners<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  list: List,
  owners: readonly ListedOwner[],
  query: ListQuery,
): Promise<Page<Row>> | Page<Row> {
  const [first, ...others] = owners.map(listOwner);
  if (first === undefined) return { items: [], total: 0 };
  if (others.length > 0) return readMergedList(db, list, [first, ...others], query);
  return readList(db, list, first.userId, { ...query, conditions: [...query.conditions, ...first.conditions] });
}

function listOwner({ userId, projectIds }: ListedOwner): ListOwner {
  return { userId, conditions: projectIds === undefined ? [] : [facetIn('project_id')(projectIds)] };
}

/**
 * Counts what listVisible would list, by the values of a facet. Costs and guarantees: for each
 * owner, see countByFacet.
 */
export async function countVisible<List extends ListDescription, Query extends OrderAndPage>(
  db: Db<TablesOfList<List> | 'Contributors'>,
  { list, parameters, facet }: OwnerList<List, Query> & { readonly facet: string },
  caller: Member,
  query: Query,
): Promise<Counts> {
  const owners = (await findListedOwners(db, caller, query)).map(listOwner);
  const { conditions } = makeListQuery(list, parameters, query);
  const nobody = { userId: caller.userId, conditions: [{ kind: 'ids', oneOf: [] }] } as const;
  const counts = await fewAtOnce(owners.length === 0 ? [nobody] : owners, (owner) =>
    countByFacet(db, list, owner.userId, { conditions: [...conditions, ...owner.conditions], facet }),
  );
  return counts.reduce((sum, each) =>
    Object.fromEntries(Object.entries(sum).map(([value, count]) => [value, count + (each[value] ?? 0)])),
  );
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
