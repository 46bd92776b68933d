import { describe, expect, it } from 'vitest';
import { type Synthesis, synthesize } from '../support/synthesize.ts';

const dev = synthesize();
const prod = synthesize({ stage: 'prod', alarmEmail: 'operator@example.org' });
const issuer = 'https://issuer.example.org/realms/lab/';
const foreign = synthesize({ issuer, audience: 'quantum' });

function authorizerEnvironment(synthesis: Synthesis) {
  const { Environment } = synthesis.one('AWS::Lambda::Function', 'Api/Authorizer').properties;
  const { ISSUER, AUDIENCE, JWKS_URI } = Environment.Variables;
  return { ISSUER, AUDIENCE, JWKS_URI };
}

const kept = ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::Cognito::UserPool', 'AWS::Logs::LogGroup'];

describe('-c stage', () => {
  it('is dev unless given', () => {
    expect(dev.ofType('AWS::ApiGateway::Stage')[0]!.properties.StageName).toBe('dev');
    expect(prod.ofType('AWS::ApiGateway::Stage')[0]!.properties.StageName).toBe('prod');
  });

  it('dev lets everything be deleted', () => {
    for (const type of kept) {
      for (const { attributes } of dev.ofType(type)) expect(attributes.DeletionPolicy).toBe('Delete');
    }
    for (const { properties } of dev.ofType('AWS::DynamoDB::Table'))
      expect(properties.DeletionProtectionEnabled).toBe(false);
  });

  it('prod keeps data, users and logs, and protects tables and users', () => {
    for (const type of kept) {
      for (const { attributes } of prod.ofType(type)) expect(attributes.DeletionPolicy).toBe('Retain');
    }
    for (const { properties } of prod.ofType('AWS::DynamoDB::Table'))
      expect(properties.DeletionProtectionEnabled).toBe(true);
    expect(prod.one('AWS::Cognito::UserPool', 'Identity/UserPool').properties.DeletionProtection).toBe('ACTIVE');
  });

  it('prod serves more and keeps logs longer', () => {
    const [settings] = prod.ofType('AWS::ApiGateway::Stage')[0]!.properties.MethodSettings;
    expect(settings).toMatchObject({ ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 });
    for (const { properties } of prod.ofType('AWS::Logs::LogGroup')) expect(properties.RetentionInDays).toBe(90);
  });

  it.each(['staging', 'toString'])('%s is refused, naming the stages', (stage) => {
    expect(() => synthesize({ stage })).toThrow(`-c stage=${stage}: the stages are dev and prod.`);
  });
});

describe('-c issuer', () => {
  it('is by default a Cognito user pool of the stack, whose users only an administrator makes', () => {
    expect(readableEnvironment(dev)).toEqual({
      ISSUER: 'Identity/UserPool.ProviderURL',
      AUDIENCE: 'Identity/UserPool/Client',
      JWKS_URI: 'Identity/UserPool.ProviderURL/.well-known/jwks.json',
    });
    expect(dev.one('AWS::Cognito::UserPool', 'Identity/UserPool').properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
    });
    const client = dev.one('AWS::Cognito::UserPoolClient', 'Identity/UserPool/Client').properties;
    expect(client).toMatchObject({
      GenerateSecret: false,
      PreventUserExistenceErrors: 'ENABLED',
      EnableTokenRevocation: true,
      ExplicitAuthFlows: ['ALLOW_USER_PASSWORD_AUTH', 'ALLOW_USER_SRP_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
    });
    expect(dev.readable(dev.outputs.UserPoolId)).toBe('Identity/UserPool');
    expect(dev.readable(dev.outputs.UserPoolClientId)).toBe('Identity/UserPool/Client');
  });

  it('takes any other, whose keys are at the usual place', () => {
    expect(authorizerEnvironment(foreign)).toEqual({
      ISSUER: issuer,
      AUDIENCE: 'quantum',
      JWKS_URI: 'https://issuer.example.org/realms/lab/.well-known/jwks.json',
    });
    expect(foreign.text).not.toContain('AWS::Cognito');
    expect(foreign.outputs).not.toHaveProperty('UserPoolId');
  });

  it('takes another place of the keys', () => {
    const jwksUri = 'https://keys.example.org/all.json';
    expect(authorizerEnvironment(synthesize({ issuer, audience: 'quantum', jwksUri })).JWKS_URI).toBe(jwksUri);
  });

  it.each<Record<string, string>>([{ issuer }, { audience: 'quantum', jwksUri: issuer }])(
    'is refused in part: %o',
    (context) => {
      expect(() => synthesize(context)).toThrow('-c issuer=… and -c audience=…');
    },
  );

  it('is refused when it is not a URL', () => {
    expect(() => synthesize({ issuer: 'issuer.example.org', audience: 'quantum' })).toThrow(
      'Not a URL: issuer.example.org.',
    );
  });

  function readableEnvironment(synthesis: Synthesis) {
    return Object.fromEntries(
      Object.entries(authorizerEnvironment(synthesis)).map(([name, value]) => [name, synthesis.readable(value)]),
    );
  }
});

describe('-c alarmEmail', () => {
  it('is told of alarms, and nobody unless given', () => {
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
  it('leaves no finding of cdk-nag open', () => {
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
