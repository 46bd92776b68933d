/** Does the work for every item, `width` items at a time. Fails with the first that fails. */
export async function sideBySide<Item>(items: readonly Item[], width: number, work: (item: Item) => Promise<unknown>) {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
