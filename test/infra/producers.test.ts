import { describe, expect, it } from 'vitest';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = await synthesize();

describe('the policies for producers', () => {
  it.each([
    ['SendEvents', ['sqs:GetQueueUrl', 'sqs:SendMessage'], 'Queues/Events'],
    ['UploadResults', ['s3:AbortMultipartUpload', 's3:PutObject'], 'Storage/Results/results/*'],
  ])('%s allows that, and nothing else', (name, actions, resource) => {
    const [statement, ...others] = one('AWS::IAM::ManagedPolicy', `Producers/${name}`).properties.PolicyDocument
      .Statement;
    expect(others).toEqual([]);
    expect({ ...statement, Resource: readable(statement.Resource) }).toEqual({
      Effect: 'Allow',
      Action: actions,
      Resource: resource,
    });
    expect(readable(outputs[`${name}Policy`])).toBe(`Producers/${name}`);
  });

  it('are attached to no role, user or group by the stack', () => {
    for (const { properties } of ofType('AWS::IAM::ManagedPolicy')) {
      expect([properties.Roles, properties.Users, properties.Groups]).toEqual([undefined, undefined, undefined]);
    }
  });
});
