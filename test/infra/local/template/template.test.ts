import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../../../../infra/local/template/resource-types.ts';
import { readTemplate, type Template } from '../../../../infra/local/template/template.ts';
import { contexts } from '../../../support/contexts.ts';
import { synthesize } from '../../../support/synthesize.ts';

const account = {
  accountId: '000000000000',
  region: 'eu-west-3',
  stackName: 'Stack',
  queueEndpoint: 'http://127.0.0.1:9',
};

/** What an expression in a function's environment is resolved to. */
function resolve(value: unknown, rest: Partial<Template> = {}): unknown {
  const template: Template = {
    ...rest,
    Resources: {
      Function: { Type: 'AWS::Lambda::Function', Properties: { Value: value } },
      Table: { Type: 'AWS::DynamoDB::Table' },
      Queue: { Type: 'AWS::SQS::Queue' },
      ...rest.Resources,
    },
  };
  return readTemplate(template, account).resources.find(({ logicalId }) => logicalId === 'Function')?.properties.Value;
}

describe('resourceTypes', () => {
  it('are the types of the stack that runs here', async () => {
    const { Resources } = JSON.parse((await synthesize(contexts.withIssuer)).text) as Template;
    const types = new Set(Object.values(Resources).map(({ Type }) => Type));
    expect(Object.keys(resourceTypes).sort()).toEqual([...types].sort());
  });
});

describe('readTemplate', () => {
  it.each([
    ['a reference', { Ref: 'Table' }, 'Stack-Table'],
    ['a queue, whose reference is its URL', { Ref: 'Queue' }, 'http://127.0.0.1:9/000000000000/Stack-Queue'],
    ['a pseudo parameter', { Ref: 'AWS::Region' }, 'eu-west-3'],
    ['a parameter', { Ref: 'Size' }, 7],
    ['an attribute', { 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:aws:dynamodb:eu-west-3:000000000000:table/Stack-Table'],
    ['an attribute as text', { 'Fn::GetAtt': 'Queue.QueueName' }, 'Stack-Queue'],
    ['a join', { 'Fn::Join': ['-', ['a', { Ref: 'Table' }]] }, 'a-Stack-Table'],
    ['a split and a selection', { 'Fn::Select': [1, { 'Fn::Split': ['/', 'a/b/c'] }] }, 'b'],
    [
      'a substitution',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of CloudFormation.
      { 'Fn::Sub': '${Table.Arn}/${AWS::Region}/${!Kept}' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of CloudFormation.
      'arn:aws:dynamodb:eu-west-3:000000000000:table/Stack-Table/eu-west-3/${Kept}',
    ],
    [
      'a substitution with values',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of CloudFormation.
      { 'Fn::Sub': ['${x}:${Table}', { x: { Ref: 'Queue' } }] },
      'http://127.0.0.1:9/000000000000/Stack-Queue:Stack-Table',
    ],
    ['no value', [{ Ref: 'AWS::NoValue' }, 1], [1]],
    ['nested objects', { a: [{ b: { Ref: 'Table' } }] }, { a: [{ b: 'Stack-Table' }] }],
  ])('resolves %s', (_, value, expected) => {
    expect(resolve(value, { Parameters: { Size: { Default: 7 } } })).toEqual(expected);
  });

  it.each([
    ['an intrinsic', { 'Fn::ImportValue': 'other-stack' }, {}, 'Fn::ImportValue'],
    ['a condition', 1, { Resources: { Extra: { Type: 'AWS::SQS::Queue', Condition: 'Never' } } }, 'Extra'],
    ['a reference', { Ref: 'Nothing' }, {}, 'Nothing'],
    ['an attribute', { 'Fn::GetAtt': ['Table', 'Colour'] }, {}, 'Table.Colour'],
    ['a parameter without a default', { Ref: 'Size' }, { Parameters: { Size: {} } }, 'Size'],
    ['a resource type', 1, { Resources: { Mail: { Type: 'AWS::SES::Template' } } }, 'AWS::SES::Template'],
  ])('names %s that is unknown', (_, value, rest, name) => {
    expect(() => resolve(value, rest as Partial<Template>)).toThrow(name);
  });
});
