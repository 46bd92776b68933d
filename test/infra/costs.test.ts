import { describe, expect, it } from 'vitest';
import { tracesOfBackground } from '../../infra/docs/usage-costs.ts';
import { alarmingCallsPerSecond } from '../../infra/stack/alarms.ts';
import { stages } from '../../infra/stack/stages.ts';

describe('the traces of calls that no request starts', () => {
  it('are all of them below one a second, and 5 % of those beyond', () => {
    const month = 2_592_000;
    expect([86_400, month, 11 * month].map(tracesOfBackground)).toEqual([86_400, month, 1.5 * month]);
  });
});

describe('the alarm Calls', () => {
  it('goes off by a loop at a single route of stage prod', () => {
    expect(alarmingCallsPerSecond).toBeLessThan(stages.prod.throttle.seldom);
  });
});
