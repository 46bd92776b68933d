import { interceptedClient } from './intercepted-client.ts';
import { testClient } from './test-client.ts';

type Item = Record<string, unknown>;

/** A read as it was sent. */
export interface Read {
  readonly command: string;
  readonly input: Item;
}

/**
 * A client without a database. It records every read. It answers reads by key with the `rows` that
 * have the key, and queries with no rows.
 */
export function recordedReads(rows: readonly Item[]) {
  const reads: Read[] = [];
  const rowOf = (key: Item) => rows.find((row) => row.user_id === key.user_id && row.id === key.id);
  const client = interceptedClient(testClient('http://127.0.0.1:1'), async ({ name, input }) => {
    reads.push({ command: name, input });
    if (name === 'GetCommand') return { Item: rowOf(input.Key as Item) };
    if (name === 'QueryCommand') return { Items: [] };
    const requests = Object.entries(input.RequestItems as Record<string, { Keys: Item[] }>);
    const answers = requests.map(([table, { Keys }]) => [table, Keys.flatMap((key) => rowOf(key) ?? [])]);
    return { Responses: Object.fromEntries(answers) };
  });
  return { client, reads };
}
