/** What previews of acts name, beside what the acts then do. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { setBatchPriority } from '../../functions/data/operators/operator-acts.ts';
import { previewPriority, previewSetting } from '../../functions/data/operators/preview-acts.ts';
import { DeviceSettingsRequest } from '../../functions/schemas/device.ts';
import type { Preview } from '../../functions/schemas/preview.ts';
import { QueuePriority } from '../../functions/schemas/values.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { cases, deep } from '../support/depth.ts';
import { ownTables } from '../support/own-tables.ts';
import { seed } from '../support/seed.ts';
import { type TwinWorld, twinWorld, type WorldPlan, type WorldSettings } from '../support/twin-worlds.ts';

const { client, tables } = await ownTables();

/** In a world: what it would change, and the act itself. */
interface Act {
  /** Of both worlds, before. */
  readonly before?: (world: TwinWorld) => Promise<unknown>;
  readonly look: (world: TwinWorld) => Promise<Preview>;
  readonly act: (world: TwinWorld) => Promise<unknown>;
}

type Pick = <Value>(values: readonly Value[]) => Value;

const reason = 'Works';

function setting(settings: (world: TwinWorld) => WorldSettings, before?: Act['before']): Act {
  return {
    ...(before && { before }),
    look: (world) => previewSetting(world.stack.db, world.device, DeviceSettingsRequest.parse(settings(world))),
    act: (world) => world.set(settings(world)),
  };
}

const window = ({ clock }: TwinWorld, from: number, seconds: number) => ({
  starts_at: fromMilliseconds(clock.now + from * 1_000),
  ends_at: fromMilliseconds(clock.now + (from + seconds) * 1_000),
  reason,
});

const priority = (pick: Pick): Act => {
  const [to, place] = [pick(QueuePriority.options), pick([0, 0.3, 0.6, 0.99])];
  const requestIn = (world: TwinWorld) => {
    const held = world.held();
    const waiting = world.ids.filter((id) => !world.ends.has(id) && !held.includes(id));
    const batchId = waiting[Math.floor(place * waiting.length)]!;
    return { operator: 'auth0|operator', userId: world.userOf(batchId), batchId, priority: to, reason };
  };
  return {
    look: (world) => previewPriority(world.stack.db, requestIn(world)),
    act: (world) => setBatchPriority(world.stack.db, requestIn(world)),
  };
};

const acts: Readonly<Record<string, (pick: Pick) => Act>> = {
  'a pause': () => setting(() => ({ mode: 'PAUSED', reason })),
  'a higher or lower priority': priority,
  'a window from now on': (pick) => {
    const seconds = pick([100, 300, 900]);
    return setting((world) => ({ windows: [window(world, 0, seconds)] }));
  },
  draining: () => setting(() => ({ mode: 'DRAINING', reason })),
  'a window to come': (pick) => {
    const [from, seconds] = [pick([20, 60, 200]), pick([100, 300, 900])];
    return setting((world) => ({ windows: [window(world, from, seconds)] }));
  },
  'another priority': priority,
  'the end of a pause': (pick) => {
    const seconds = pick([50, 300]);
    return setting(
      () => ({ mode: 'OPEN' }),
      async (world) => {
        await world.set({ mode: 'PAUSED', reason });
        await world.wait(seconds);
      },
    );
  },
  'a bound for jobs': (pick) => {
    const max_job_seconds = pick([10, 25, 60]);
    return setting(() => ({ max_job_seconds }));
  },
  'no window any more': (pick) => {
    const [from, seconds] = [pick([5, 60]), pick([100, 300, 900])];
    return setting(
      () => ({ windows: [] }),
      async (world) => {
        await world.set({ windows: [window(world, from, seconds)] });
        await world.wait(10);
      },
    );
  },
  closing: () => setting(() => ({ mode: 'CLOSED', reason })),
};
const kinds = Object.keys(acts);

function randomPlan(of: number): WorldPlan & { readonly pick: Pick } {
  const random = randomNumbers(of);
  const pick: Pick = (values) => values[Math.floor(random() * values.length)]!;
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const sigma = 0.2 + 0.6 * random();
  const seconds = () => Math.min(600, 30 * Math.exp(sigma * normal()));
  const batches = Array.from({ length: 6 + Math.floor(random() * 5) }, () => ({
    user: Math.floor(random() * 4),
    priority: random() < 0.5 ? 'MEDIUM' : pick(QueuePriority.options),
    jobs: Array.from({ length: pick([1, 1, 2, 3]) }, seconds),
  }));
  const history = Array.from({ length: 60 }, seconds);
  return { workers: pick([1, 1, 2, 3]), batches, history, reports: 1 + Math.floor(random() * 4), seed: of, pick };
}

/** Of a batch: its preview, and when it ended without the act and with it, in milliseconds. */
interface Judged {
  readonly kind: string;
  readonly seed: number;
  readonly at: number;
  readonly said: Preview['batches'][number] | undefined;
  readonly without: number;
  readonly with: number;
}

async function judgeAct(of: number, kind: string): Promise<Judged[]> {
  const { pick, ...plan } = randomPlan(of);
  const { before, look, act } = acts[kind]!(pick);
  const worlds = await Promise.all([twinWorld(client, tables, plan), twinWorld(client, tables, plan)]);
  for (const world of worlds) await world.warmUp();
  for (const world of worlds) await before?.(world);
  const [left, right] = worlds;
  expect([...left.ends.values()], `worlds of seed ${of}`).toEqual([...right.ends.values()]);
  const said = await look(right);
  expect(said.is_complete).toBe(true);
  const [at, open] = [right.clock.now, right.ids.filter((id) => !right.ends.has(id))];
  expect(said.looked_at).toBe(open.length);
  await act(right);
  await Promise.all(worlds.map((world) => world.finish()));
  return open.map((id) => ({
    ...{ kind, seed: of, at },
    said: said.batches.find(({ batch_id }) => batch_id === id),
    without: left.ends.get(left.ids[right.ids.indexOf(id)]!) ?? Number.POSITIVE_INFINITY,
    with: right.ends.get(id) ?? Number.POSITIVE_INFINITY,
  }));
}

const from = deep ? seed : 1;
const count = cases(10, 200);

describe(`acts on a simulated clock (seeds from ${from})`, () => {
  it('move the batches that were named, by as much as was said', { timeout: 3_600_000 }, async () => {
    // Which reports are kept follows from the seed, too.
    const random = vi.spyOn(Math, 'random').mockImplementation(randomNumbers(from));
    onTestFinished(() => random.mockRestore());
    const judged: Judged[] = [];
    for (let at = 0; at < count; at++) judged.push(...(await judgeAct(from + at, kinds[at % kinds.length]!)));
    const verdict = judge(judged);
    if (deep || process.env.SHOW) console.log(verdict);
    expect(verdict.wrongEnds, 'ends that were said never to come, or to come').toEqual([]);
    expect(verdict.moved, 'batches that ended at another time').toBeGreaterThan(2 * count);
    expect(verdict.named / verdict.moved, 'of them named').toBeGreaterThanOrEqual(0.9);
    expect(verdict.sureMoved / verdict.sure, 'moved, of those said to move for sure').toBeGreaterThanOrEqual(0.9);
    expect(verdict.delaysWithin / verdict.delays, 'delays within their ranges').toBeGreaterThanOrEqual(0.8);
    expect(verdict.endsWithin / verdict.ends, 'ends within their ranges').toBeGreaterThanOrEqual(0.8);
  });
});

/** Idle workers ask every 3 s: an end is known to 4 s. */
const noise = 4;

function judge(judged: readonly Judged[]) {
  const of = (each: Judged) => `${each.kind}, seed ${each.seed}`;
  const delayOf = (each: Judged) => (each.with - each.without) / 1_000;
  const isMoved = (each: Judged) => each.with !== each.without && !(Math.abs(delayOf(each)) < noise);
  const wrongEnds = judged.filter(({ said, without, with: after }) => {
    if (said === undefined) return Number.isFinite(without) !== Number.isFinite(after);
    return (
      (said.ends_before === null) === Number.isFinite(without) || (said.ends_after === null) === Number.isFinite(after)
    );
  });
  const moved = judged.filter(isMoved);
  const timed = judged.filter(({ said }) => said?.delay_seconds);
  const within = (low: number, value: number, high: number) => low - noise <= value && value <= high + noise;
  const sure = timed.filter(({ said }) => said!.delay_seconds!.least >= noise || said!.delay_seconds!.most <= -noise);
  const ends = judged.flatMap(({ said, without, with: after }) => [
    ...(said?.ends_before ? [{ range: said.ends_before, end: without }] : []),
    ...(said?.ends_after ? [{ range: said.ends_after, end: after }] : []),
  ]);
  const outside = timed.filter((each) => {
    const { least, most } = each.said!.delay_seconds!;
    return !within(least, delayOf(each), most);
  });
  return {
    wrongEnds: wrongEnds.map(of),
    moved: moved.length,
    named: moved.filter(({ said }) => said !== undefined).length,
    notNamed: moved.filter(({ said }) => said === undefined).map((each) => `${of(each)}: ${delayOf(each)} s`),
    sure: sure.length,
    sureMoved: sure.filter((each) => Math.sign(delayOf(each)) === Math.sign(each.said!.delay_seconds!.likely)).length,
    delays: timed.length,
    delaysWithin: timed.length - outside.length,
    outside: outside.map((each) => `${of(each)}: ${delayOf(each)} s, ${JSON.stringify(each.said!.delay_seconds)}`),
    ends: ends.length,
    endsWithin: ends.filter(({ range, end }) =>
      within(Date.parse(range.earliest) / 1_000, end / 1_000, Date.parse(range.latest) / 1_000),
    ).length,
  };
}
