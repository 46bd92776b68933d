import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { rotate } from './depth.ts';
import type { Fault } from './faults.ts';
import { interceptedClient } from './intercepted-client.ts';
import { sideBySide } from './side-by-side.ts';

export type Faults = Readonly<Record<string, Fault>>;

/** A fault of this name at the call of this number, the first being 0. */
export interface Strike {
  readonly place: number;
  readonly name: string;
  readonly fault: Fault;
}

/** A client that counts its calls by the names of their commands, in their order. */
export function countingClient(client: DynamoDBDocumentClient) {
  const made: string[] = [];
  const counting = interceptedClient(client, (call) => {
    made.push(call.name);
    return call.send();
  });
  return { client: counting, made };
}

/** A client whose call at this place fails. If the fault lasts, all later ones of its kind do. */
export function struckClient(client: DynamoDBDocumentClient, { place, fault }: Strike, { lasts = false } = {}) {
  const count = { calls: 0, struck: 0 };
  const through = interceptedClient(client, (call) => {
    const at = count.calls++;
    const isStruck = lasts ? at >= place && fault.commands.includes(call.name) : at === place;
    if (!isStruck) return call.send();
    count.struck += 1;
    return fault.strike(call);
  });
  return Object.assign(count, { client: through });
}

/**
 * Strikes a call of the product at each of these places of the calls that it makes. Faults go round
 * from place to place, as `rotate` says; `at` is where they begin. `check` makes the call by a
 * struck client, and looks at what it leaves: two at a time, because each more makes the others
 * wait for DynamoDB Local.
 */
export function strikeEach(
  { places, faultsAt, at }: { places: readonly number[]; faultsAt: (place: number) => Faults; at: number },
  check: (strike: Strike) => Promise<void>,
): Promise<void> {
  const strikes = rotate(places, (place) => Object.entries(faultsAt(place)), at);
  return sideBySide(strikes, 2, ({ place, fault: [name, fault] }) => check({ place, name, fault }));
}
