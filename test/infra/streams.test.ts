import { describe, expect, it } from 'vitest';
import { batchStages, jobStages } from '../../functions/data/lifecycle/update-row.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { readPattern } from '../../infra/local/dynamodb/record-pattern.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, readable } = synthesize();

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
  });

  it('gives a record up while it can still be read, and says where it is', () => {
    const { MaximumRecordAgeInSeconds, DestinationConfig } = mapping!.properties;
    expect(MaximumRecordAgeInSeconds).toBe(12 * 3600);
    // Streams keep records for a day.
    expect(stream.maximumAgeHours).toBeLessThan(24);
    expect(mapping!.properties).not.toHaveProperty('MaximumRetryAttempts');
    expect(readable(DestinationConfig.OnFailure.Destination)).toBe('Queues/WebhooksDeadLetters');
  });

  it('is filtered by its patterns, of which Lambda allows five', () => {
    const filters = mapping!.properties.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => Pattern);
    expect(filters).toEqual(stream.patterns.map((pattern) => JSON.stringify(pattern)));
    expect(filters.length).toBeLessThanOrEqual(5);
  });
});

interface Row {
  readonly status: string;
  readonly [attribute: string]: unknown;
}

function record(before: Row | undefined, after: Row) {
  const image = (row: Row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value === null ? { NULL: true } : typeof value === 'boolean' ? { BOOL: value } : { S: value },
      ]),
    );
  return {
    dynamodb: { NewImage: image(after), ...(before !== undefined && { OldImage: image(before) }) },
  };
}

describe.each([
  { name: 'Batches', stages: batchStages, told: { webhook: 'https://example.org/' }, untold: { webhook: null } },
  { name: 'Jobs', stages: jobStages, told: { has_webhook: true }, untold: {} },
] as const)('a record of $name', ({ name, stages, told, untold }) => {
  const patterns = tables[name].stream.patterns.map((pattern) => readPattern(JSON.stringify(pattern)));
  const reaches = (before: Row | undefined, after: Row) => patterns.some((matches) => matches(record(before, after)));
  const statuses = Object.keys(stages);
  const isFinal = (status: string) => (stages as Record<string, number>)[status] === 3;

  it('reaches the function when the row got a final status, and only then', () => {
    for (const before of [undefined, ...statuses]) {
      for (const after of statuses) {
        const rows = [
          before === undefined ? undefined : { status: before, ...told },
          { status: after, ...told },
        ] as const;
        expect([before, after, reaches(...rows)]).toEqual([before, after, isFinal(after) && after !== before]);
      }
    }
  });

  it('does not reach it when the batch has no webhook', () => {
    for (const before of [undefined, 'PENDING', 'RUNNING']) {
      const row = before === undefined ? undefined : { status: before, ...untold };
      expect(reaches(row, { status: 'DONE', ...untold })).toBe(false);
    }
  });
});

describe('readPattern', () => {
  it.each([
    '{"a":[{"prefix":"x"}]}',
    '{"a":[{"numeric":["=",1]}]}',
    '{"a":"x"}',
    '{"$or":[{"a":["x"]}]}',
    '{"a":[{"anything-but":"x"}]}',
  ])('refuses %s, which it would not match as AWS does', (pattern) => {
    expect(() => readPattern(pattern)).toThrow(/event filter/);
  });
});
