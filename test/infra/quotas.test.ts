import { describe, expect, it } from 'vitest';
import { findExcesses, findUnused } from '../../infra/docs/quotas.ts';
import { contexts } from '../support/contexts.ts';
import { synthesize } from '../support/synthesize.ts';

describe.each(Object.entries(contexts))('the template, context %s', (_, context) => {
  it('leaves room in each of AWS’s quotas', async () => {
    const { text } = await synthesize(context);
    expect(findExcesses(text)).toEqual([]);
  });

  it('lets CloudFormation name functions, roles and queues, which cuts what is too long', async () => {
    const { ofType } = await synthesize(context);
    const named = ofType().filter(({ properties = {} }) =>
      ['FunctionName', 'RoleName', 'QueueName', 'ManagedPolicyName'].some((name) => name in properties),
    );
    const ofNames = ['AWS::Lambda::Function', 'AWS::IAM::Role', 'AWS::SQS::Queue', 'AWS::IAM::ManagedPolicy'];
    expect(named.filter(({ type }) => ofNames.includes(type))).toEqual([]);
  });
});

describe('a template with too much', () => {
  const metrics = Array.from({ length: 11 }, () => ({ MetricStat: {} }));
  const alarm = { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmDescription: '', Metrics: metrics } };
  const rules = Object.fromEntries(
    Array.from({ length: 350 }, (_, at) => [`Rule${at}`, { Type: 'AWS::Events::Rule' }]),
  );

  it('is reported by the quota, what exceeds it, what is left and its source', () => {
    expect(findExcesses(JSON.stringify({ Resources: { Alarm: alarm, ...rules } }))).toEqual([
      expect.stringMatching(
        /^resources: 351 of 500 \(the template\), -1 left of our own 350\. https:.* An endpoint needs 2/,
      ),
      expect.stringMatching(/^rules of an event bus: 350 of 100 \(the template\), -250 left\. https:/),
      expect.stringMatching(/^metrics of an alarm: 11 of 10 \(Alarm\), -1 left\. https:/),
    ]);
  });
});

describe('the largest template', () => {
  it('has something of all that is measured', async () => {
    const { text } = await synthesize(contexts.largest);
    expect(findUnused(text)).toEqual([]);
  });
});
