/** What a change set of CloudFormation would destroy. */

/** The types whose resources no deployment can make again as they were, and what goes with them. */
export const irreplaceable = {
  'AWS::DynamoDB::Table': 'its rows',
  'AWS::S3::Bucket': 'its objects',
  'AWS::SQS::Queue': 'the messages that wait in it',
  'AWS::SecretsManager::Secret': 'the key that webhooks are signed with',
  'AWS::Cognito::UserPool': 'all accounts, and the issuer of all tokens',
  'AWS::Cognito::UserPoolClient': 'an id and a secret that machines or people sign in with',
  'AWS::Cognito::UserPoolDomain': 'the address where machines get their tokens',
  'AWS::Cognito::UserPoolGroup': 'who the operators are, or who has a role in a project',
  'AWS::Cognito::UserPoolResourceServer': 'the scopes of machines',
  'AWS::ApiGateway::RestApi': "the API's address",
  'AWS::ApiGateway::DomainName': "the API's own domain",
} as const satisfies Readonly<Record<string, string>>;

/** A part of what `aws cloudformation describe-change-set` answers. */
export interface Change {
  readonly ResourceChange?: {
    readonly Action: 'Add' | 'Modify' | 'Remove' | 'Import' | 'Dynamic';
    readonly LogicalResourceId: string;
    readonly ResourceType: string;
    readonly Replacement?: 'True' | 'False' | 'Conditional';
    readonly Details?: readonly {
      readonly Evaluation?: 'Static' | 'Dynamic';
      readonly Target?: { readonly RequiresRecreation?: 'Never' | 'Conditionally' | 'Always' };
    }[];
  };
}

export interface Loss {
  readonly id: string;
  readonly how: 'deleted' | 'replaced';
  readonly what: string;
}

/**
 * The irreplaceable resources that the changes delete or replace. CloudFormation does not know yet
 * whether a resource is replaced that only refers to a changed one: where the changed one is
 * replaced, that one is named.
 */
export function findLosses(changes: readonly Change[]): readonly Loss[] {
  return changes.flatMap(({ ResourceChange: change }) => {
    if (change === undefined) return [];
    const { Action, LogicalResourceId: id, ResourceType, Replacement, Details = [] } = change;
    const what = (irreplaceable as Readonly<Record<string, string>>)[ResourceType];
    const isReplaced =
      Replacement === 'True' ||
      (Replacement === 'Conditional' &&
        Details.some(({ Evaluation, Target }) => Evaluation === 'Static' && Target?.RequiresRecreation !== 'Never'));
    if (what === undefined || !(Action === 'Remove' || isReplaced)) return [];
    return [{ id, how: Action === 'Remove' ? 'deleted' : 'replaced', what: `${ResourceType}: ${what}` }];
  });
}
