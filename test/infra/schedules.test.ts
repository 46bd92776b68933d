import { expect, it } from 'vitest';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable } = synthesize();

it('measures the queues every minute', () => {
  const [rule, ...others] = ofType('AWS::Events::Rule');
  expect(others).toEqual([]);
  expect(rule!.properties).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' });
  expect(rule!.properties.Targets).toMatchObject([{ RetryPolicy: { MaximumRetryAttempts: 0 } }]);
  expect(readable(rule!.properties.Targets[0].Arn)).toBe('Schedules/MeasureQueues');
  const permission = ofType('AWS::Lambda::Permission').find(
    ({ properties }) => properties.Principal === 'events.amazonaws.com',
  );
  expect(readable(permission!.properties.SourceArn)).toBe(rule!.path);
  expect(one('AWS::Lambda::Function', 'Schedules/MeasureQueues').properties.Timeout).toBe(15);
});
