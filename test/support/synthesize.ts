import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assembliesWithoutBundles, assemblyOf, placeholders } from '../../infra/local/template/synthesize.ts';

/**
 * A resource of the template. `path` is that of its construct, without the stack and a final
 * `Resource`: `Api/ListJobs`.
 */
interface SynthesizedResource {
  readonly type: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is CloudFormation's, by resource type.
  readonly properties: any;
  readonly attributes: {
    readonly DeletionPolicy?: string;
    readonly UpdateReplacePolicy?: string;
    readonly DependsOn?: readonly string[];
  };
}

/**
 * What `cdk synth` writes for a context (`-c name=value`), without bundles unless they are asked
 * for.
 */
export interface Synthesis {
  readonly text: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Whether the CDK CLI protects the stack from deletion. */
  readonly terminationProtection: boolean;
  /**
   * Findings of cdk-nag, and of CDK's own check where it was asked for, that are not acknowledged.
   */
  readonly findings: readonly unknown[];
  /** Every acknowledged rule with its reason. */
  readonly acknowledgements: readonly { readonly id: string; readonly reason: string }[];
  /** All resources, or all resources of this type. */
  ofType(type?: string): SynthesizedResource[];
  /** The one resource of that type and path. */
  one(type: string, path: string): SynthesizedResource;
  /** A value as text, in which references and ARNs are the paths of what they refer to. */
  readable(value: unknown): string;
}

interface Template {
  readonly Resources: Record<
    string,
    {
      readonly Type: string;
      readonly Properties?: unknown;
      readonly DeletionPolicy?: string;
      readonly DependsOn?: string[];
      readonly Metadata?: {
        readonly 'aws:cdk:path'?: string;
        readonly cdk_nag?: { readonly rules_to_suppress: { readonly id: string; readonly reason: string }[] };
      };
    }
  >;
  readonly Outputs: Record<string, { readonly Value: unknown }>;
}

const done = new Map<string, Synthesis>();

/**
 * What infra/app.ts makes when the CDK CLI runs it, as it was synthesized before from the same
 * sources, or anew. Throws what the app printed when it fails.
 */
export async function synthesize(
  context: Readonly<Record<string, unknown>> = {},
  { withCheck = false } = {},
): Promise<Synthesis> {
  const key = JSON.stringify([context, withCheck]);
  const known = done.get(key);
  if (known !== undefined) return known;
  const [directory] = await assembliesWithoutBundles([context], withCheck);
  const synthesis = readSynthesis(directory!);
  done.set(key, synthesis);
  return synthesis;
}

/** Makes what `synthesize` is going to read, in one process: loading CDK takes longest. */
export async function prepareSyntheses(contexts: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  await assembliesWithoutBundles(contexts);
}

/**
 * As `synthesize`, with bundles, and in a directory to read only. Without a context it is what the
 * local stack of the end-to-end tests runs.
 */
export async function synthesizeWithBundles(
  context: Record<string, string> = { stage: 'dev', ...placeholders },
): Promise<{ readonly synthesis: Synthesis; readonly directory: string }> {
  const directory = await assemblyOf(context);
  return { synthesis: readSynthesis(directory), directory };
}

/** Runs it in a process of its own, in the project's folder. */
function runScript(script: string) {
  const cwd = join(import.meta.dirname, '../..');
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd });
}

/**
 * What infra/app.ts prints when it refuses each of these contexts. One process answers all: loading
 * CDK takes longest.
 */
export async function refusals(contexts: readonly Readonly<Record<string, unknown>>[]): Promise<string[]> {
  const script = `
    process.exit = () => { throw 'refused'; };
    const answers = [];
    for (const [at, context] of ${JSON.stringify(contexts)}.entries()) {
      const printed = [];
      console.error = (message) => printed.push(message);
      process.env.CDK_CONTEXT_JSON = JSON.stringify(context);
      await import('./infra/app.ts?' + at).catch((reason) => reason === 'refused' || printed.push(reason.stack));
      answers.push(printed.join('\\n'));
    }
    console.log(JSON.stringify(answers));`;
  return JSON.parse((await runScript(script)).stdout);
}

function readSynthesis(directory: string): Synthesis {
  const file = readdirSync(directory).find((name) => name.endsWith('.template.json'));
  const text = readFileSync(join(directory, file!), 'utf8');
  const template: Template = JSON.parse(text);
  const manifest = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
  const { properties } = manifest.artifacts[file!.replace('.template.json', '')];
  const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8'));
  const pathOf = (id: string) => {
    const path = template.Resources[id]?.Metadata?.['aws:cdk:path'];
    return path === undefined ? id : path.replace(/^[^/]+\//, '').replace(/\/Resource$/, '');
  };
  const resources = Object.entries(template.Resources).map(([id, resource]) => ({
    type: resource.Type,
    path: pathOf(id),
    properties: resource.Properties,
    attributes: resource,
  }));
  const ofType = (type?: string) => resources.filter((resource) => type === undefined || resource.type === type);

  // biome-ignore lint/suspicious/noExplicitAny: each intrinsic has its own argument.
  const intrinsics: Record<string, (argument: any) => string> = {
    Ref: pathOf,
    'Fn::GetAtt': ([id, attribute]) => pathOf(id) + (attribute === 'Arn' ? '' : `.${attribute}`),
    'Fn::Join': ([separator, parts]) => parts.map(readable).join(separator),
    'Fn::Sub': String,
    'Fn::Select': () => '…',
  };

  function readable(value: unknown): string {
    if (typeof value !== 'object' || value === null) return String(value);
    const [[name, argument] = ['', undefined], ...others] = Object.entries(value);
    const intrinsic = intrinsics[name];
    if (intrinsic === undefined || others.length > 0) throw new Error(`Not an intrinsic: ${JSON.stringify(value)}`);
    return intrinsic(argument);
  }

  return {
    text,
    ofType,
    readable,
    terminationProtection: properties.terminationProtection === true,
    outputs: Object.fromEntries(Object.entries(template.Outputs).map(([name, { Value }]) => [name, Value])),
    findings: report.pluginReports,
    acknowledgements: Object.values(template.Resources).flatMap(
      ({ Metadata }) => Metadata?.cdk_nag?.rules_to_suppress ?? [],
    ),
    one(type, path) {
      const [found, ...others] = ofType(type).filter((resource) => resource.path === path);
      if (found === undefined || others.length > 0) throw new Error(`${1 + others.length} of ${type} ${path}`);
      return found;
    },
  };
}
