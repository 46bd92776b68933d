import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  Mfa,
  OAuthScope,
  ResourceServerScope,
  UserPool,
  type UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { operatorsGroup } from '../functions/operator-scope.ts';
import type { StageSettings } from './stages.ts';

/**
 * The OpenID Connect issuer whose tokens are accepted, its audiences (with commas between) and the
 * URL of its keys. A token must name one of the audiences.
 */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUri: string;
}

interface IdentityProps {
  readonly settings: StageSettings;
  /** The types of devices, or `*` for any, each with a client of its own. */
  readonly devices: readonly string[];
}

/**
 * How long a machine's token serves. Each costs money, so machines keep theirs; none can be taken
 * back.
 */
const machineTokenValidity = Duration.hours(12);

/**
 * The default issuer: a Cognito user pool with a public client for people and a confidential one
 * for machines. An administrator creates the accounts; a person gets a token with the AWS CLI (`aws
 * cognito-idp initiate-auth --auth-flow USER_PASSWORD_AUTH`), a machine at the token endpoint, by
 * the grant `client_credentials`. There are no pages to sign in at, because the API needs tokens,
 * not a web login.
 */
export class Identity extends Construct {
  readonly userPool: UserPool;
  readonly client: UserPoolClient;
  /** The clients of machines, by the type of device that they may act for. */
  readonly machines: Readonly<Record<string, UserPoolClient>>;
  /** Where machines get their tokens; undefined when there are none. */
  readonly tokenEndpoint: string | undefined;
  readonly tokenIssuer: TokenIssuer;

  constructor(scope: Construct, id: string, { settings, devices }: IdentityProps) {
    super(scope, id);
    this.userPool = createUserPool(this, settings);
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
    this.machines = this.#addMachines(devices);
    this.tokenEndpoint = devices.length === 0 ? undefined : this.#addTokenEndpoint();
    const issuer = this.userPool.userPoolProviderUrl;
    const clients = [this.client, ...Object.values(this.machines)];
    this.tokenIssuer = {
      issuer,
      audience: clients.map(({ userPoolClientId }) => userPoolClientId).join(),
      jwksUri: `${issuer}/.well-known/jwks.json`,
    };
  }

  /**
   * In Cognito's tokens the scope of a type is `device/TYPE`; the authorizer reads it as
   * `device:TYPE`.
   */
  #addMachines(devices: readonly string[]): Readonly<Record<string, UserPoolClient>> {
    if (devices.length === 0) return {};
    const scopes = devices.map(
      (device) =>
        new ResourceServerScope({
          scopeName: device,
          scopeDescription:
            device === '*' ? 'To act for devices of any type.' : `To act for devices of type ${device}.`,
        }),
    );
    const server = this.userPool.addResourceServer('Devices', { identifier: 'device', scopes });
    return Object.fromEntries(
      scopes.map((each) => [
        each.scopeName,
        this.userPool.addClient(each.scopeName === '*' ? 'Machines' : `Machines-${each.scopeName}`, {
          generateSecret: true,
          // None: without any, Cognito would let people sign in here, too.
          authFlows: { userSrp: false },
          oAuth: { flows: { clientCredentials: true }, scopes: [OAuthScope.resourceServer(server, each)] },
          accessTokenValidity: machineTokenValidity,
          enableTokenRevocation: true,
          preventUserExistenceErrors: true,
        }),
      ]),
    );
  }

  /** Names of domains are one namespace for all accounts of a region. */
  #addTokenEndpoint(): string {
    const domainPrefix = `${Stack.of(this).stackName.toLowerCase()}-${Aws.ACCOUNT_ID}`;
    return `${this.userPool.addDomain('Domain', { cognitoDomain: { domainPrefix } }).baseUrl()}/oauth2/token`;
  }
}

function createUserPool(scope: Construct, settings: StageSettings): UserPool {
  const userPool = new UserPool(scope, 'UserPool', {
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
  // Their access tokens name it in `cognito:groups`.
  userPool.addGroup('Operators', { groupName: operatorsGroup, description: 'Operators of the service.' });
  Validations.of(userPool).acknowledge(
    {
      id: 'AwsSolutions-COG2',
      reason: 'A second factor is optional because scripts have accounts in this pool too, and they have none.',
    },
    {
      id: 'AwsSolutions-COG8',
      reason:
        'The plus plan, priced per user, scores sign-ins of public sign-up pages; here only an administrator creates accounts.',
    },
  );
  return userPool;
}
