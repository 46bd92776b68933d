/** Creates the App, from its settings. */

import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { requireFormatLimits } from '../functions/data/columns/format-limits.ts';
import { ownerFormats } from '../functions/data/columns/lists.ts';
import { parseUuid } from '../functions/values/uuid.ts';
import { SetupProblem } from './commands/setup-problem.ts';
import { readSettings, type Settings } from './settings.ts';
import type { CustomDomain } from './stack/custom-domain.ts';
import { maxProjects, type PoolProject, type TokenIssuer } from './stack/identity.ts';
import { ServiceStack } from './stack/service-stack.ts';
import { smallConcurrency, stages } from './stack/stages.ts';

// No release has lists that their readers cannot read.
for (const list of Object.values(ownerFormats)) requireFormatLimits(list);
const app = new App({ analyticsReporting: false });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { writeSuppressionsToCloudFormation: true }));
try {
  createStack(readSettings(app.node.getAllContext()));
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error;
  console.error(error.message);
  process.exit(1);
}

function createStack(settings: Settings) {
  const { stage } = settings;
  const deletionProtection = booleanOf(settings, 'deletionProtection');
  const resultsDays = resultsDaysOf(settings);
  const concurrency = settings.text('concurrency');
  if (concurrency !== undefined && concurrency !== 'small') {
    throw refusal(settings, 'concurrency', 'it is small, or not given');
  }
  const props = {
    devices: devicesOf(settings),
    projects: projectsOf(settings),
    tokenIssuer: tokenIssuerOf(settings),
    ...consoleOf(settings),
    domain: domainOf(settings),
    webAcl: webAclOf(settings),
    alarmEmail: settings.text('alarmEmail'),
    restoredTables: restoredTablesOf(settings),
    monthlyBudget: budgetOf(settings),
  };
  // Not where `cdk synth` prints the template.
  console.error(settings.describe());
  new ServiceStack(app, `QuantumBatchApi-${stage}`, {
    settings: {
      ...stages[stage],
      ...(concurrency === 'small' && smallConcurrency),
      ...(deletionProtection !== undefined && { deletionProtection }),
      ...(resultsDays !== undefined && { resultsDays }),
    },
    ...props,
  });
}

/** Names the place of a setting that does not do. */
function refusal(settings: Settings, name: Parameters<Settings['text']>[0], why: string): SetupProblem {
  return new SetupProblem(`${settings.written(name)}: ${why}.`);
}

function tokenIssuerOf(settings: Settings): TokenIssuer | undefined {
  const issuer = settings.text('issuer');
  const audience = settings.text('audience');
  const jwksUri = settings.text('jwksUri');
  if ((issuer ?? audience ?? jwksUri) === undefined) return undefined;
  if (issuer === undefined || audience === undefined) {
    throw new SetupProblem('Give issuer and audience together, and jwksUri only with them.');
  }
  for (const name of ['issuer', 'jwksUri'] as const) {
    if (!URL.canParse(settings.text(name) ?? issuer)) throw refusal(settings, name, 'it is no URL');
  }
  return { issuer, audience, jwksUri: jwksUri ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json` };
}

function consoleOf(settings: Settings) {
  const hasIssuer = settings.text('issuer') !== undefined;
  const consoleClientId = settings.text('consoleClientId');
  const consoleUrl = settings.text('consoleUrl');
  if (consoleClientId !== undefined && !hasIssuer) {
    throw new SetupProblem('Give consoleClientId only with issuer, for the own user pool consoleUrl.');
  }
  if (consoleUrl !== undefined && hasIssuer) {
    throw new SetupProblem('Give consoleUrl only without issuer, which has a client of its own.');
  }
  if (consoleUrl !== undefined && !(URL.canParse(consoleUrl) && /^https:\/\/[^?#]+\/console$/.test(consoleUrl))) {
    throw refusal(settings, 'consoleUrl', "it is the API's address and /console");
  }
  return { consoleClientId, consoleUrl };
}

function domainOf(settings: Settings): CustomDomain | undefined {
  const name = settings.text('domain');
  const certificate = settings.text('certificate');
  if (name === undefined && certificate === undefined) return undefined;
  if (name === undefined || certificate === undefined) throw new SetupProblem('Give domain and certificate together.');
  if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(name)) {
    throw refusal(settings, 'domain', 'it is the name of a host, such as api.example.org');
  }
  if (!/^arn:[^:]+:acm:[^:]+:\d{12}:certificate\/./.test(certificate)) {
    throw refusal(settings, 'certificate', "it is the ARN of a certificate in the stack's region");
  }
  return { name, certificate };
}

function webAclOf(settings: Settings): string | undefined {
  const arn = settings.text('webAcl');
  if (arn !== undefined && !/^arn:[^:]+:wafv2:[^:]+:\d{12}:regional\/webacl\/./.test(arn)) {
    throw refusal(settings, 'webAcl', "it is the ARN of a regional web ACL in the stack's region");
  }
  return arn;
}

function restoredTablesOf(settings: Settings): string | undefined {
  const text = settings.text('tables');
  if (text !== undefined && !/^\d{8}T\d{6}Z$/.test(text)) {
    throw refusal(settings, 'tables', 'npm run restore prints it, such as 20261122T091500Z');
  }
  return text;
}

function devicesOf(settings: Settings): readonly string[] | undefined {
  const text = settings.text('devices');
  if (text === undefined) return undefined;
  if (text === '') return [];
  const devices = text.split(',');
  // The names of scopes in Cognito are printable ASCII without spaces, quotation marks, slashes and
  // backslashes.
  const unfit = devices.find((device) => !/^[\x21\x23-\x2e\x30-\x5b\x5d-\x7e]{1,128}$/.test(device));
  if (unfit !== undefined) throw refusal(settings, 'devices', `no scope can name the device type "${unfit}"`);
  const letters = devices.map((device) => device.replace(/[^A-Za-z0-9]/g, ''));
  if (new Set(letters).size < devices.length) {
    throw refusal(settings, 'devices', 'two device types have the same letters and digits');
  }
  return devices;
}

function projectsOf(settings: Settings): readonly PoolProject[] {
  const text = settings.text('projects') ?? '';
  if (text === '') return [];
  if (settings.text('issuer') !== undefined) {
    throw new SetupProblem('Give projects only without issuer, which has groups of its own.');
  }
  const projects = text.split(',').map((entry) => {
    const [, spelling = '', name] = /^(\S+)(?: ([^\p{Cc}]{1,128}))?$/u.exec(entry) ?? [];
    const id = parseUuid(spelling);
    if (id === undefined) throw refusal(settings, 'projects', `"${entry}" is not a UUID, a space and a name`);
    return { id, ...(name !== undefined && { name }) };
  });
  if (new Set(projects.map(({ id }) => id)).size < projects.length) {
    throw refusal(settings, 'projects', 'it names a project twice');
  }
  if (projects.length > maxProjects) {
    throw refusal(settings, 'projects', `it has more than ${maxProjects}; the AWS CLI makes further groups`);
  }
  return projects;
}

function budgetOf(settings: Settings): number | undefined {
  const text = settings.text('monthlyBudget');
  if (text !== undefined && !(/^\d+(\.\d+)?$/.test(text) && Number(text) > 0)) {
    throw refusal(settings, 'monthlyBudget', 'it is an amount of dollars, such as 50');
  }
  return text === undefined ? undefined : Number(text);
}

function resultsDaysOf(settings: Settings): number | undefined {
  const text = settings.text('resultsDays');
  if (text !== undefined && !/^[1-9]\d{0,4}$/.test(text)) {
    throw refusal(settings, 'resultsDays', 'it is a whole number of days, such as 365');
  }
  return text === undefined ? undefined : Number(text);
}

function booleanOf(settings: Settings, name: 'deletionProtection'): boolean | undefined {
  const text = settings.text(name);
  if (text !== undefined && text !== 'true' && text !== 'false') {
    throw refusal(settings, name, 'it is either true or false');
  }
  return text === undefined ? undefined : text === 'true';
}
