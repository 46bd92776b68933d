/**
 * Asks AWS's own engine which records of streams reach a function. The local stack's engine must
 * say the same.
 *
 * usage: check-patterns.ts FOLDER_OF_JARS
 */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { batchStatusNames, finalBatchStatuses, finalJobStatuses, jobStatusNames } from '../../../functions/statuses.ts';
import { readPattern } from '../../../infra/local/template/record-pattern.ts';
import { columnKeys } from '../../support/column-keys.ts';
import { synthesize } from '../../support/synthesize.ts';

interface Case {
  readonly name: string;
  readonly record: object;
  readonly reaches: boolean;
}

type Image = Readonly<Record<string, object>>;

/** Records of a change, of a new row, and of a row that was removed. */
function recordsOf(name: string, image: Image, reaches: boolean): Case[] {
  const Keys = { user_id: { S: 'alice' }, id: { S: '1' } };
  const former = { ...image, status: { S: 'RUNNING' } };
  const of = (eventName: string, images: object) => ({
    eventName,
    eventSource: 'aws:dynamodb',
    dynamodb: { Keys, StreamViewType: 'NEW_AND_OLD_IMAGES', SequenceNumber: '1', SizeBytes: 100, ...images },
  });
  return [
    { name: `${name}, changed`, record: of('MODIFY', { NewImage: image, OldImage: former }), reaches },
    { name: `${name}, new`, record: of('INSERT', { NewImage: image }), reaches },
    { name: `${name}, removed`, record: of('REMOVE', { OldImage: image }), reaches: false },
  ];
}

/** Rows of each status. Only ended rows with a webhook reach the function. */
function rowRecords(statuses: readonly string[], final: readonly string[], webhook: Image, without: readonly Image[]) {
  return statuses.flatMap((status) => {
    const row = { user_id: { S: 'alice' }, id: { S: '1' }, seq: { N: '7' }, status: { S: status } };
    return [
      ...recordsOf(status, { ...row, ...webhook }, final.includes(status)),
      ...without.flatMap((none) => recordsOf(`${status} without a webhook`, { ...row, ...none }, false)),
    ];
  });
}

/** Only a new block of facets or new changes reach the function. */
function columnRecords(): Case[] {
  const reaching: readonly string[] = columnKeys.reaching;
  return [...reaching, ...columnKeys.others].flatMap((key) =>
    ['INSERT', 'MODIFY', 'REMOVE'].map((eventName) => ({
      name: `${eventName} ${key}`,
      record: { eventName, dynamodb: { Keys: { user_id: { S: 'alice' }, key: { S: key } }, SequenceNumber: '1' } },
      reaches: eventName === 'INSERT' && reaching.includes(key),
    })),
  );
}

const cases: Readonly<Record<string, readonly Case[]>> = {
  Batches: rowRecords(batchStatusNames, finalBatchStatuses, { webhook: { S: 'https://example.org/' } }, [
    { webhook: { NULL: true } },
    {},
  ]),
  Jobs: rowRecords(jobStatusNames, finalJobStatuses, { has_webhook: { BOOL: true } }, [{}]),
  Columns: columnRecords(),
};

const { ofType, readable } = await synthesize();
const streams = ofType('AWS::Lambda::EventSourceMapping').flatMap(({ properties }) => {
  const [, table] = /^Storage\/(\w+)\.StreamArn$/.exec(readable(properties.EventSourceArn)) ?? [];
  if (table === undefined) return [];
  const patterns = properties.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => Pattern) as string[];
  return [{ table, patterns, cases: cases[table] ?? [] }];
});
deepEqual(streams.map(({ table }) => table).sort(), Object.keys(cases).sort(), 'Every stream has its cases.');

const input = streams.map(({ patterns, cases }) => ({ patterns, records: cases.map(({ record }) => record) }));
const { status, stdout, stderr } = spawnSync(
  'java',
  ['-cp', join(process.argv[2]!, '*'), join(import.meta.dirname, 'Patterns.java')],
  { input: JSON.stringify(input), encoding: 'utf8', timeout: 120_000 },
);
equal(status, 0, stderr);
const answers = JSON.parse(stdout) as boolean[][];
for (const [at, { table, patterns, cases }] of streams.entries()) {
  const ours = patterns.map(readPattern);
  ok(cases.length > 0);
  for (const [number, { name, record, reaches }] of cases.entries()) {
    equal(answers[at]![number], reaches, `${table}: ${name}, by AWS's engine`);
    equal(
      ours.some((matches) => matches(record)),
      reaches,
      `${table}: ${name}, by the local stack's engine`,
    );
  }
  console.log(`${table}: ${cases.length} records, as expected.`);
}
