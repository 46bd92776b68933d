/** Creates the App. No other file reads context (`-c name=value`). */

import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { SetupProblem } from './commands/setup-problem.ts';
import type { TokenIssuer } from './stack/identity.ts';
import { ServiceStack } from './stack/service-stack.ts';
import { type StageName, smallConcurrency, stages } from './stack/stages.ts';

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
  const consoleProps = consoleFromContext(tokenIssuer !== undefined);
  const devices = devicesFromContext();
  const alarmEmail = textFromContext('alarmEmail');
  const restoredTables = restoredTablesFromContext(stage);
  const deletionProtection = booleanFromContext('deletionProtection');
  const monthlyBudget = budgetFromContext();
  const resultsDays = resultsDaysFromContext();
  const concurrency = textFromContext('concurrency');
  if (concurrency !== undefined && concurrency !== 'small') {
    throw new SetupProblem(`-c concurrency=${concurrency}: it is small, or not given.`);
  }
  new ServiceStack(app, `QuantumBatchApi-${stage}`, {
    settings: {
      ...stages[stage],
      ...(concurrency === 'small' && smallConcurrency),
      ...(deletionProtection !== undefined && { deletionProtection }),
      ...(resultsDays !== undefined && { resultsDays }),
    },
    ...(devices !== undefined && { devices }),
    ...(tokenIssuer !== undefined && { tokenIssuer }),
    ...consoleProps,
    ...(alarmEmail !== undefined && { alarmEmail }),
    ...(restoredTables !== undefined && { restoredTables }),
    ...(monthlyBudget !== undefined && { monthlyBudget }),
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

function consoleFromContext(hasIssuer: boolean) {
  const consoleClientId = textFromContext('consoleClientId');
  const consoleUrl = textFromContext('consoleUrl');
  if (consoleClientId !== undefined && !hasIssuer) {
    throw new SetupProblem('Give -c consoleClientId=… only with -c issuer=…, for the own user pool -c consoleUrl=….');
  }
  if (consoleUrl !== undefined) {
    if (hasIssuer)
      throw new SetupProblem('Give -c consoleUrl=… only without -c issuer=…, which has a client of its own.');
    const isFit = URL.canParse(consoleUrl) && /^https:\/\/[^?#]+\/console$/.test(consoleUrl);
    if (!isFit) throw new SetupProblem(`-c consoleUrl=${consoleUrl}: it is the API's address and /console.`);
  }
  return {
    ...(consoleClientId !== undefined && { consoleClientId }),
    ...(consoleUrl !== undefined && { consoleUrl }),
  };
}

/** By stage: cdk.json keeps it, and the other stage has tables of its own. */
function restoredTablesFromContext(stage: StageName): string | undefined {
  const name = `tables-${stage}`;
  const text = textFromContext(name);
  if (text !== undefined && !/^\d{8}T\d{6}Z$/.test(text)) {
    throw new SetupProblem(`-c ${name}=${text}: npm run restore prints it, such as 20261122T091500Z.`);
  }
  return text;
}

function devicesFromContext(): readonly string[] | undefined {
  const text = textFromContext('devices');
  if (text === undefined) return undefined;
  if (text === '') return [];
  const devices = text.split(',');
  // The names of scopes in Cognito are printable ASCII without spaces, quotation marks, slashes and
  // backslashes.
  const unfit = devices.find((device) => !/^[\x21\x23-\x2e\x30-\x5b\x5d-\x7e]{1,128}$/.test(device));
  if (unfit !== undefined) throw new SetupProblem(`-c devices=${text}: no scope can name the device type "${unfit}".`);
  const letters = devices.map((device) => device.replace(/[^A-Za-z0-9]/g, ''));
  if (new Set(letters).size < devices.length) {
    throw new SetupProblem(`-c devices=${text}: two device types have the same letters and digits.`);
  }
  return devices;
}

function budgetFromContext(): number | undefined {
  const text = textFromContext('monthlyBudget');
  if (text !== undefined && !(/^\d+(\.\d+)?$/.test(text) && Number(text) > 0)) {
    throw new SetupProblem(`-c monthlyBudget=${text}: it is an amount of dollars, such as 50.`);
  }
  return text === undefined ? undefined : Number(text);
}

function resultsDaysFromContext(): number | undefined {
  const text = textFromContext('resultsDays');
  if (text !== undefined && !/^[1-9]\d{0,4}$/.test(text)) {
    throw new SetupProblem(`-c resultsDays=${text}: it is a whole number of days, such as 365.`);
  }
  return text === undefined ? undefined : Number(text);
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
