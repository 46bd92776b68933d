/** Creates the App. No other file reads context (`-c name=value`). */

import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { TokenIssuer } from './identity.ts';
import { ServiceStack } from './service-stack.ts';
import { SetupProblem } from './setup-problem.ts';
import { type StageName, stages } from './stages.ts';

const app = new App({ analyticsReporting: false });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { writeSuppressionsToCloudFormation: true }));
try {
  createStack();
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error;
  console.error(error.message);
  process.exit(1);
}

function createStack() {
  const stage = stageFromContext();
  const tokenIssuer = tokenIssuerFromContext();
  const alarmEmail = textFromContext('alarmEmail');
  const deletionProtection = booleanFromContext('deletionProtection');
  new ServiceStack(app, `QuantumBatchApi-${stage}`, {
    settings: { ...stages[stage], ...(deletionProtection !== undefined && { deletionProtection }) },
    ...(tokenIssuer !== undefined && { tokenIssuer }),
    ...(alarmEmail !== undefined && { alarmEmail }),
  });
}

function stageFromContext(): StageName {
  const stage = textFromContext('stage') ?? 'dev';
  if (!Object.hasOwn(stages, stage)) {
    throw new SetupProblem(`-c stage=${stage}: the stages are ${Object.keys(stages).join(' and ')}.`);
  }
  return stage as StageName;
}

function tokenIssuerFromContext(): TokenIssuer | undefined {
  const issuer = textFromContext('issuer');
  const audience = textFromContext('audience');
  const jwksUri = textFromContext('jwksUri');
  if ((issuer ?? audience ?? jwksUri) === undefined) return undefined;
  if (issuer === undefined || audience === undefined) {
    throw new SetupProblem('Give -c issuer=… and -c audience=… together, and -c jwksUri=… only with them.');
  }
  for (const url of [issuer, jwksUri ?? issuer]) if (!URL.canParse(url)) throw new SetupProblem(`Not a URL: ${url}.`);
  return { issuer, audience, jwksUri: jwksUri ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json` };
}

function booleanFromContext(name: string): boolean | undefined {
  const text = textFromContext(name);
  if (text !== undefined && text !== 'true' && text !== 'false') {
    throw new SetupProblem(`-c ${name}=${text}: it is either true or false.`);
  }
  return text === undefined ? undefined : text === 'true';
}

function textFromContext(name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  return value === undefined ? undefined : String(value);
}
