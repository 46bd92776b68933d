import { describe, expect, it } from 'vitest';
import { checkStatements, isAllowed, type PolicyStatement } from '../../../../infra/local/iam/policy.ts';

const arn = 'arn:aws:dynamodb:eu-west-3:1:table/Batches';
const allow = (Action: string | string[], Resource: string | string[] = arn): PolicyStatement => ({
  Effect: 'Allow',
  Action,
  Resource,
});
const request = { action: 'dynamodb:GetItem', resource: arn };

describe('isAllowed', () => {
  it.each<[string, PolicyStatement[], boolean]>([
    ['nothing is said', [], false],
    ['the action and resource are named', [allow('dynamodb:GetItem')], true],
    ['they are among others', [allow(['dynamodb:Query', 'DynamoDB:getitem'], ['x', arn])], true],
    ['wildcards match', [allow('dynamodb:*', 'arn:aws:dynamodb:*:?:table/B*')], true],
    ['another action is named', [allow('dynamodb:GetItems')], false],
    ['another resource is named', [allow('dynamodb:GetItem', `${arn}/index/by_creation`)], false],
    ['the pattern is a prefix only', [allow('dynamodb:GetItem', 'arn:aws:dynamodb')], false],
    ['it is denied as well', [allow('*', '*'), { Effect: 'Deny', Action: 'dynamodb:Get*', Resource: '*' }], false],
  ])('decides when %s', (_, statements, expected) => {
    expect(isAllowed(statements, request)).toBe(expected);
  });

  it('applies a conditional statement only when the value is known and right', () => {
    const deny: PolicyStatement = {
      Effect: 'Deny',
      Action: '*',
      Resource: '*',
      Condition: { NumericGreaterThan: { 's3:signatureAge': 600_000 } },
    };
    const decide = (conditions: Record<string, string>) =>
      isAllowed([allow('*', '*'), deny], { ...request, conditions });
    expect([decide({}), decide({ 's3:signatureAge': '600000' }), decide({ 's3:signatureAge': '600001' })]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('checkStatements', () => {
  it.each([
    [{ Effect: 'Allow', NotAction: 's3:*', Resource: '*' }, 'NotAction'],
    [{ Effect: 'Allow', Action: '*', Resource: '*', Condition: { DateLessThan: {} } }, 'DateLessThan'],
  ])('names what it does not understand in %o', (statement, name) => {
    expect(() => checkStatements('Role', [statement as unknown as PolicyStatement])).toThrow(
      `${name} in the policy of Role`,
    );
  });
});
