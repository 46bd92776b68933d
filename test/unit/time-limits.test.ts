import { describe, expect, it } from 'vitest';
import { otherFunctions } from '../../functions/other-functions.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { type Route, routes } from '../../functions/routes.ts';
import { timeLimits } from '../../functions/time-limits.ts';
import { lookAgainSeconds } from '../../infra/user-data/erase-user.ts';

const timeout = ({ timeoutSeconds = timeLimits.function }: FunctionDescription) => timeoutSeconds;
const ofRoutes = Object.entries<Route>(routes).map(([name, route]) => [name, timeout(route)] as const);

describe('bounds of time', () => {
  it.each(ofRoutes)('let %s answer before the gateway gives up', (_, seconds) => {
    expect(seconds).toBeLessThan(timeLimits.gateway);
  });

  it('stop a call of many transactions while its function can still answer', () => {
    expect(timeLimits.pace.forAll).toBeLessThan(timeLimits.pace.most);
    // A transaction that is begun at the last moment, with what is read for it.
    expect(timeLimits.pace.most + 1 + timeLimits.toAnswer).toBeLessThan(timeLimits.longFunction);
    expect(timeLimits.pace.forAll + timeLimits.erasurePart).toBeLessThanOrEqual(timeLimits.pace.most);
  });

  it('stop the recovery of a batch before its function ends', () => {
    expect(timeout(otherFunctions.recoverBatches)).toBe(timeLimits.recoveryFunction);
    expect(timeLimits.recoveryPace.forAll).toBeLessThan(timeLimits.recoveryPace.most);
    expect(timeLimits.recoveryPace.most).toBeLessThan(timeLimits.recoveryFunction - 10);
  });

  it('leave a creation as much time for its own transactions as it waits for others', () => {
    expect(timeLimits.writerLock).toBeLessThanOrEqual(timeLimits.longFunction / 2);
    expect(timeLimits.heldLock).toBeLessThan(timeLimits.writerLock);
  });

  it('let a claim find work, begin it and answer', () => {
    expect(timeLimits.claimSearch).toBeLessThan(timeout(routes.claimBatch) / 2 + 1);
  });

  it('call a receiver and store what came of it', () => {
    const { receiverCall, toStoreDelivery, deliveryFunction } = timeLimits;
    expect(receiverCall + toStoreDelivery).toBeLessThan(deliveryFunction);
    expect(timeout(otherFunctions.deliverWebhooks)).toBe(deliveryFunction);
  });

  it('outlive every function: a lease and a recovery never overtake one that is still at work', () => {
    const timeouts = [
      ...ofRoutes.map(([, seconds]) => seconds),
      ...Object.values<FunctionDescription>(otherFunctions).map(timeout),
    ];
    expect(Math.max(...ofRoutes.map(([, seconds]) => seconds))).toBeLessThan(timeLimits.lease);
    expect(Math.max(...timeouts)).toBeLessThan(timeLimits.recoveryDelay);
    expect(Math.max(...timeouts)).toBeLessThanOrEqual(timeLimits.recoveryFunction);
  });

  it('look for results again when no link for an upload is valid, with minutes for slow uploads', () => {
    const ended = timeLimits.uploadLink + timeLimits.gateway;
    for (const again of [timeLimits.recoveryDelay, lookAgainSeconds]) expect(ended + 240).toBeLessThan(again);
  });
});
