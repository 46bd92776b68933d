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
export function recordedReads(rows: readonly Item[] = []) {
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

/** The users whose rows were read: each read names the owner in its partition key. */
export function ownersOf(reads: readonly Read[]): Set<unknown> {
  return new Set(reads.flatMap(ownersIn));
}

function ownersIn({ command, input }: Read): unknown[] {
  switch (command) {
    case 'GetCommand':
      return [(input.Key as Item).user_id];
    case 'BatchGetCommand':
      return Object.values(input.RequestItems as Record<string, { Keys: Item[] }>).flatMap(({ Keys }) =>
        Keys.map((key) => key.user_id),
      );
    case 'QueryCommand': {
      const names = input.ExpressionAttributeNames as Item;
      const values = input.ExpressionAttributeValues as Item;
      const equalities = String(input.KeyConditionExpression).matchAll(/(#\w+) = (:\w+)/g);
      const [owner] = Array.from(equalities).flatMap(([, name, value]) =>
        names[String(name)] === 'user_id' ? [values[String(value)]] : [],
      );
      return [owner];
    }
    default:
      throw new Error(`${command} does not read by the owner's key.`);
  }
}
