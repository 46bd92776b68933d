import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { newBatch, uuid } from '../support/new-batch.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();

async function projectsOf(userId: string, claims: Record<string, string> = {}): Promise<unknown> {
  return (await ask('listProjects', { userId, claims, query: 'project_status=ACTIVE' })).data;
}

describe('GET /api/v1/projects', () => {
  it('lists the projects that the token names, otherwise the ones of the user’s batches', async () => {
    const user = `auth0|${randomUUID()}`;
    expect(await projectsOf(user)).toEqual([]);
    const { createBatch } = writeApi(testDb(client, names));
    for (const number of [1, 2, 4]) await createBatch(user, newBatch(number));
    expect(await projectsOf(user)).toEqual([uuid('c', 1), uuid('c', 2)].map((id) => ({ id, name: id })));
    const named = [{ id: uuid('c', 7), name: 'Mine' }];
    expect(await projectsOf(user, { projects: JSON.stringify(named) })).toEqual(named);
    expect(await projectsOf(user, { projects: '[]' })).toEqual([]);
    expect(await projectsOf(`auth0|${randomUUID()}`)).toEqual([]);
  });
});
