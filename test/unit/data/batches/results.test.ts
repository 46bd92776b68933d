import { describe, expect, it } from 'vitest';
import { resultsBucket } from '../../../../functions/data/aws/results-bucket.ts';
import { getResultsKey, requireValidity, signResultsLink } from '../../../../functions/data/batches/results.ts';
import { CorruptData } from '../../../../functions/errors.ts';
import { recordedReads } from '../../../support/recorded-reads.ts';
import { testDb } from '../../../support/test-db.ts';

const alice = 'auth0|alice';
const key = `results/${alice}/1.json`;
const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret' };

const bucket = resultsBucket('results-bucket', { region: 'eu-west-3', credentials });

describe('signResultsLink', () => {
  it('signs a link to one object as JSON, for a limited time', async () => {
    const link = new URL(await signResultsLink(bucket, { userId: alice, key }, 300));
    expect(link.host).toBe('results-bucket.s3.eu-west-3.amazonaws.com');
    expect(decodeURIComponent(link.pathname)).toBe(`/${key}`);
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      'X-Amz-Expires': '300',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
      'response-content-encoding': 'identity',
      'response-content-type': 'application/json',
      'x-id': 'GetObject',
    });
  });

  it.each([
    'results/auth0|bob/1.json',
    'results/auth0|alice2/1.json',
    'results/auth0|alice',
    'results//1.json',
    `/${key}`,
    `x/${key}`,
    '1.json',
    '',
  ])('refuses %j, which is not among the user’s results', async (foreign) => {
    await expect(signResultsLink(bucket, { userId: alice, key: foreign }, 300)).rejects.toThrow(
      new CorruptData('The results are not below the prefix of their owner.'),
    );
  });

  it('escapes the key of the object', async () => {
    const strange = `results/${alice}/a b/ü?.json`;
    const link = new URL(await signResultsLink(bucket, { userId: alice, key: strange }, 300));
    expect(link.pathname).toBe('/results/auth0%7Calice/a%20b/%C3%BC%3F.json');
  });

  it.each([1, 300, 900])('signs links that are valid for %d s', async (seconds) => {
    const link = new URL(await signResultsLink(bucket, { userId: alice, key }, requireValidity(seconds)));
    expect(link.searchParams.get('X-Amz-Expires')).toBe(String(seconds));
  });

  it.each([0, -1, 901, 1.5, Number.NaN])('refuses a validity of %d s', (seconds) => {
    expect(() => requireValidity(seconds)).toThrow(
      new RangeError(`A results link is valid for 1 to 900 s, not for ${seconds}.`),
    );
  });
});

describe('getResultsKey', () => {
  const times = { written_at: {}, updated_at: '2026-03-01T12:00:00.000000Z' };
  const job = { user_id: alice, id: 'a', results_key: key, ...times };
  const find = async (userId: string, jobId: string) => {
    const { client, reads } = recordedReads([job, { ...job, id: 'b', results_key: null }]);
    return { found: await getResultsKey(testDb(client, { Jobs: 'jobs-table' }), { userId, jobId }), reads };
  };

  it('finds the key of the results of the user’s job in one strongly consistent read of few attributes', async () => {
    const { found, reads } = await find(alice, 'a');
    expect(found).toBe(key);
    expect(reads).toEqual([
      {
        command: 'GetCommand',
        input: {
          TableName: 'jobs-table',
          Key: { user_id: alice, id: 'a' },
          ProjectionExpression: '#a0,#a1,#a2,#a3',
          ExpressionAttributeNames: {
            '#a0': 'results_key',
            '#a1': 'erased_at',
            '#a2': 'written_at',
            '#a3': 'updated_at',
          },
          ConsistentRead: true,
        },
      },
    ]);
  });

  it('is null while the job has none', async () => {
    expect((await find(alice, 'b')).found).toBeNull();
  });

  it('is undefined for a job of another user, and for no job', async () => {
    expect((await find('auth0|bob', 'a')).found).toBeUndefined();
    expect((await find(alice, 'x')).found).toBeUndefined();
  });
});
