import { describe, expect, it } from 'vitest';
import { BatchStatus, JobStatus } from '../../functions/schemas/values.ts';
import { finalBatchStatuses, finalJobStatuses } from '../../functions/statuses.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { readPattern } from '../../infra/local/template/record-pattern.ts';
import { columnKeys } from '../support/column-keys.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, readable } = await synthesize();

const streams = Object.entries<TableDescription>(tables).flatMap(([name, { stream }]) =>
  stream === undefined ? [] : [{ name, stream }],
);

describe.each(streams)('the stream of $name', ({ name, stream }) => {
  const [mapping, ...others] = ofType('AWS::Lambda::EventSourceMapping').filter(
    ({ properties }) => readable(properties.EventSourceArn) === `Storage/${name}.StreamArn`,
  );

  it('feeds its consumer from its beginning, in batches that are halved when they fail', () => {
    expect(others).toEqual([]);
    expect(readable(mapping!.properties.FunctionName)).toBe(
      `Consumers/${stream.consumer[0]!.toUpperCase()}${stream.consumer.slice(1)}`,
    );
    expect(mapping!.properties).toMatchObject({
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: stream.batchSize,
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    expect(mapping!.properties.MaximumBatchingWindowInSeconds).toBe(stream.windowSeconds);
  });

  it('gives a record up while it can still be read, and says where it is', () => {
    const { MaximumRecordAgeInSeconds, DestinationConfig } = mapping!.properties;
    expect(MaximumRecordAgeInSeconds).toBe(stream.maxAgeHours * 3600);
    // Streams keep records for a day.
    expect(stream.maxAgeHours).toBeLessThan(24);
    expect(mapping!.properties).not.toHaveProperty('MaximumRetryAttempts');
    expect(readable(DestinationConfig.OnFailure.Destination)).toBe(
      `Queues/${stream.givenUp.replace('/dead_l', 'DeadL')}`,
    );
  });

  it('is filtered by its patterns', () => {
    const filters = mapping!.properties.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => Pattern);
    expect(filters).toEqual(stream.patterns.map((pattern) => JSON.stringify(pattern)));
  });
});

function recordOf(row: Readonly<Record<string, unknown>>) {
  const image = Object.entries(row).map(([name, value]) => [
    name,
    value === null ? { NULL: true } : typeof value === 'boolean' ? { BOOL: value } : { S: value },
  ]);
  return { dynamodb: { NewImage: Object.fromEntries(image) } };
}

describe.each([
  {
    name: 'Batches',
    statuses: BatchStatus.options,
    final: finalBatchStatuses,
    withWebhook: { webhook: 'https://example.org/' },
    without: { webhook: null },
  },
  {
    name: 'Jobs',
    statuses: JobStatus.options,
    final: finalJobStatuses,
    withWebhook: { has_webhook: true },
    without: {},
  },
] as const)('a record of $name', ({ name, statuses, final, withWebhook, without }) => {
  const patterns = tables[name].stream.patterns.map((pattern) => readPattern(JSON.stringify(pattern)));
  const passing = (row: Readonly<Record<string, unknown>>) =>
    statuses.filter((status) => patterns.some((matches) => matches(recordOf({ ...row, status }))));

  it('reaches the function when the row has a final status and a webhook', () => {
    expect(passing(withWebhook)).toEqual(final);
    expect(passing(without)).toEqual([]);
  });
});

describe('a record of Columns', () => {
  const matches = readPattern(JSON.stringify(tables.Columns.stream.patterns[0]));

  it('reaches the function when it is a new block of facets or the first change of a group of rows', () => {
    const keys = [...columnKeys.others, ...columnKeys.reaching];
    const passing = keys.flatMap((key) =>
      ['INSERT', 'MODIFY', 'REMOVE'].flatMap((eventName) =>
        matches({ eventName, dynamodb: { Keys: { user_id: { S: 'alice' }, key: { S: key } } } })
          ? [`${eventName} ${key}`]
          : [],
      ),
    );
    expect(passing).toEqual(columnKeys.reaching.map((key) => `INSERT ${key}`));
  });
});

describe('readPattern', () => {
  it.each([
    '{"a":[{"prefix":1}]}',
    '{"a":[{"suffix":"x"}]}',
    '{"a":[{"numeric":["=",1]}]}',
    '{"a":"x"}',
    '{"$or":[{"a":["x"]}]}',
    '{"a":[{"anything-but":["x"]}]}',
  ])('refuses %s, which it would not match as AWS does', (pattern) => {
    expect(() => readPattern(pattern)).toThrow(/event filter/);
  });
});
