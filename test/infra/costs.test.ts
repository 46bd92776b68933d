import { describe, expect, it } from 'vitest';
import { alarmingCallsPerSecond } from '../../infra/stack/alarms.ts';
import { stages } from '../../infra/stack/stages.ts';

describe('the alarm Calls', () => {
  it('goes off by a loop at a single route of stage prod', () => {
    expect(alarmingCallsPerSecond).toBeLessThan(stages.prod.throttle.seldom);
  });
});
