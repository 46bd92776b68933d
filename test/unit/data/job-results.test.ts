import { describe, expect, it } from 'vitest';
import { jobResults } from '../../../functions/data/results.ts';
import { recordedReads } from '../../support/recorded-reads.ts';

const alice = 'auth0|alice';
const job = { user_id: alice, id: 'a', results_key: 'results/auth0|alice/a.json' };

const keyOf = async (userId: string, jobId: string) => {
  const { client, reads } = recordedReads([job, { ...job, id: 'b', results_key: null }]);
  return { key: await jobResults(client, { Jobs: 'jobs-table' }).keyOf(userId, jobId), reads };
};

describe('jobResults', () => {
  it('tells where the results of the user’s job are', async () => {
    const { key, reads } = await keyOf(alice, 'a');
    expect(key).toBe('results/auth0|alice/a.json');
    expect(reads).toEqual([
      {
        command: 'GetCommand',
        input: {
          TableName: 'jobs-table',
          Key: { user_id: alice, id: 'a' },
          ProjectionExpression: 'results_key',
          ConsistentRead: true,
        },
      },
    ]);
  });

  it('tells that there are none yet', async () => {
    expect((await keyOf(alice, 'b')).key).toBeNull();
  });

  it('knows no job of another user, and no other', async () => {
    expect((await keyOf('auth0|bob', 'a')).key).toBeUndefined();
    expect((await keyOf(alice, 'x')).key).toBeUndefined();
  });
});
