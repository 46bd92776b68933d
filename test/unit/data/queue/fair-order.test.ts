import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  batchIdOfKey,
  maxWithdrawnRanges,
  newUserClock,
  placeBatch,
  placeOfKey,
  type QueuePlace,
  queueKey,
  tagOfKey,
  tagSteps,
  type UserClock,
  withdrawBatch,
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

describe('withdrawBatch', () => {
  /**
   * What a user does at a device that others keep busy: it creates, cancels what waits, and the
   * device goes on by so many tags.
   */
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ kind: 'create' as const }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), at: fc.nat({ max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('go on' as const), by: fc.nat({ max: 40 }) }) },
  );

  /** The place of the next batch, by all that wait or were taken. */
  const expectedTag = (device: number, tags: readonly number[], size: number) =>
    Math.max(device, ...tags.map((tag) => tag + size));

  it.each(QueuePriority.options)(
    'leaves a %s batch the place that it has without those that were withdrawn',
    (priority) => {
      const size = tagSteps[priority];
      fc.assert(
        fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
          let user = newUserClock;
          let device = 0;
          let waiting: number[] = [];
          const taken: number[] = [];
          for (const each of steps) {
            if (each.kind === 'create') {
              const placed = placeBatch({ device, user }, priority);
              expect(placed.tag).toBe(expectedTag(device, [...waiting, ...taken], size));
              waiting.push(placed.tag);
              user = placed.user;
            } else if (each.kind === 'cancel') {
              const [tag] = waiting.splice(each.at % Math.max(1, waiting.length), 1);
              if (tag !== undefined) user = withdrawBatch(user, { tag, priority });
            } else {
              device += each.by;
              taken.push(...waiting.filter((tag) => tag <= device));
              waiting = waiting.filter((tag) => tag > device);
            }
            const inOrder = [...waiting, ...taken].sort((a, b) => a - b);
            expect(inOrder.every((tag, at) => at === 0 || tag - inOrder[at - 1]! >= size)).toBe(true);
          }
        }),
        { seed },
      );
    },
  );

  it('stays small, and forgets the earliest first: then a place is too late, never too early', () => {
    let user = newUserClock;
    const tags = Array.from({ length: 100 }, () => {
      const placed = placeBatch({ device: 0, user }, 'LOW');
      user = placed.user;
      return placed.tag;
    });
    const cancel = (each: readonly number[]) => {
      for (const tag of each) user = withdrawBatch(user, { tag, priority: 'LOW' });
    };
    cancel(tags.filter((_, at) => at % 2 === 0));
    expect(user.withdrawn).toHaveLength(maxWithdrawnRanges);
    cancel(tags.filter((_, at) => at % 2 === 1));
    expect(user).toEqual({ tag: (100 - 2 * maxWithdrawnRanges - 1) * 16, withdrawn: [] });
  });

  it('leaves a clock as it is that the batch is not of', () => {
    const user: UserClock = { tag: 32, withdrawn: [] };
    expect(withdrawBatch(user, { tag: 32, priority: 'LOW' })).toBe(user);
    expect(withdrawBatch(user, { tag: Number.NaN, priority: 'LOW' })).toBe(user);
  });
});

interface Submission {
  readonly hour: number;
  readonly user: string;
  readonly priority: QueuePriority;
  /** When it is canceled, unless it is at the device by then. */
  readonly canceled?: number;
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

/**
 * A device that runs batches of 6 minutes, one after the other: the hours that each submission
 * waits, in the order in which they are served. What was canceled is not among them.
 */
function simulate(
  submissions: readonly Submission[],
  order: Order = byKey,
): (Submission & { readonly waited: number })[] {
  const users = new Map<string, UserClock>();
  const flowOf = ({ user, priority }: Submission) => `${user} ${priority}`;
  const served: (Submission & { readonly waited: number })[] = [];
  const coming = [...submissions].sort((a, b) => a.hour - b.hour);
  const waiting = new Set<Waiting>();
  let [device, hour] = [0, 0];
  const cancelUntil = (time: number) => {
    for (const each of waiting) {
      if (each.canceled === undefined || each.canceled > time) continue;
      waiting.delete(each);
      users.set(flowOf(each), withdrawBatch(users.get(flowOf(each))!, placeOfKey(each.key)));
    }
  };
  for (let at = 0; at < coming.length || waiting.size > 0; ) {
    for (; at < coming.length && coming[at]!.hour <= hour + 1e-9; at++) {
      const submission = coming[at]!;
      cancelUntil(submission.hour);
      const flow = flowOf(submission);
      const { tag, user } = placeBatch({ device, user: users.get(flow) ?? newUserClock }, submission.priority);
      users.set(flow, user);
      const created_at = fromMicroseconds(at);
      const batchId = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
      waiting.add({ ...submission, at, key: queueKey({ tag, priority: submission.priority, created_at, batchId }) });
    }
    cancelUntil(hour + 1e-9);
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

  it('gives who has canceled 1,000 batches the place of one who never created them', () => {
    const others = ['bob', 'eve'].flatMap((user) => many(500, { hour: 0, user, priority: 'LOW' }));
    const ada = { hour: 2.05, user: 'ada', priority: 'LOW' } as const;
    const waitAfter = (before: readonly Submission[]) =>
      simulate([...others, ...before, ada]).find(({ hour }) => hour === ada.hour)?.waited;
    const batches = many(1000, { ...ada, hour: 1.01 });
    const canceled = batches.map((each) => ({ ...each, canceled: 1.05 }));
    const usual = waitAfter([]);
    expect(usual).toBeLessThan(0.3);
    expect(waitAfter(canceled)).toBe(usual);
    expect(waitAfter(batches)).toBeGreaterThan(100);
  });

  it('gives nobody turns in a row who cancels and creates anew in a loop', () => {
    // Each round leaves the last of 100 batches. With all others given back, those of all rounds
    // would have the same tag.
    const rounds = Array.from({ length: 5 }, (_, round): Submission[] => {
      const hour = 0.01 + round / 1000;
      const left: Submission = { hour, user: 'ada', priority: 'LOW' };
      return [...many(99 - round, { ...left, canceled: hour + 0.0005 }), left];
    }).flat();
    const served = simulate([...rounds, ...many(600, { hour: 0, user: 'eve', priority: 'LOW' })]);
    const users = served.map(({ user }) => user);
    const whileBothWait = users.slice(0, users.lastIndexOf('eve') + 1);
    expect(whileBothWait.filter((user) => user === 'ada')).toHaveLength(5);
    expect(whileBothWait.join(' ')).not.toContain('ada ada');
  });
});
