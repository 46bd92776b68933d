import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Call, interceptedClient } from './intercepted-client.ts';

/**
 * The client of a function that is overtaken: something else happens before its first call of this
 * command. `isOvertaken` once it has happened.
 */
export function overtakenClient(
  client: DynamoDBDocumentClient,
  meanwhile: (call: Call) => Promise<unknown>,
  command = 'TransactWriteCommand',
) {
  const state = { isOvertaken: false };
  const overtaken = interceptedClient(client, async (call) => {
    if (call.name === command && !state.isOvertaken) {
      state.isOvertaken = true;
      await meanwhile(call);
    }
    return call.send();
  });
  return Object.assign(state, { client: overtaken });
}
