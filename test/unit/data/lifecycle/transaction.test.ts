import { describe, expect, it } from 'vitest';
import { emptyHead } from '../../../../functions/data/columns/head.ts';
import { ownerFormats } from '../../../../functions/data/columns/lists.ts';
import { creationChanges } from '../../../../functions/data/lifecycle/creation.ts';
import { blockKeys, type Draft, withRows } from '../../../../functions/data/lifecycle/draft.ts';
import { createTransaction } from '../../../../functions/data/lifecycle/transaction.ts';
import { updateBatch } from '../../../../functions/data/lifecycle/update.ts';
import { CorruptData } from '../../../../functions/errors.ts';
import type { NewBatch } from '../../../../functions/schemas/new-batch.ts';
import { applyAll, draftOf, store, userId } from '../../../support/drafts.ts';
import { newBatch, newJob, uuid } from '../../../support/new-batch.ts';
import { testClient } from '../../../support/test-client.ts';
import { testDb } from '../../../support/test-db.ts';

const others = { Sequences: 'S', DeviceQueue: 'Q', Usage: 'U', Counters: 'N', Contributors: 'P' };
const db = testDb(testClient('http://127.0.0.1:1'), { Batches: 'B', Jobs: 'J', Columns: 'C', ...others });
const time = '2026-03-01T00:00:00.000000Z';
const now = Date.parse(time);
const absent = (key: string) => ({
  ConditionExpression: 'attribute_not_exists(#key)',
  ExpressionAttributeNames: { '#key': key },
});

const asRead = [
  ...['next_seq', 'tail', 'format', 'dictionaries'].map((name) => `#${name} = :old_${name}`),
  'attribute_not_exists(#n)',
].join(' AND ');

function create(draft: Draft, number: number, content: Partial<NewBatch> = {}): Draft {
  const { jobs, ...batch } = newBatch(number, { tags: ['a'], jobs: [newJob(number)], ...content });
  return applyAll(draft, creationChanges(userId, { batchId: batch.id, create: batch, jobs, time }));
}

/** The writes of the draft's transaction. Writes to the Columns table are listed by key. */
function writesOf(draft: Draft, blocks: ReadonlyMap<string, Uint8Array> = new Map()) {
  const { TransactItems = [] } = createTransaction(db, userId, { draft, blocks, clocks: new Map(), now });
  const all = TransactItems.map(({ Put, Update, Delete }) => ({ ...Put, ...Update, ...Delete }));
  return {
    rows: all.filter(({ TableName }) => TableName !== 'C'),
    columns: new Map(
      all
        .filter(({ TableName }) => TableName === 'C')
        .map(({ TableName, ...write }) => [String((write.Item ?? write.Key)!.key), write]),
    ),
  };
}

/** The draft of a transaction that creates `count` batches. */
function createAll(count: number, contentOf: (number: number) => Partial<NewBatch> = () => ({})): Draft {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return numbers.reduce((draft, number) => create(draft, number, contentOf(number)), draftOf());
}

const first = create(draftOf(), 1);

describe('createTransaction', () => {
  it('writes new rows and heads only where there are none, and the owner’s place in the project', () => {
    const { rows, columns } = writesOf(first);
    expect(rows).toEqual([
      { TableName: 'B', Item: first.batches.get(newBatch(1).id), ...absent('id') },
      { TableName: 'J', Item: first.jobs.get(newJob(1).id), ...absent('id') },
      { TableName: 'P', Item: { project_id: uuid('c', 1), user_id: userId } },
    ]);
    for (const [list, head] of [['b', first.heads.batch] as const, ['j', first.heads.job] as const]) {
      const key = `${list}#head`;
      expect(columns.get(key)).toEqual({ Item: { user_id: userId, key, ...head }, ...absent('key') });
    }
  });

  it('writes blocks only where they are as they were read', () => {
    const sixteen = createAll(16);
    expect(
      [...writesOf(sixteen).columns.keys()].filter((each) => !each.includes('#t#') && !each.includes('#B#')),
    ).toEqual(['b#head', 'j#head']);
    const key = 'b#i#0000000';
    const full = writesOf(create(store(sixteen), 17));
    const { v } = full.columns.get(key)!.Item as { v: Uint8Array };
    expect(v).toHaveLength(16 * 16);
    expect(full.columns.get(key)).toEqual({ Item: { user_id: userId, key, v }, ...absent('key') });
    const more = Array.from({ length: 16 }, (_, at) => at + 18).reduce(
      (draft, number) => create(draft, number),
      store(create(store(sixteen), 17)),
    );
    expect(writesOf(more, new Map([[key, v]])).columns.get(key)).toMatchObject({
      Item: { v: { length: 2 * v.length } },
      ConditionExpression: '#v = :old_v',
      ExpressionAttributeValues: { ':old_v': v },
    });
  });

  it('puts a change beside the head, without a condition', () => {
    const update = { status: 'RUNNING', start_datetime: time } as const;
    const started = updateBatch({ id: newBatch(1).id, update, now: time }).apply(store(first));
    const { columns } = writesOf(started);
    expect([...columns.keys()]).toEqual(['b#hc#0000000']);
    const change = columns.get('b#hc#0000000');
    expect(change).toMatchObject({ UpdateExpression: 'SET #format = :format, t = :t, r0 = :r0' });
    expect(change).not.toHaveProperty('ConditionExpression');
    expect(writesOf(started).columns.get('b#hc#0000000')).not.toEqual(change);
  });

  it('puts nothing there where no column holds what has changed', () => {
    const before = store(first);
    const row = { ...before.stored.batches.get(newBatch(1).id)!, device_status: 'UP' } as const;
    expect([...writesOf(withRows(before, { batches: [row] })).columns.keys()]).toEqual([]);
  });

  it('changes rows and heads only where they are as they were read', () => {
    const { columns } = writesOf(create(store(first), 2));
    expect(columns.get('b#head')).toMatchObject({
      ConditionExpression: asRead,
      ExpressionAttributeValues: { ':old_next_seq': 1, ':old_tail': first.heads.batch.tail },
    });
    const update = updateBatch({ id: newBatch(1).id, update: { device_status: 'UP' }, now: time });
    const changed = writesOf(update.apply(store(first)));
    expect(changed.rows).toMatchObject([
      { Item: { rev: 1 }, ConditionExpression: '#rev = :old_rev', ExpressionAttributeValues: { ':old_rev': 0 } },
    ]);
    expect([...changed.columns.keys()]).toEqual([]);
  });

  it('moves texts from the head to a block of their own when they fill it', () => {
    const texts = Array.from({ length: 25 }, (_, number) => uuid('d', number + 1));
    const content = (number: number) => ({ project_id: texts[number - 1]!, device_type: 'FRESNEL', jobs: [] });
    const before = store(createAll(23, content));
    expect([...writesOf(createAll(23, content)).columns.keys()].filter((key) => key.includes('#texts#'))).toEqual([]);
    const { columns } = writesOf(create(before, 24, content(24)));
    const key = 'b#texts#project_id#0000000';
    const v = Buffer.from(JSON.stringify(texts.slice(0, 24)));
    expect(columns.get(key)).toEqual({ Item: { user_id: userId, key, v }, ...absent('key') });
    expect(columns.get('b#head')).toMatchObject({
      Item: { dictionaries: { project_id: [], device_type: ['FRESNEL'] }, dictionary_blocks: { project_id: 1 } },
      ConditionExpression: asRead,
      ExpressionAttributeValues: { ':old_dictionaries': { project_id: texts.slice(0, 23), device_type: ['FRESNEL'] } },
    });
    const next = create(store(create(before, 24, content(24))), 25, content(25));
    expect(writesOf(next).columns.get('b#head')).toMatchObject({
      Item: { dictionaries: { project_id: [texts[24]] }, dictionary_blocks: { project_id: 1 } },
      ExpressionAttributeValues: { ':old_dictionaries': { project_id: [], device_type: ['FRESNEL'] } },
    });
    expect(writesOf(next).columns.get(key)).toBeUndefined();
    expect(blockKeys(next)).not.toContain(key);
    expect(blockKeys(create(before, 24, content(24)))).toContain(key);
  });

  it('is not made where the head does not count a row', () => {
    const draft = store(first);
    const torn = { ...draft.stored, heads: { ...draft.stored.heads, batch: undefined } };
    const update = updateBatch({ id: newBatch(1).id, update: { status: 'RUNNING' }, now: time });
    const started = update.apply({
      ...draft,
      stored: torn,
      heads: { ...draft.heads, batch: emptyHead(ownerFormats.batch) },
    });
    expect(() => writesOf(started)).toThrow(CorruptData);
  });

  it('deletes a block that is empty afterwards, and does not write one that was and stays empty', () => {
    const key = [...writesOf(first).columns.keys()].find((each) => each.startsWith('b#t#'))!;
    const { v } = writesOf(first).columns.get(key)!.Item as { v: Uint8Array };
    const untag = updateBatch({ id: newBatch(1).id, update: { tags: [] }, now: time }).apply(store(first));
    expect(writesOf(untag, new Map([[key, v]])).columns.get(key)).toEqual({
      Key: { user_id: userId, key },
      ConditionExpression: '#v = :old_v',
      ExpressionAttributeNames: { '#v': 'v' },
      ExpressionAttributeValues: { ':old_v': v },
    });
    expect(writesOf(untag).columns.has(key)).toBe(false);
  });

  it('remembers the events for 15 days, unless they were processed before', () => {
    const draft = { ...first, processedCalls: [{ id: 'e-1', digest: 'd', time }] };
    const key = 'event#e-1';
    const expires_at = Date.parse('2026-03-16T00:00:00Z') / 1000;
    expect(writesOf(draft).columns.get(key)).toEqual({
      Item: { user_id: userId, key, digest: 'd', expires_at },
      ...absent('key'),
    });
  });
});
