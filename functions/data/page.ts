/** One page of a list: the rows from `offset` on, and how many rows match in all. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}
