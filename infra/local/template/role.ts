import { SetupProblem } from '../../commands/setup-problem.ts';
import { checkStatements, type PolicyStatement } from '../iam/policy.ts';
import type { Resource } from './template.ts';

/**
 * What a role of the template allows to a service that may assume it. Throws SetupProblem when
 * there is no such role, or the service may not.
 */
export function readRole(roleArn: string, resources: readonly Resource[], service: string): readonly PolicyStatement[] {
  const role = resources.find(({ type, attributes }) => type === 'AWS::IAM::Role' && attributes.Arn === roleArn);
  if (role === undefined) throw new SetupProblem(`The template does not declare the role ${roleArn}.`);
  const trusted: PolicyStatement[] = role.properties.AssumeRolePolicyDocument?.Statement ?? [];
  if (!trusted.some(({ Principal }) => (Principal as { Service?: string } | undefined)?.Service === service)) {
    throw new SetupProblem(`The role ${roleArn} is not for ${service}.`);
  }
  const unknownPolicy = (role.properties.ManagedPolicyArns ?? []).find(
    (arn: string) => !/service-role\/AWSLambdaBasicExecutionRole$|AWSXRayDaemonWriteAccess$/.test(arn),
  );
  if (unknownPolicy !== undefined) {
    throw new SetupProblem(`The local stack does not know the managed policy ${unknownPolicy}.`);
  }
  const policies: { PolicyDocument: { Statement: PolicyStatement[] } }[] = role.properties.Policies ?? [];
  return checkStatements(
    role.logicalId,
    policies.flatMap((policy) => policy.PolicyDocument.Statement),
  );
}
