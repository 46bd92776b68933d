import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { queues } from '../../functions/queues.ts';
import { type Route, routes } from '../../functions/routes.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { stackConcurrency } from '../../infra/smoke/stack-concurrency.ts';
import { contexts, issuer, jwksUri, restored } from '../support/contexts.ts';
import { refusals, type Synthesis, synthesize } from '../support/synthesize.ts';

const dev = await synthesize();
// CDK's own check takes longer than all else, and this stack has every resource of the others.
const consoleUrl = 'https://api.example.org/core-fast/console';
const domain = 'api.example.org';
const certificate = 'arn:aws:acm:eu-west-3:111122223333:certificate/4f5e';
const webAcl = 'arn:aws:wafv2:eu-west-3:111122223333:regional/webacl/lab/4f5e';
const inProd = {
  stage: 'prod',
  alarmEmail: 'operator@example.org',
  consoleUrl,
  // As a lab keeps them.
  settings: { prod: { monthlyBudget: 50.5, domain, certificate, webAcl }, dev: { devices: ['A', 'B'] } },
};
const prod = await synthesize(inProd, { withCheck: true });
const foreign = await synthesize(contexts.withIssuer);
const moved = await synthesize(contexts.moved);
const devices = await synthesize(contexts.withDevices);

function protections({ ofType, terminationProtection }: Synthesis) {
  return new Set([
    terminationProtection,
    ...ofType('AWS::DynamoDB::Table').map(({ properties }) => properties.DeletionProtectionEnabled),
    ...ofType('AWS::Cognito::UserPool').map(({ properties }) => properties.DeletionProtection === 'ACTIVE'),
  ]);
}

function authorizerEnvironment(synthesis: Synthesis) {
  const { Environment } = synthesis.one('AWS::Lambda::Function', 'Api/Authorizer').properties;
  const { ISSUER, AUDIENCE, JWKS_URI } = Environment.Variables;
  return { ISSUER, AUDIENCE, JWKS_URI };
}

function readableEnvironment(synthesis: Synthesis): Record<string, string> {
  return Object.fromEntries(
    Object.entries(authorizerEnvironment(synthesis)).map(([name, value]) => [name, synthesis.readable(value)]),
  );
}

const dataTypes = [
  ...['DynamoDB::Table', 'S3::Bucket', 'Logs::LogGroup', 'KMS::Key', 'Cognito::UserPool'],
  ...['Client', 'Domain', 'Group', 'ResourceServer'].map((part) => `Cognito::UserPool${part}`),
];

/** What happens to the resources that hold data when the stack loses them, by their type. */
function removals({ ofType }: Synthesis) {
  return dataTypes.map((type) => {
    const policies = ofType(`AWS::${type}`).map(({ attributes }) => attributes);
    const names = policies.map((each) => `${each.DeletionPolicy}, ${each.UpdateReplacePolicy}`);
    return [type, ...new Set(names)];
  });
}

describe('-c stage', () => {
  it('is dev unless given', () => {
    const ratesOf = ({ ofType }: Synthesis) => {
      const { MethodSettings } = ofType('AWS::ApiGateway::Stage')[0]!.properties;
      const rates = MethodSettings.map(
        ({ ThrottlingRateLimit }: { ThrottlingRateLimit: number }) => ThrottlingRateLimit,
      );
      return [...new Set<number>(rates)].sort((one, other) => one - other);
    };
    expect([ratesOf(dev), ratesOf(prod)]).toEqual([
      [20, 50],
      [20, 200, 500],
    ]);
  });

  it('dev lets everything be deleted; prod keeps it, but not what a failed creation leaves behind', () => {
    expect(removals(dev)).toEqual(dataTypes.map((type) => [type, 'Delete, Delete']));
    expect(removals(prod)).toEqual(dataTypes.map((type) => [type, 'RetainExceptOnCreate, Retain']));
  });

  it('prod protects the stack, its tables and its users from deletion; dev does not', () => {
    expect(protections(prod)).toEqual(new Set([true]));
    expect(protections(dev)).toEqual(new Set([false]));
  });

  it('keeps the role for the gateway’s logs, on which others in the account may rely', () => {
    const account = dev.ofType('AWS::ApiGateway::Account')[0]!;
    expect(account.attributes.DeletionPolicy).toBe('Retain');
    const role = dev.one('AWS::IAM::Role', dev.readable(account.properties.CloudWatchRoleArn));
    expect(role.attributes.DeletionPolicy).toBe('Retain');
  });

  it('prod keeps logs longer', () => {
    for (const { properties } of prod.ofType('AWS::Logs::LogGroup')) expect(properties.RetentionInDays).toBe(90);
  });
});

describe('-c deletionProtection', () => {
  it('false leaves a first deployment unprotected, so that its rollback can delete everything', () => {
    expect(protections(devices)).toEqual(new Set([false]));
  });
});

describe('cdk.json', () => {
  it('sets every feature flag as this version of CDK recommends', () => {
    const { resolve } = createRequire(import.meta.url);
    const file = join(dirname(resolve('aws-cdk-lib/package.json')), 'recommended-feature-flags.json');
    expect(cdk.context).toMatchObject(JSON.parse(readFileSync(file, 'utf8')));
    // Without it, a changed authorizer would not be deployed.
    expect(cdk.context['@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId']).toBe(true);
  });
});

describe('-c issuer', () => {
  it('is by default a Cognito user pool of the stack, in which only an administrator creates users', () => {
    expect(readableEnvironment(dev)).toEqual({
      ISSUER: 'Identity/UserPool.ProviderURL',
      AUDIENCE: 'Identity/UserPool/Client,Identity/UserPool/Machines',
      JWKS_URI: 'Identity/UserPool.ProviderURL/.well-known/jwks.json',
    });
    expect(dev.one('AWS::Cognito::UserPool', 'Identity/UserPool').properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      UsernameConfiguration: { CaseSensitive: false },
      MfaConfiguration: 'OPTIONAL',
      EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
      Policies: { PasswordPolicy: { MinimumLength: 12, TemporaryPasswordValidityDays: 3 } },
    });
    const client = dev.one('AWS::Cognito::UserPoolClient', 'Identity/UserPool/Client').properties;
    expect(client).toMatchObject({
      GenerateSecret: false,
      PreventUserExistenceErrors: 'ENABLED',
      EnableTokenRevocation: true,
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
      RefreshTokenValidity: 30 * 24 * 60,
      TokenValidityUnits: { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' },
      ExplicitAuthFlows: ['ALLOW_USER_PASSWORD_AUTH', 'ALLOW_USER_SRP_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
    });
    expect(dev.readable(dev.outputs.UserPoolId)).toBe('Identity/UserPool');
    expect(dev.readable(dev.outputs.UserPoolClientId)).toBe('Identity/UserPool/Client');
  });

  it('can be any other, whose keys are at the usual place', () => {
    expect(authorizerEnvironment(foreign)).toEqual({
      ISSUER: issuer,
      AUDIENCE: 'quantum',
      JWKS_URI: 'https://issuer.example.org/realms/lab/.well-known/jwks.json',
    });
    expect(foreign.text).not.toContain('AWS::Cognito');
    expect(foreign.outputs).not.toHaveProperty('UserPoolId');
  });

  it('can have its keys at another place', () => {
    expect(authorizerEnvironment(moved).JWKS_URI).toBe(jwksUri);
  });
});

describe('the setting domain', () => {
  it('serves the API at it, below the same first segment, by TLS as at its own address', () => {
    const { ofType, one, readable, outputs } = prod;
    expect(one('AWS::ApiGateway::DomainName', 'Api/Domain').properties).toMatchObject({
      DomainName: domain,
      RegionalCertificateArn: certificate,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    const [{ properties: mapping } = { properties: {} }] = ofType('AWS::ApiGateway::BasePathMapping');
    expect([mapping.BasePath, readable(mapping.Stage)]).toEqual(['core-fast', 'Api/RestApi/DeploymentStage.core-fast']);
    expect(outputs.ApiUrl).toBe(`https://${domain}/core-fast`);
    expect(readable(outputs.DomainTarget)).toBe('Api/Domain.RegionalDomainName');
    expect(dev.outputs).not.toHaveProperty('DomainTarget');
  });
});

describe('the setting webAcl', () => {
  it('lets that web ACL judge what comes to the stage', () => {
    const { ofType, readable } = prod;
    const associations = ofType('AWS::WAFv2::WebACLAssociation').map(({ properties }) => properties);
    expect(associations.map(({ WebACLArn, ResourceArn }) => [WebACLArn, readable(ResourceArn)])).toEqual([
      [webAcl, expect.stringMatching(/:\/restapis\/Api\/RestApi\/stages\/Api\/RestApi\/DeploymentStage.core-fast$/)],
    ]);
    expect(dev.ofType('AWS::WAFv2::WebACLAssociation')).toEqual([]);
  });
});

describe('the user pool', () => {
  it('has the group of operators', () => {
    expect(dev.one('AWS::Cognito::UserPoolGroup', 'Identity/UserPool/Operators').properties).toMatchObject({
      GroupName: 'operators',
    });
  });
});

describe('-c devices', () => {
  const clientsOf = ({ ofType, readable }: Synthesis) =>
    ofType('AWS::Cognito::UserPoolClient')
      .filter(({ properties }) => properties.GenerateSecret)
      .map(({ path, properties }) => [path, ...(properties.AllowedOAuthScopes as unknown[]).map(readable)]);

  it('is by default one client for the machines of all types, which gets tokens of its own alone', () => {
    expect(clientsOf(dev)).toEqual([['Identity/UserPool/Machines', 'Identity/UserPool/Devices/*']]);
    expect(dev.one('AWS::Cognito::UserPoolResourceServer', 'Identity/UserPool/Devices').properties).toMatchObject({
      Identifier: 'device',
      Scopes: [{ ScopeName: '*' }],
    });
    expect(dev.one('AWS::Cognito::UserPoolClient', 'Identity/UserPool/Machines').properties).toMatchObject({
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthFlows: ['client_credentials'],
      ExplicitAuthFlows: ['ALLOW_REFRESH_TOKEN_AUTH'],
      AccessTokenValidity: 12 * 60,
      TokenValidityUnits: { AccessToken: 'minutes' },
    });
    expect(dev.readable(dev.outputs.MachineClientId)).toBe('Identity/UserPool/Machines');
    expect(dev.readable(dev.outputs.TokenEndpoint)).toBe(
      'https://Identity/UserPool/Domain.auth.AWS::Region.amazoncognito.com/oauth2/token',
    );
    const { Domain } = dev.one('AWS::Cognito::UserPoolDomain', 'Identity/UserPool/Domain').properties;
    expect(dev.readable(Domain)).toBe('quantumbatchapi-dev-AWS::AccountId');
  });

  it('gives each type that it names a client of its own', () => {
    expect(clientsOf(devices)).toEqual([
      ['Identity/UserPool/Machines-FRESNEL', 'Identity/UserPool/Devices/FRESNEL'],
      ['Identity/UserPool/Machines-EMU_MPS', 'Identity/UserPool/Devices/EMU_MPS'],
    ]);
    expect(devices.readable(devices.outputs.MachineClientIdEMUMPS)).toBe('Identity/UserPool/Machines-EMU_MPS');
    expect(readableEnvironment(devices).AUDIENCE).toBe(
      ['Client', 'Machines-FRESNEL', 'Machines-EMU_MPS'].map((name) => `Identity/UserPool/${name}`).join(),
    );
  });

  it('can be empty: no client, and no place to get tokens at', async () => {
    const none = await synthesize(contexts.withoutDevices);
    expect(clientsOf(none)).toEqual([]);
    expect(none.text).not.toMatch(/UserPoolDomain|ResourceServer/);
    expect(readableEnvironment(none).AUDIENCE).toBe('Identity/UserPool/Client');
    expect(none.outputs).not.toHaveProperty('TokenEndpoint');
  });
});

describe('the console', () => {
  const environmentOf = ({ one, readable }: Synthesis) => {
    const { Environment } = one('AWS::Lambda::Function', 'Api/GetConsole').properties;
    return Object.fromEntries(Object.entries(Environment.Variables).map(([name, value]) => [name, readable(value)]));
  };

  it('lets no user sign in until its address or its client is known', () => {
    expect(environmentOf(dev)).toEqual({ ISSUER: 'Identity/UserPool.ProviderURL' });
  });

  it('has a client at the issuer that is given, and asks for tokens of the API', () => {
    expect(environmentOf(foreign)).toEqual({
      ISSUER: issuer,
      CONSOLE_CLIENT_ID: 'lab-console',
      CONSOLE_AUDIENCE: 'quantum',
    });
  });

  it('has a client in the own user pool, whose people come back to its address alone', () => {
    const client = 'Identity/UserPool/Console';
    expect(environmentOf(prod)).toEqual({
      ISSUER: 'Identity/UserPool.ProviderURL',
      CONSOLE_CLIENT_ID: client,
      TOKEN_ORIGIN: 'https://Identity/UserPool/Domain.auth.AWS::Region.amazoncognito.com',
    });
    expect(readableEnvironment(prod).AUDIENCE).toContain(client);
    expect(prod.one('AWS::Cognito::UserPoolClient', client).properties).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'profile', 'email'],
      CallbackURLs: [consoleUrl],
      LogoutURLs: [consoleUrl],
      ExplicitAuthFlows: ['ALLOW_REFRESH_TOKEN_AUTH'],
    });
    const { ClientId } = prod.one('AWS::Cognito::ManagedLoginBranding', 'Identity/ConsoleStyle').properties;
    expect(prod.readable(ClientId)).toBe(client);
  });
});

describe('-c concurrency', () => {
  const reservedIn = ({ ofType }: Synthesis) =>
    ofType('AWS::Lambda::Function').flatMap(({ path, properties }) => {
      const reserved = properties.ReservedConcurrentExecutions;
      return reserved === undefined ? [] : [`${path} ${reserved}`];
    });
  const consumersIn = ({ ofType }: Synthesis) =>
    ofType('AWS::Lambda::EventSourceMapping').flatMap(
      ({ properties }) => properties.ScalingConfig?.MaximumConcurrency ?? [],
    );

  it('is by default shared by all functions in dev; prod bounds tests of webhooks and what needs no valid token', () => {
    expect(reservedIn(dev)).toEqual([]);
    const open = Object.entries<Route>(routes).filter(([, route]) => route.public);
    expect(reservedIn(prod).sort()).toEqual(
      [
        ...['Api/Authorizer 100', 'Api/MethodNotAllowed 40', 'Api/TestWebhook 10'],
        ...open.map(([name]) => `Api/${name[0]!.toUpperCase()}${name.slice(1)} ${name === 'listDevices' ? 100 : 40}`),
      ].sort(),
    );
    const queuesTake = Object.values(queues).reduce((sum, { consumer }) => sum + consumer.concurrency, 0);
    const streams = Object.values<TableDescription>(tables).filter(({ stream }) => stream !== undefined).length;
    const concurrencyOf = ({ text }: Synthesis) => stackConcurrency(JSON.parse(text));
    expect(concurrencyOf(dev)).toEqual({ queues: queuesTake, streams, reserved: 0 });
    expect(concurrencyOf(prod)).toEqual({ queues: queuesTake, streams, reserved: 210 + 40 * open.length });
    // A burst finds an environment for each call.
    const [stage] = prod.ofType('AWS::ApiGateway::Stage');
    const ofDevices = stage!.properties.MethodSettings.find(
      ({ ResourcePath, HttpMethod }: Record<string, string>) =>
        ResourcePath?.endsWith('~1devices') && HttpMethod === 'GET',
    );
    expect(ofDevices).toMatchObject({ ThrottlingRateLimit: 200, ThrottlingBurstLimit: 100 });
    for (const stack of [dev, prod]) {
      expect(consumersIn(stack)).toEqual(Object.values(queues).map(({ consumer }) => consumer.concurrency));
    }
  });

  it('small reserves none, as such an account cannot, and gives each queue the least', () => {
    expect(reservedIn(devices)).toEqual([]);
    expect(consumersIn(devices)).toEqual(Object.keys(queues).map(() => 2));
  });
});

describe('-c projects', () => {
  const groupsOf = ({ ofType }: Synthesis) =>
    ofType('AWS::Cognito::UserPoolGroup').map(({ properties }) => [properties.GroupName, properties.Description]);

  it('gives the pool a group for each role in each project, as the authorizer reads them', () => {
    const [id, other] = ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a', 'b0000000-0000-0000-0000-00000000000b'];
    const groups = groupsOf(devices);
    expect(groups.slice(1)).toEqual([
      [`project:${id}:viewer`, 'Role viewer in the project Rydberg atoms.'],
      [`project:${id}:member`, 'Role member in the project Rydberg atoms.'],
      [`project:${id}:admin`, 'Role admin in the project Rydberg atoms.'],
      ...['viewer', 'member', 'admin'].map((role) => [
        `project:${other}:${role}`,
        `Role ${role} in the project ${other}.`,
      ]),
    ]);
    // What Cognito takes as the name of a group.
    for (const [name] of groups) expect(name).toMatch(/^[\p{L}\p{M}\p{S}\p{N}\p{P}]{1,128}$/u);
    expect(groupsOf(dev)).toEqual([['operators', 'Operators of the service.']]);
  });
});

describe('-c resultsDays', () => {
  it('lets the bucket delete results, and links know when', () => {
    const rules = (of: Synthesis) =>
      of.one('AWS::S3::Bucket', 'Storage/Results').properties.LifecycleConfiguration.Rules;
    const daysOf = (of: Synthesis) =>
      of.one('AWS::Lambda::Function', 'Api/GetResultsLink').properties.Environment.Variables.RESULTS_DAYS;
    expect(rules(devices)).toEqual([...rules(dev), { ExpirationInDays: 30, Prefix: 'results/', Status: 'Enabled' }]);
    expect([daysOf(devices), daysOf(dev)]).toEqual(['30', undefined]);
  });
});

describe('-c monthlyBudget', () => {
  it('sends a message when the account has reached this cost, or will; without it nothing does', () => {
    const { properties, attributes } = prod.one('AWS::Budgets::Budget', 'Budget');
    expect(properties.Budget).toEqual({
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 50.5, Unit: 'USD' },
    });
    const [topic] = prod.ofType('AWS::SNS::Topic');
    const notifications: readonly { Notification: object; Subscribers: [{ Address: object }] }[] =
      properties.NotificationsWithSubscribers;
    expect(
      notifications.map(({ Notification, Subscribers: [{ Address, ...subscriber }] }) => [
        Notification,
        { ...subscriber, Address: prod.readable(Address) },
      ]),
    ).toEqual(
      ['ACTUAL', 'FORECASTED'].map((NotificationType) => [
        { NotificationType, ComparisonOperator: 'GREATER_THAN', Threshold: 100 },
        { SubscriptionType: 'SNS', Address: topic!.path },
      ]),
    );
    // AWS refuses a budget whose topic it may not publish to.
    expect(attributes.DependsOn).toContainEqual(expect.stringMatching(/^MonitoringTopicPolicy/));
    expect(dev.ofType('AWS::Budgets::Budget')).toEqual([]);
  });

  it('lets AWS Budgets publish to the topic of alarms, and use its key, for this account alone', () => {
    const byBudgets = (statements: { Principal: { Service?: string | string[] } }[]) =>
      statements.filter(({ Principal }) => [Principal.Service].flat().includes('budgets.amazonaws.com'));
    const ofAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
    const [topicPolicy] = prod.ofType('AWS::SNS::TopicPolicy');
    expect(byBudgets(topicPolicy!.properties.PolicyDocument.Statement)).toEqual([
      expect.objectContaining({ Effect: 'Allow', Action: 'sns:Publish', Condition: ofAccount }),
    ]);
    const { KeyPolicy } = prod.one('AWS::KMS::Key', 'Monitoring/TopicKey').properties;
    expect(byBudgets(KeyPolicy.Statement)).toEqual([
      expect.objectContaining({ Action: ['kms:Decrypt', 'kms:GenerateDataKey*'], Condition: ofAccount }),
    ]);
    expect(dev.text).not.toContain('budgets.amazonaws.com');
  });
});

describe('a context that makes no sense', () => {
  const one = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
  const eleven = Array.from({ length: 11 }, (_, at) => derivedUuid(at)).join();
  const incomplete = 'Give issuer and audience together, and jwksUri only with them.';
  const refused: readonly (readonly [context: Readonly<Record<string, unknown>>, message: string])[] = [
    [{ stage: 'staging' }, '-c stage=staging: the stages are dev and prod.'],
    [{ stage: 'toString' }, '-c stage=toString: the stages are dev and prod.'],
    [{ deletionProtection: 'no' }, '-c deletionProtection=no: it is either true or false.'],
    [{ resultsDays: '0' }, '-c resultsDays=0: it is a whole number of days, such as 365.'],
    [{ concurrency: '10' }, '-c concurrency=10: it is small, or not given.'],
    ...['', '0', '-5', '50 $', '1e3'].map(
      (monthlyBudget) =>
        [{ monthlyBudget }, `-c monthlyBudget=${monthlyBudget}: it is an amount of dollars, such as 50.`] as const,
    ),
    [{ tables: 'prod' }, '-c tables=prod: npm run restore prints it, such as 20261122T091500Z.'],
    [{ issuer }, incomplete],
    [{ audience: 'quantum', jwksUri: issuer }, incomplete],
    [{ issuer: 'issuer.example.org', audience: 'quantum' }, '-c issuer=issuer.example.org: it is no URL.'],
    [{ consoleClientId: 'lab-console' }, 'Give consoleClientId only with issuer, for the own user pool consoleUrl.'],
    [
      { issuer, audience: 'quantum', consoleUrl },
      'Give consoleUrl only without issuer, which has a client of its own.',
    ],
    ...['http://api.example.org/console', `${consoleUrl}?a`, 'https://api.example.org/'].map(
      (url) => [{ consoleUrl: url }, `-c consoleUrl=${url}: it is the API's address and /console.`] as const,
    ),
    [{ domain }, 'Give domain and certificate together.'],
    [
      { domain: 'https://api.example.org', certificate },
      '-c domain=https://api.example.org: it is the name of a host, such as api.example.org.',
    ],
    [{ domain, certificate: 'x' }, "-c certificate=x: it is the ARN of a certificate in the stack's region."],
    [{ webAcl: 'x' }, "-c webAcl=x: it is the ARN of a regional web ACL in the stack's region."],
    [
      { settings: { dev: { resultsDays: 'ever' } } },
      'cdk.json, settings.dev.resultsDays=ever: it is a whole number of days, such as 365.',
    ],
    [{ devices: 'FRESNEL,' }, '-c devices=FRESNEL,: no scope can name the device type "".'],
    [{ devices: 'a b' }, '-c devices=a b: no scope can name the device type "a b".'],
    [{ projects: 'lab' }, '-c projects=lab: "lab" is not a UUID, a space and a name.'],
    [{ projects: `${one},` }, `-c projects=${one},: "" is not a UUID, a space and a name.`],
    [{ projects: `${one} ` }, `-c projects=${one} : "${one} " is not a UUID, a space and a name.`],
    [
      { projects: `${one} A,${one.toUpperCase()} B` },
      `-c projects=${one} A,${one.toUpperCase()} B: it names a project twice.`,
    ],
    [{ projects: eleven }, `-c projects=${eleven}: it has more than 10; the AWS CLI makes further groups.`],
    [{ issuer, audience: 'quantum', projects: one }, 'Give projects only without issuer, which has groups of its own.'],
    [{ devices: 'a/b' }, '-c devices=a/b: no scope can name the device type "a/b".'],
    ...['A_B,AB', 'A,A'].map(
      (devices) => [{ devices }, `-c devices=${devices}: two device types have the same letters and digits.`] as const,
    ),
  ];

  it('is refused in one line', async () => {
    expect(await refusals(refused.map(([context]) => context))).toEqual(refused.map(([, message]) => message));
    await expect(synthesize({ stage: 'staging' })).rejects.toThrow(new Error(`${refused[0]![1]}\n`));
  });
});

describe('the setting tables', () => {
  it('takes over tables that npm run restore made, which CloudFormation keeps', () => {
    const { ofType, outputs, readable } = moved;
    for (const name of Object.keys(tables)) {
      const [table, ...others] = ofType('AWS::DynamoDB::Table').filter(
        ({ properties }) => properties.TableName === `QuantumBatchApi-dev-Storage${name}-${restored}`,
      );
      expect(others).toEqual([]);
      expect(table!.attributes).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
      expect(readable(outputs[`${name}Table`])).toBe(table!.path);
      const plain = dev.one('AWS::DynamoDB::Table', `Storage/${name}`).properties;
      expect(table!.properties).toEqual({ ...plain, TableName: table!.properties.TableName });
    }
  });
});

describe('-c alarmEmail', () => {
  it('gets a message for every alarm; without it nobody does', () => {
    expect(prod.ofType('AWS::SNS::Subscription').map(({ properties }) => properties)).toEqual([
      expect.objectContaining({ Protocol: 'email', Endpoint: 'operator@example.org' }),
    ]);
    expect(dev.ofType('AWS::SNS::Subscription')).toEqual([]);
  });
});

describe.each([
  ['dev', dev],
  ['prod', prod],
  ['with another issuer', foreign],
])('the template, %s', (_, synthesis) => {
  it('leaves no finding of cdk-nag or of CDK open', () => {
    expect(synthesis.findings).toEqual([]);
  });

  it('acknowledges findings with a reason each', () => {
    expect(synthesis.acknowledgements.length).toBeGreaterThan(0);
    for (const { id, reason } of synthesis.acknowledgements) {
      expect(id).toMatch(/^AwsSolutions-[A-Z0-9]+(\[.+\])?$/);
      expect(reason.length).toBeGreaterThan(30);
    }
  });

  it('holds no secret', () => {
    expect(synthesis.text).not.toMatch(/AKIA|BEGIN [A-Z ]*PRIVATE KEY|eyJ[A-Za-z0-9_-]{10,}|"ClientSecret"/);
  });
});
