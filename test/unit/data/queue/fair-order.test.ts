import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  batchIdOfKey,
  nextTag,
  placeOfKey,
  type QueuePlace,
  queueKey,
  tagOfKey,
  tagSteps,
  userClockAfter,
} from '../../../../functions/data/queue/fair-order.ts';
import { QueuePriority } from '../../../../functions/schemas/values.ts';
import { fromMicroseconds } from '../../../../functions/timestamp.ts';
import { seed } from '../../../support/seed.ts';

const place = fc.record({
  tag: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
  priority: fc.constantFrom(...QueuePriority.options),
  created_at: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: Number.MAX_SAFE_INTEGER })).map(fromMicroseconds),
  batchId: fc.uuid(),
});

function compare(a: QueuePlace, b: QueuePlace): number {
  const rank = ({ priority }: QueuePlace) => QueuePriority.options.indexOf(priority);
  const texts = (x: string, y: string) => (x < y ? -1 : x > y ? 1 : 0);
  return a.tag - b.tag || rank(a) - rank(b) || texts(a.created_at, b.created_at) || texts(a.batchId, b.batchId);
}

describe('queueKey', () => {
  it('sorts as a text by tag, then by priority, then by age', () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const keys = [queueKey(a), queueKey(b)] as const;
        expect(Math.sign(compare(a, b))).toBe(keys[0] < keys[1] ? -1 : keys[0] > keys[1] ? 1 : 0);
      }),
      { seed },
    );
  });

  it('says its place', () => {
    fc.assert(
      fc.property(place, (each) => {
        const key = queueKey(each);
        expect(placeOfKey(key)).toEqual(each);
        expect(tagOfKey(key)).toBe(each.tag);
        expect(batchIdOfKey(key)).toBe(each.batchId);
      }),
      { seed },
    );
  });

  it('is what it was: keys in queues are compared with new ones', () => {
    const created_at = '2026-11-21T12:00:00.000001Z';
    const batchId = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
    expect(queueKey({ tag: 48, priority: 'MEDIUM', created_at, batchId })).toBe(
      '0000000000000048.2.2026-11-21T12:00:00.000001Z.5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a',
    );
    expect(tagSteps).toEqual({ CRITICAL: 1, HIGH: 4, MEDIUM: 8, LOW: 16, FREE: 32 });
  });
});

interface Submission {
  readonly hour: number;
  readonly user: string;
  readonly priority: QueuePriority;
}

const hoursOfBatch = 0.1;

type Order = (waiting: readonly Waiting[]) => Waiting;
interface Waiting extends Submission {
  readonly key: string;
  readonly at: number;
}

const byKey: Order = (waiting) => waiting.reduce((first, each) => (each.key < first.key ? each : first));
const firstCome: Order = (waiting) => waiting.reduce((first, each) => (each.at < first.at ? each : first));
const byPriority: Order = (waiting) =>
  waiting.reduce((first, each) =>
    tagSteps[each.priority] < tagSteps[first.priority] || (each.priority === first.priority && each.at < first.at)
      ? each
      : first,
  );

/** A device that runs batches of 6 minutes, one after the other: the hours that each submission waits, in the order in which they are served. */
function simulate(
  submissions: readonly Submission[],
  order: Order = byKey,
): (Submission & { readonly waited: number })[] {
  const users = new Map<string, number>();
  const served: (Submission & { readonly waited: number })[] = [];
  const coming = [...submissions].sort((a, b) => a.hour - b.hour);
  const waiting = new Set<Waiting>();
  let [device, hour] = [0, 0];
  for (let at = 0; served.length < submissions.length; ) {
    for (; at < coming.length && coming[at]!.hour <= hour + 1e-9; at++) {
      const submission = coming[at]!;
      const flow = `${submission.user} ${submission.priority}`;
      const tag = nextTag({ device, user: users.get(flow) ?? 0 });
      users.set(flow, userClockAfter(tag, submission.priority));
      const created_at = fromMicroseconds(at);
      const batchId = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
      waiting.add({ ...submission, at, key: queueKey({ tag, priority: submission.priority, created_at, batchId }) });
    }
    if (waiting.size > 0) {
      const next = order([...waiting]);
      waiting.delete(next);
      device = Math.max(device, tagOfKey(next.key));
      served.push({ hour: next.hour, user: next.user, priority: next.priority, waited: hour - next.hour });
    }
    hour += hoursOfBatch;
  }
  return served;
}

const many = (count: number, submission: Submission): Submission[] => Array.from({ length: count }, () => submission);
const longestWait = (served: ReturnType<typeof simulate>, user: string) =>
  Math.max(...served.flatMap((each) => (each.user === user ? each.waited : [])));

describe('the order', () => {
  it('makes nobody wait behind another’s thousand batches', () => {
    const submissions = [
      ...many(500, { hour: 0, user: 'ada', priority: 'LOW' }),
      ...many(5, { hour: 1, user: 'bob', priority: 'LOW' }),
    ];
    expect(longestWait(simulate(submissions), 'bob')).toBeCloseTo(0.8);
    expect(longestWait(simulate(submissions, firstCome), 'bob')).toBeCloseTo(49.4);
  });

  it('lets nobody starve under a stream of higher priority', () => {
    const stream = Array.from(
      { length: 1000 },
      (_, at): Submission => ({ hour: at * hoursOfBatch, user: 'ada', priority: 'HIGH' }),
    );
    const submissions = [...stream, ...many(5, { hour: 1, user: 'bob', priority: 'LOW' })];
    expect(longestWait(simulate(submissions), 'bob')).toBeCloseTo(2.0);
    expect(longestWait(simulate(submissions, byPriority), 'bob')).toBeCloseTo(99.4);
  });

  it('gives each priority its share: of users who all wait, in the proportion of the weights', () => {
    const submissions = QueuePriority.options.flatMap((priority) => many(400, { hour: 0, user: priority, priority }));
    const first = simulate(submissions).slice(0, 470);
    const shares = QueuePriority.options.map((priority) => first.filter((each) => each.priority === priority).length);
    expect(shares).toEqual([320, 80, 40, 20, 10]);
  });

  it('serves batches of one user and priority in the order in which they came', () => {
    const one = fc.record({
      hour: fc.nat({ max: 20 }).map((tenths) => tenths / 10),
      user: fc.constantFrom('ada', 'bob', 'eve'),
      priority: fc.constantFrom(...QueuePriority.options),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), (submissions) => {
        const served = simulate(submissions);
        for (const flow of Map.groupBy(served, ({ user, priority }) => `${user} ${priority}`).values()) {
          expect(flow.map(({ hour }) => hour)).toEqual(flow.map(({ hour }) => hour).sort((a, b) => a - b));
        }
      }),
      { seed },
    );
  });

  it('gives a user who was away no turns that nobody missed', () => {
    const submissions = [
      ...many(100, { hour: 0, user: 'ada', priority: 'LOW' }),
      ...many(50, { hour: 5, user: 'bob', priority: 'LOW' }),
    ];
    const whenBoth = simulate(submissions).slice(51, 91);
    expect(whenBoth.filter(({ user }) => user === 'ada')).toHaveLength(20);
  });
});
