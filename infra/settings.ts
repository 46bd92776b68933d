/** The settings of a deployment: `settings` of its stage in cdk.json, and `-c name=value`. */

import { SetupProblem } from './commands/setup-problem.ts';
import { type StageName, stages } from './stack/stages.ts';

const settingNames = [
  'issuer',
  'audience',
  'jwksUri',
  'consoleUrl',
  'consoleClientId',
  'devices',
  'projects',
  'domain',
  'certificate',
  'webAcl',
  'alarmEmail',
  'monthlyBudget',
  'resultsDays',
  'concurrency',
  'deletionProtection',
  'tables',
] as const;

type SettingName = (typeof settingNames)[number];

export interface Settings {
  readonly stage: StageName;
  /** Undefined where it is not set. */
  text(name: SettingName): string | undefined;
  /** The value where it came from, as people write it: `-c devices=FRESNEL`. */
  written(name: SettingName): string;
  /** A line for each that is set, with its place, and the names of the others. */
  describe(): string;
}

type Json = Readonly<Record<string, unknown>>;

/** Names in the context that are not ours: the CDK's have a colon, or are of its command line. */
const ofCdk = /:|^(cli-telemetry|acknowledged-issue-numbers)$/;

/**
 * Reads the app's context. What `-c` says wins over cdk.json. Throws SetupProblem, with the place,
 * for a name that no setting has: a misspelled one would be a setting that is forgotten.
 */
export function readSettings(context: Json): Settings {
  const { stage = 'dev', settings: byStage = {}, ...others } = context;
  if (!isStage(stage)) throw new SetupProblem(`-c stage=${stage}: the stages are ${stageNames}.`);
  const given = Object.fromEntries(Object.entries(others).filter(([name]) => !ofCdk.test(name)));
  requireKnown(given, settingNames, (name) => `-c ${name}`);
  if (!isObject(byStage)) throw new SetupProblem('cdk.json, settings: it is an object, with one for each stage.');
  requireKnown(byStage, Object.keys(stages), (name) => `cdk.json, settings.${name}`);
  for (const [each, ofStage] of Object.entries(byStage)) {
    const place = `cdk.json, settings.${each}`;
    if (!isObject(ofStage)) throw new SetupProblem(`${place}: it is an object.`);
    requireKnown(ofStage, settingNames, (name) => `${place}.${name}`);
    for (const [name, value] of Object.entries(ofStage)) requirePlain(value, `${place}.${name}`);
  }
  const inFile = (byStage[stage] ?? {}) as Json;
  const written = (name: SettingName) =>
    name in given ? `-c ${name}=${given[name]}` : `cdk.json, settings.${stage}.${name}=${inFile[name]}`;
  const isSet = (name: SettingName) => name in given || name in inFile;
  return {
    stage,
    text: (name) => (isSet(name) ? String(given[name] ?? inFile[name]) : undefined),
    written,
    describe() {
      const replaced = (name: SettingName) =>
        name in given && name in inFile ? `, instead of ${inFile[name]} in cdk.json` : '';
      return [
        `Stage ${stage}:`,
        ...settingNames.filter(isSet).map((name) => `  ${written(name)}${replaced(name)}`),
        `  not set: ${settingNames.filter((name) => !isSet(name)).join(', ')}`,
      ].join('\n');
    },
  };
}

const stageNames = Object.keys(stages).join(' and ');

function isStage(name: unknown): name is StageName {
  return typeof name === 'string' && Object.hasOwn(stages, name);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requireKnown(values: Json, known: readonly string[], place: (name: string) => string) {
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new SetupProblem(`${place(unknown)}: there is no such setting. There are ${known.join(', ')}.`);
}

function requirePlain(value: unknown, place: string) {
  const isPlain = (each: unknown) => ['string', 'number', 'boolean'].includes(typeof each);
  if (isPlain(value) || (Array.isArray(value) && value.every(isPlain))) return;
  throw new SetupProblem(`${place}: it is a text, a number, true, false, or a list of texts.`);
}
