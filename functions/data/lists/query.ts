/** What is asked of a list, in the terms of its description. */

export type Condition =
  /** The facet's value is one of these. */
  | { readonly kind: 'facet'; readonly facet: string; readonly oneOf: readonly (string | boolean)[] }
  /** The column's number lies between the bounds, both inclusive; null never does. */
  | {
      readonly kind: 'range';
      readonly column: string;
      readonly from?: number | undefined;
      readonly to?: number | undefined;
    }
  /** The row is in one of these sets. */
  | { readonly kind: 'set'; readonly sets: string; readonly oneOf: readonly string[] }
  | { readonly kind: 'ids'; readonly oneOf: readonly string[] }
  | { readonly kind: 'idPrefix'; readonly prefix: string }
  /** The row was created between these canonical times, both inclusive. */
  | { readonly kind: 'created'; readonly from?: string; readonly to?: string };

/**
 * Creation order, or the order of a column or a facet. Nulls come last in both directions. Ties
 * follow creation order. `byOwner`: where a list has several owners, one after the other.
 */
export type Order =
  | { readonly kind: 'creation'; readonly byOwner?: true }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'facet'; readonly facet: string; readonly isReversed?: true };

/** Rows match that meet all conditions. */
export interface ListQuery {
  readonly conditions: readonly Condition[];
  readonly order: Order;
  readonly direction: 'ASC' | 'DESC';
  readonly offset: number;
  readonly limit: number;
}
