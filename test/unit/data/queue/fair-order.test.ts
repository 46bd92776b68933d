import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  batchIdOfKey,
  maxWithdrawnRanges,
  placeOfKey,
  placeWork,
  type QueuePlace,
  queueKey,
  type TimeRange,
  tagOfKey,
  tagSteps,
  type UserClock,
  withCharge,
  withdrawWork,
  workEnd,
} from '../../../../functions/data/queue/fair-order.ts';
import { QueuePriority } from '../../../../functions/schemas/values.ts';
import { fromMicroseconds } from '../../../../functions/values/timestamp.ts';
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
    expect(tagSteps).toEqual({ CRITICAL: 100, HIGH: 400, MEDIUM: 800, LOW: 1600, FREE: 3200 });
  });
});

describe('withdrawWork', () => {
  /**
   * What happens at a device that others keep busy: the user creates, or cancels what waits, or the
   * device goes on by a number of tags.
   */
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), jobs: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), at: fc.nat({ max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('go on' as const), by: fc.nat({ max: 4_000 }) }) },
  );

  it.each(QueuePriority.options)(
    'gives a %s batch the same place as if withdrawn batches had never been',
    (priority) => {
      const size = tagSteps[priority];
      fc.assert(
        fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
          let user: UserClock = {};
          let device = 0;
          let waiting: TimeRange[] = [];
          const taken: TimeRange[] = [];
          for (const each of steps) {
            if (each.kind === 'create') {
              const placed = placeWork({ device, user }, { priority, jobs: each.jobs });
              const from = Math.max(device, ...[...waiting, ...taken].map(([, to]) => to));
              expect(placed.charge).toEqual([from, from + each.jobs * size]);
              expect(placed.tag).toBe(placed.charge[1] - size);
              waiting.push(placed.charge);
              user = placed.user;
            } else if (each.kind === 'cancel') {
              const [charge] = waiting.splice(each.at % Math.max(1, waiting.length), 1);
              if (charge !== undefined) user = withdrawWork(user, priority, charge);
            } else {
              device += each.by;
              taken.push(...waiting.filter(([, to]) => to - size <= device));
              waiting = waiting.filter(([, to]) => to - size > device);
            }
            const inOrder = [...waiting, ...taken].sort((a, b) => a[0] - b[0]);
            expect(inOrder.every(([from], at) => at === 0 || from >= inOrder[at - 1]![1])).toBe(true);
          }
        }),
        { seed },
      );
    },
  );

  it('stays small, and forgets the earliest first: then a place is too late, never too early', () => {
    let user: UserClock = {};
    const charges = Array.from({ length: 100 }, () => {
      const placed = placeWork({ device: 0, user }, { priority: 'LOW', jobs: 1 });
      user = placed.user;
      return placed.charge;
    });
    const cancel = (each: readonly TimeRange[]) => {
      for (const charge of each) user = withdrawWork(user, 'LOW', charge);
    };
    cancel(charges.filter((_, at) => at % 2 === 0));
    expect(user.LOW?.withdrawn).toHaveLength(maxWithdrawnRanges);
    const high = placeWork({ device: 0, user }, { priority: 'HIGH', jobs: 1 });
    const behind = placeWork({ device: 0, user: high.user }, { priority: 'HIGH', jobs: 1 }).user;
    const both = withdrawWork(behind, 'HIGH', high.charge);
    expect([both.LOW?.withdrawn, both.HIGH?.withdrawn].flat()).toHaveLength(maxWithdrawnRanges);
    cancel(charges.filter((_, at) => at % 2 === 1));
    expect(user).toEqual({ LOW: { end: (100 - 2 * maxWithdrawnRanges - 1) * tagSteps.LOW, withdrawn: [] } });
  });

  it('leaves a clock as it is that the charge is not of', () => {
    const user: UserClock = { LOW: { end: 3_200, withdrawn: [] } };
    expect(withdrawWork(user, 'LOW', [3_200, 4_800])).toBe(user);
    expect(withdrawWork(user, 'LOW', [Number.NaN, 1_600])).toBe(user);
    expect(withdrawWork(user, 'HIGH', [0, 400])).toBe(user);
  });
});

describe('withCharge', () => {
  it('joins what is adjacent, and keeps as much as a clock does', () => {
    expect(withCharge([[0, 800]], [800, 1_600])).toEqual([[0, 1_600]]);
    const apart = Array.from({ length: 100 }, (_, at): TimeRange => [at * 10, at * 10 + 5]);
    expect(apart.reduce<TimeRange[]>(withCharge, [])).toEqual(apart.slice(-maxWithdrawnRanges));
  });
});

interface Submission {
  readonly hour: number;
  readonly user: string;
  readonly priority: QueuePriority;
  /** By default as many as all batches of the simulation have. */
  readonly jobs?: number;
  /** When it is canceled, unless it is at the device by then. */
  readonly canceled?: number;
}

const hoursOfBatch = 0.1;

type Order = (waiting: readonly Waiting[]) => Waiting;
interface Waiting extends Submission {
  readonly key: string;
  readonly charge: TimeRange;
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
  jobsOfAll = 1,
): (Submission & { readonly waited: number })[] {
  const users = new Map<string, UserClock>();
  const served: (Submission & { readonly waited: number })[] = [];
  const coming = [...submissions].sort((a, b) => a.hour - b.hour);
  const waiting = new Set<Waiting>();
  let [device, hour] = [0, 0];
  const cancelUntil = (time: number) => {
    for (const each of waiting) {
      if (each.canceled === undefined || each.canceled > time) continue;
      waiting.delete(each);
      users.set(each.user, withdrawWork(users.get(each.user)!, each.priority, each.charge));
    }
  };
  for (let at = 0; at < coming.length || waiting.size > 0; ) {
    for (; at < coming.length && coming[at]!.hour <= hour + 1e-9; at++) {
      const submission = coming[at]!;
      cancelUntil(submission.hour);
      const { priority, jobs = jobsOfAll } = submission;
      const clocks = { device, user: users.get(submission.user) ?? {} };
      const { tag, charge, user } = placeWork(clocks, { priority, jobs });
      users.set(submission.user, user);
      const created_at = fromMicroseconds(at);
      const batchId = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
      waiting.add({ ...submission, at, charge, key: queueKey({ tag, priority, created_at, batchId }) });
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
  it.each([1, 500])('makes nobody wait behind another’s 500 batches of %d jobs', (jobs) => {
    const submissions = [
      ...many(500, { hour: 0, user: 'ada', priority: 'LOW' }),
      ...many(5, { hour: 1, user: 'bob', priority: 'LOW' }),
    ];
    expect(longestWait(simulate(submissions, byKey, jobs), 'bob')).toBeCloseTo(0.8);
    expect(longestWait(simulate(submissions, firstCome), 'bob')).toBeCloseTo(49.4);
  });

  it.each([
    [1, 2],
    [500, 2.3],
  ])('lets nobody starve under a stream of higher priority, of %d jobs a batch', (jobs, hours) => {
    const stream = Array.from(
      { length: 1000 },
      (_, at): Submission => ({ hour: at * hoursOfBatch, user: 'ada', priority: 'HIGH' }),
    );
    const submissions = [...stream, ...many(5, { hour: 1, user: 'bob', priority: 'LOW' })];
    expect(longestWait(simulate(submissions, byKey, jobs), 'bob')).toBeCloseTo(hours);
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

  it('gives a user who was away no turns for the time away', () => {
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

  it('gives no turns in a row to a user who cancels and creates anew in a loop', () => {
    // Each round leaves the last of 100 batches. If all others were given back, the batches left by
    // all rounds would have the same tag.
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

/** A batch of the user who tries to gain. */
interface Tried {
  readonly priority: QueuePriority;
  readonly at: number;
  tag: number;
  jobs: number;
  charges: TimeRange[];
}

/**
 * A device with a queue of an honest user, whose many batches of one job wait from the beginning,
 * and of another one, who tries to gain. Every job takes the same time. Counts the jobs of both.
 */
class Contest {
  readonly honest: QueuePriority;
  readonly done = { honest: 0, other: 0 };
  /** The largest lead of the other user at the end of any job. */
  lead = 0;
  device = 0;
  user: UserClock = {};
  waiting: Tried[] = [];
  held: Tried | undefined;
  created = 0;

  constructor(honest: QueuePriority) {
    this.honest = honest;
  }

  create(priority: QueuePriority, jobs: number): void {
    const { tag, charge, user } = placeWork(this, { priority, jobs });
    this.user = user;
    this.created += 1;
    this.waiting.push({ priority, at: this.created, tag, jobs, charges: [charge] });
  }

  cancel(at: number): void {
    const [batch] = this.waiting.splice(at % Math.max(1, this.waiting.length), 1);
    for (const charge of batch?.charges.reverse() ?? []) this.user = withdrawWork(this.user, batch!.priority, charge);
  }

  add(at: number, jobs: number): void {
    const batch = this.waiting[at % Math.max(1, this.waiting.length)];
    if (batch === undefined) return;
    const { tag, charge, user } = placeWork(this, { priority: batch.priority, jobs, notBefore: batch.tag + 1 });
    this.user = user;
    Object.assign(batch, { tag, jobs: batch.jobs + jobs, charges: withCharge(batch.charges, charge) });
  }

  /** Adds jobs to the batch that the device has. */
  addToHeld(jobs: number): void {
    if (this.held === undefined) return;
    this.user = placeWork(this, { priority: this.held.priority, jobs }).user;
    this.held.jobs += jobs;
  }

  /** The device runs the next job. */
  run(): void {
    const rank = (priority: QueuePriority) => QueuePriority.options.indexOf(priority);
    const compare = (a: Tried, b: Tried) => a.tag - b.tag || rank(a.priority) - rank(b.priority) || a.at - b.at;
    const next = this.held ?? this.waiting.sort(compare)[0];
    const honest = {
      priority: this.honest,
      at: 0,
      tag: this.done.honest * tagSteps[this.honest],
      jobs: 1,
      charges: [],
    };
    if (next === undefined || (this.held === undefined && compare(honest, next) < 0)) {
      this.device = Math.max(this.device, honest.tag);
      this.done.honest += 1;
      return;
    }
    if (this.held === undefined) {
      this.device = Math.max(this.device, next.tag);
      this.waiting = this.waiting.filter((each) => each !== next);
    }
    next.jobs -= 1;
    this.held = next.jobs === 0 ? undefined : next;
    this.done.other += 1;
    this.lead = Math.max(this.lead, this.done.other - this.done.honest);
  }

  /** The batch that the device has goes behind the others: its jobs are charged already. */
  putBack(): void {
    if (this.held === undefined) return;
    const tag = Math.max(this.device, this.held.tag + 1, workEnd(this.user, this.held.priority));
    this.waiting.push({ ...this.held, tag });
    this.held = undefined;
  }
}

describe('a user who tries to gain', () => {
  const from = (priority: QueuePriority) => QueuePriority.options.slice(QueuePriority.options.indexOf(priority));
  const jobs = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 60 }), fc.constant(500));
  const at = fc.nat({ max: 50 });
  const tried = (honest: QueuePriority) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constant('create' as const), fc.constantFrom(...from(honest)), jobs) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('cancel' as const), at) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('add' as const), at, jobs) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('run' as const), fc.integer({ min: 1, max: 40 })) },
    );

  it.each(QueuePriority.options)(
    'splits, joins, spreads, cancels and adds, and is never more than a job ahead of one who is honest at %s',
    (honest) => {
      fc.assert(
        fc.property(fc.array(tried(honest), { minLength: 5, maxLength: 120 }), (steps) => {
          const contest = new Contest(honest);
          for (const [kind, first, second] of steps) {
            if (kind === 'create') contest.create(first, second);
            else if (kind === 'cancel') contest.cancel(first);
            else if (kind === 'add') contest.add(first, second);
            else for (let times = 0; times < first; times++) contest.run();
          }
          for (let times = 0; times < 3_000; times++) contest.run();
          expect(contest.lead).toBeLessThanOrEqual(1);
        }),
        { seed },
      );
    },
  );

  it.each([['LMF'], ['MLF'], ['FLM'], ['FM']])(
    'spreads over priorities, in the order %s, and gets no more than half',
    (order) => {
      const contest = new Contest('MEDIUM');
      const priorities = { F: 'FREE', L: 'LOW', M: 'MEDIUM' } as const;
      for (const letter of order) {
        for (let times = 0; times < 200; times++) contest.create(priorities[letter as 'F'], 1);
      }
      for (let times = 0; times < 400; times++) contest.run();
      expect(contest.done.other).toBeGreaterThanOrEqual(199);
      expect(contest.lead).toBeLessThanOrEqual(1);
    },
  );

  it('has one job of each priority, and only one of them begins before it was paid for', () => {
    const contest = new Contest('CRITICAL');
    for (const priority of ['FREE', 'HIGH', 'CRITICAL'] as const) contest.create(priority, 1);
    for (let times = 0; times < 20; times++) contest.run();
    expect(contest.done.other).toBe(3);
    expect(contest.lead).toBeLessThanOrEqual(1);
  });

  it('feeds an open batch at the device, and gains no more than the device gives it at once', () => {
    const contest = new Contest('MEDIUM');
    contest.create('MEDIUM', 1);
    const jobsOfDevice = 30;
    for (let turns = 0; turns < 3_000; turns++) {
      contest.run();
      contest.addToHeld(1);
      if (contest.held === undefined && contest.waiting.length === 0) contest.create('MEDIUM', 2);
      if (turns % jobsOfDevice === 0) contest.putBack();
    }
    expect(contest.lead).toBeLessThanOrEqual(jobsOfDevice + 1);
    expect(contest.done.other).toBeGreaterThan(1_000);
  });

  it('has its urgent work done before its slow work, at nearly the same price', () => {
    const contest = new Contest('FREE');
    for (let times = 0; times < 100; times++) contest.create('FREE', 1);
    for (let times = 0; times < 64; times++) contest.create('CRITICAL', 1);
    // Meanwhile each of the two has three FREE jobs done.
    for (let times = 0; times < 64 + 2 * 3; times++) contest.run();
    expect(contest.waiting.map(({ priority }) => priority)).not.toContain('CRITICAL');
  });
});
