import { Aws, CfnResource, Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  ResourceServerScope,
  UserPool,
  type UserPoolClient,
  type UserPoolDomain,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { operatorsGroup } from '../../functions/identity/operator-scope.ts';
import { projectRoleNames } from '../../functions/project-roles.ts';
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

/** A project with a group in the pool for each of its roles. */
export interface PoolProject {
  readonly id: string;
  readonly name?: string;
}

/** Each takes three of the stack's resources. */
export const maxProjects = 10;

interface IdentityProps {
  readonly settings: StageSettings;
  /** The types of devices, or `*` for any, each with a client of its own. */
  readonly devices: readonly string[];
  readonly projects: readonly PoolProject[];
  /** Where people open the console; undefined: it has no sign-in. */
  readonly consoleUrl?: string | undefined;
}

/** The console's client at the issuer, and where it gets its tokens if that is another host. */
export interface ConsoleSignIn {
  readonly clientId: string;
  readonly tokenOrigin?: string;
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
 * the grant `client_credentials`. For the console there is a public client with Cognito's pages to
 * sign in at.
 */
export class Identity extends Construct {
  readonly userPool: UserPool;
  readonly client: UserPoolClient;
  /** The clients of machines, by the type of device that they may act for. */
  readonly machines: Readonly<Record<string, UserPoolClient>>;
  /** Where machines get their tokens; undefined when there are none. */
  readonly tokenEndpoint: string | undefined;
  readonly tokenIssuer: TokenIssuer;
  /** Undefined where the console's address is not known. */
  readonly console: ConsoleSignIn | undefined;

  constructor(scope: Construct, id: string, { settings, devices, projects, consoleUrl }: IdentityProps) {
    super(scope, id);
    this.userPool = createUserPool(this, settings);
    for (const project of projects) addRoles(this.userPool, project);
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
    const domain =
      devices.length > 0 || consoleUrl !== undefined ? this.#addDomain(consoleUrl !== undefined) : undefined;
    this.tokenEndpoint = devices.length === 0 ? undefined : `${domain!.baseUrl()}/oauth2/token`;
    this.console = consoleUrl === undefined ? undefined : this.#addConsole(consoleUrl, domain!);
    const issuer = this.userPool.userPoolProviderUrl;
    const clients = [this.client, ...Object.values(this.machines)].map(({ userPoolClientId }) => userPoolClientId);
    this.tokenIssuer = {
      issuer,
      audience: [...clients, ...(this.console === undefined ? [] : [this.console.clientId])].join(),
      jwksUri: `${issuer}/.well-known/jwks.json`,
    };
    // What machines and people sign in with stays with the pool.
    for (const each of this.userPool.node.findAll()) {
      if (each instanceof CfnResource) each.applyRemovalPolicy(settings.removalPolicy);
    }
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

  /**
   * The console's address is part of it, and names the API. So it is given from outside: what the
   * API trusts cannot depend on the API.
   */
  #addConsole(url: string, domain: UserPoolDomain): ConsoleSignIn {
    const client = this.userPool.addClient('Console', {
      generateSecret: false,
      // None: people sign in at Cognito's page only.
      authFlows: { userSrp: false },
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.PROFILE, OAuthScope.EMAIL],
        callbackUrls: [url],
        logoutUrls: [url],
      },
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.hours(12),
    });
    const { userPoolClientId: clientId } = client;
    // Without a style, the page answers with an error.
    new CfnManagedLoginBranding(this, 'ConsoleStyle', {
      userPoolId: this.userPool.userPoolId,
      clientId,
      useCognitoProvidedValues: true,
    });
    return { clientId, tokenOrigin: domain.baseUrl() };
  }

  /** Names of domains are one namespace for all accounts of a region. */
  #addDomain(hasPages: boolean): UserPoolDomain {
    const domainPrefix = `${Stack.of(this).stackName.toLowerCase()}-${Aws.ACCOUNT_ID}`;
    return this.userPool.addDomain('Domain', {
      cognitoDomain: { domainPrefix },
      ...(hasPages && { managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN }),
    });
  }
}

/** Access tokens name these groups, too: that is how the authorizer learns of roles. */
function addRoles(userPool: UserPool, { id, name = id }: PoolProject) {
  for (const role of projectRoleNames) {
    userPool.addGroup(`Project-${id}-${role}`, {
      groupName: `project:${id}:${role}`,
      description: `Role ${role} in the project ${name}.`,
    });
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
