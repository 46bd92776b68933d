/** One page of any list: the items from `offset` on, and how many match in all. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}
