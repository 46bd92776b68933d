/**
 * One user in a loop, as often as the gateway's rates let through, against the functions of an
 * account of 1,000 environments: a simulation by the facts of the routes, of the stage prod and of
 * its template. A burst at all routes at once may still take all for a moment.
 */

import { describe, expect, it } from 'vitest';
import { maxCallsAtOnce } from '../../functions/data/limits/calls-at-once.ts';
import { maxTestsPerMinute } from '../../functions/data/webhooks/host-limits.ts';
import type { Operation } from '../../functions/http/operation.ts';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { loadOperation } from '../../infra/openapi/load-operation.ts';
import { stackConcurrency } from '../../infra/smoke/stack-concurrency.ts';
import { rateClass, stages } from '../../infra/stack/stages.ts';
import { synthesize } from '../support/synthesize.ts';

const { queues, streams, reserved } = stackConcurrency(JSON.parse((await synthesize({ stage: 'prod' })).text));
/** Four shards for each stream of a new table. */
const shared = 1_000 - reserved - queues - 4 * streams;

/** Everyone else: 20 machines that claim and send heartbeats, and 50 calls of users a second. */
const othersPerSecond = 20 * 2 + 50;
/** A call of 5,000 jobs that is refused was measured to take 0.1 s. */
const seconds = { refused: 0.1, others: 0.1 };

interface LongRoute {
  readonly name: RouteName;
  readonly route: Route;
  readonly counted: keyof typeof maxCallsAtOnce | undefined;
}

/** Routes of users whose functions may take long, and the kind that they are counted as. */
const longRoutes: LongRoute[] = [];
for (const [name, route] of Object.entries<Route>(routes)) {
  if (route.timeoutSeconds === undefined) continue;
  const { errors = [], operator }: Operation = await loadOperation(name as RouteName);
  if (operator) continue;
  const kinds = Object.keys(maxCallsAtOnce) as (keyof typeof maxCallsAtOnce)[];
  longRoutes.push({
    name: name as RouteName,
    route,
    counted: kinds.find((kind) => errors.some((error) => error === `too_many_${kind}`)),
  });
}

/** Calls of others that found no environment in two minutes of the loop, in steps of 10 ms. */
function refusedOthers(places: Readonly<Record<string, number>>): number {
  const step = 0.01;
  const kinds = [...Object.keys(places), 'refused', 'others'];
  const busyUntil = new Map<string, number[]>(kinds.map((kind) => [kind, []]));
  const busy = (kind: string) => busyUntil.get(kind)!.length;
  // Tests of webhooks have their own.
  const busyShared = () => kinds.reduce((sum, kind) => sum + (kind === 'tests' ? 0 : busy(kind)), 0);
  const due = new Map(longRoutes.map(({ name }) => [name, 0]));
  let [refused, tests, dueOfOthers] = [0, 0, 0];
  /** What becomes of the user's call, and how long that takes. */
  const start = ({ route, counted = 'changes' }: LongRoute): [string, number] => {
    const isBeyond = counted === 'tests' && ++tests > 2 * maxTestsPerMinute;
    const hasPlace = busy(counted) < places[counted]! && !isBeyond;
    return hasPlace ? [counted, route.timeoutSeconds!] : ['refused', seconds.refused];
  };
  for (let now = 0; now < 120; now += step) {
    for (const [kind, ends] of busyUntil) {
      busyUntil.set(
        kind,
        ends.filter((end) => end > now),
      );
    }
    for (const route of longRoutes) {
      const calls = due.get(route.name)! + stages.prod.throttle[rateClass(route.route)] * step;
      for (let call = 1; call <= calls && busyShared() < shared; call++) {
        const [kind, duration] = start(route);
        if (kind !== 'tests' || busy('tests') < stages.prod.reserved.testWebhook)
          busyUntil.get(kind)!.push(now + duration);
      }
      due.set(route.name, calls % 1);
    }
    for (dueOfOthers += othersPerSecond * step; dueOfOthers >= 1; dueOfOthers--) {
      if (busyShared() >= shared) refused++;
      else busyUntil.get('others')!.push(now + seconds.others);
    }
  }
  return refused;
}

describe('one user in a loop', () => {
  it('leaves claims, heartbeats and the calls of others their functions', () => {
    expect(longRoutes.filter(({ counted }) => counted === undefined).map(({ name }) => name)).toEqual([]);
    expect(refusedOthers(maxCallsAtOnce)).toBe(0);
  });

  it('would take them all, if long calls were not counted', () => {
    const uncounted = Object.fromEntries(Object.keys(maxCallsAtOnce).map((kind) => [kind, Number.POSITIVE_INFINITY]));
    expect(refusedOthers(uncounted)).toBeGreaterThan(1_000);
  });
});
