/** With this number a list over 20 members takes no more steps, and most sockets are busy. */
const mostAtOnce = 25;

/**
 * Does the work of each item, up to 25 at the same time, and returns the results in the items'
 * order. The time of a call begins before it has a socket: hundreds of calls at once would run out
 * of it. Once one fails, no other begins.
 */
export async function fewAtOnce<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  let hasFailed = false;
  const workInTurn = async () => {
    for (const [at, item] of left) {
      if (hasFailed) return;
      results[at] = await work(item, at).catch((error) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, workInTurn));
  return results;
}
