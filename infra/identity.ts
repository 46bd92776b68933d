import { Duration, Validations } from 'aws-cdk-lib';
import { AccountRecovery, Mfa, UserPool, type UserPoolClient } from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { StageSettings } from './stages.ts';

/** The OpenID Connect issuer whose tokens are accepted, the audience that they must name, and the URL of its keys. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUri: string;
}

/**
 * The default issuer: a Cognito user pool with a public client. An administrator creates the accounts; a person gets a token
 * with the AWS CLI (`aws cognito-idp initiate-auth --auth-flow USER_PASSWORD_AUTH`). There are no hosted pages, because
 * the API needs tokens, not a web login.
 */
export class Identity extends Construct {
  readonly userPool: UserPool;
  readonly client: UserPoolClient;
  readonly tokenIssuer: TokenIssuer;

  constructor(scope: Construct, id: string, settings: StageSettings) {
    super(scope, id);
    this.userPool = new UserPool(this, 'UserPool', {
      selfSignUpEnabled: false,
      signInAliases: { username: true, email: true },
      // Cognito never lets this be changed afterwards.
      signInCaseSensitive: false,
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(3),
      },
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      deletionProtection: settings.deletionProtection,
      removalPolicy: settings.removalPolicy,
    });
    Validations.of(this.userPool).acknowledge(
      {
        id: 'AwsSolutions-COG2',
        reason: 'A second factor is optional because machines have accounts in this pool too, and they have none.',
      },
      {
        id: 'AwsSolutions-COG8',
        reason:
          'The plus plan, priced per user, scores sign-ins of public sign-up pages; here only an administrator creates accounts.',
      },
    );
    this.client = this.userPool.addClient('Client', {
      generateSecret: false,
      disableOAuth: true,
      authFlows: { userPassword: true, userSrp: true },
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
    });
    const issuer = this.userPool.userPoolProviderUrl;
    this.tokenIssuer = {
      issuer,
      audience: this.client.userPoolClientId,
      jwksUri: `${issuer}/.well-known/jwks.json`,
    };
  }
}
