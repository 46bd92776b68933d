import { describe, expect, it } from 'vitest';
import { delayText, groupsOf } from '../../../../functions/console/parts/preview-groups.ts';
import type { MovedBatch } from '../../../../functions/schemas/preview.ts';

const end = { earliest: '2026-11-20T10:00:00Z', likely: '2026-11-20T10:10:00Z', latest: '2026-11-20T10:20:00Z' };

const moved = (batch_id: string, values: Partial<MovedBatch>): MovedBatch => ({
  ...{ user_id: 'ada', user_name: 'Ada', batch_id, project_id: null, device_type: 'FRESNEL' },
  ...{ queue_priority: 'MEDIUM', jobs_left: 3, is_at_work: false },
  ...{ ends_before: end, ends_before_reason: null, ends_after: end, ends_after_reason: null },
  delay_seconds: null,
  ...values,
});
const delayed = (least: number, likely: number, most: number) => ({ delay_seconds: { least, likely, most } });

describe('the groups of batches that an act moves', () => {
  const inGroups = (batches: readonly MovedBatch[]) =>
    groupsOf({ batches: [...batches] }).map(({ name, batches }) => [name, batches.map(({ batch }) => batch.batch_id)]);

  it('begin with those that have no end, and keep the order of the answer', () => {
    expect(
      inGroups([
        moved('earlier', delayed(-90, -60, -30)),
        moved('lost', { ends_after: null, ends_after_reason: 'no_worker' }),
        moved('paused', { ends_after: null, ends_after_reason: 'paused' }),
        moved('later', delayed(30, 60, 90)),
        moved('closed', { ends_after: null, ends_after_reason: 'closed' }),
        moved('gained', { ends_before: null, ends_before_reason: 'paused' }),
        moved('much later', delayed(300, 600, 900)),
      ]),
    ).toEqual([
      ['held', ['paused', 'closed']],
      ['lost', ['lost']],
      ['later', ['later', 'much later']],
      ['gained', ['gained']],
      ['earlier', ['earlier']],
    ]);
  });

  it('take the side to which a batch may move, where the likely delay is none', () => {
    expect(inGroups([moved('a', delayed(0, 0, 60)), moved('b', delayed(-60, 0, 0))])).toEqual([
      ['later', ['a']],
      ['earlier', ['b']],
    ]);
  });

  it('leave out what had no end before, for the same cause', () => {
    const none = { ends_before: null, ends_after: null };
    expect(
      inGroups([
        moved('paused, then closed', { ...none, ends_before_reason: 'paused', ends_after_reason: 'closed' }),
        moved('no worker', { ...none, ends_before_reason: 'no_worker', ends_after_reason: 'unknown' }),
        moved('held now', { ...none, ends_before_reason: 'unknown', ends_after_reason: 'paused' }),
        moved('free, without a worker', { ...none, ends_before_reason: 'paused', ends_after_reason: 'no_worker' }),
      ]),
    ).toEqual([
      ['held', ['held now']],
      ['lost', ['free, without a worker']],
    ]);
  });

  it('are none where nothing moves', () => {
    expect(inGroups([])).toEqual([]);
  });
});

describe('a delay in words', () => {
  it.each([
    [2_100, 2_400, 3_120, 'by about 40 min (35 min to 52 min)'],
    [-3_120, -2_400, -2_100, 'by about 40 min (35 min to 52 min)'],
    [-300, 600, 1_200, 'between 5 min earlier and 20 min later'],
    [601, 602, 603, 'by about 10 min'],
    [0, 7, 13, 'by about 7 s (0 s to 13 s)'],
    [7_240, 7_300, 9_000, 'by about 2 h (2 h to 2 h 30 min)'],
    [100_000, 180_000, 260_000, 'by about 2 d 2 h (28 h to 3 d)'],
  ])('%d to %d to %d seconds: %s', (least, likely, most, text) => {
    expect(delayText({ least, likely, most })).toBe(text);
  });
});
