import { vi } from 'vitest';

const client = '../../functions/data/dynamodb/client.ts';
const patience = 600_000;

/** Functions that are loaded from now on wait for DynamoDB until it answers. */
export function usePatientClients() {
  vi.doMock(client, async (original) => {
    const { documentClient } = await original<typeof import('../../functions/data/dynamodb/client.ts')>();
    return { documentClient: () => documentClient(patience) };
  });
}

/** Functions that are loaded from now on give DynamoDB up as they do on AWS. */
export function useOwnTimeouts() {
  vi.doUnmock(client);
}
