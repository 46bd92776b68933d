import { expect, it } from 'vitest';
import { maxKeyAgeDays } from '../../functions/data/webhooks/webhook-keys.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable } = await synthesize();

it.each([
  ['measures the queues', 'Schedules/MeasureQueues'],
  ['publishes the keys of webhooks', 'WebhookKey/RotateWebhookKey'],
])('%s every minute', (_, target) => {
  const rules = ofType('AWS::Events::Rule');
  expect(rules).toHaveLength(2);
  const rule = rules.find(({ properties }) => readable(properties.Targets[0].Arn) === target)!;
  expect(rule.properties).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' });
  expect(rule.properties.Targets).toMatchObject([{ RetryPolicy: { MaximumRetryAttempts: 0 } }]);
  const permissions = ofType('AWS::Lambda::Permission').filter(
    ({ properties }) => properties.Principal === 'events.amazonaws.com' && readable(properties.FunctionName) === target,
  );
  expect(permissions.map(({ properties }) => readable(properties.SourceArn))).toEqual([rule.path]);
  expect(one('AWS::Lambda::Function', target).properties.Timeout).toBe(15);
});

it('makes a key of webhooks with the secret, and changes it once a year, not when the schedule changes', () => {
  const [secret] = ofType('AWS::SecretsManager::Secret');
  expect(secret!.properties.GenerateSecretString).toEqual({ PasswordLength: 64, ExcludePunctuation: true });
  const [schedule] = ofType('AWS::SecretsManager::RotationSchedule');
  expect(schedule!.properties).toMatchObject({
    RotateImmediatelyOnUpdate: false,
    RotationRules: { AutomaticallyAfterDays: 365 },
  });
  expect(maxKeyAgeDays).toBeGreaterThan(365 + 7);
  // Secrets Manager tries the function when the schedule is made.
  const invocation = one('AWS::Lambda::Permission', 'WebhookKey/Invocation').properties;
  expect([invocation.FunctionName, invocation.SourceAccount].map(readable)).toEqual([
    'WebhookKey/RotateWebhookKey',
    'AWS::AccountId',
  ]);
  expect(invocation.Principal).toBe('secretsmanager.amazonaws.com');
  expect(schedule!.attributes.DependsOn?.map((id) => readable({ Ref: id }))).toContain('WebhookKey/Invocation');
});
