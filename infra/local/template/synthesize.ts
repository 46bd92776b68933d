import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SetupProblem } from '../../commands/setup-problem.ts';
import { findOrMakeAssemblies, type NewAssembly } from '../cache/assemblies.ts';
import { compileCache } from '../cache/compile-cache.ts';
import type { AssetManifest } from './deployment.ts';
import type { Template } from './template.ts';

/** What `cdk synth` would write: the stack's name, template and assets. */
export interface Synthesis {
  readonly stackName: string;
  readonly template: Template;
  readonly assets: { readonly manifest: AssetManifest; readonly directory: string };
}

const projectDirectory = join(import.meta.dirname, '../../..');

/** Whose tokens the stack accepts, and its console's client there: names of the app's context. */
export type TokenIssuerContext = Readonly<Record<'issuer' | 'audience' | 'jwksUri' | 'consoleClientId', string>>;

/** Placeholders for them in assemblies that are kept: an issuer's port changes at each start. */
export const placeholders: TokenIssuerContext = {
  issuer: 'http://issuer.invalid',
  audience: 'http://audience.invalid',
  jwksUri: 'http://keys.invalid',
  consoleClientId: 'client.invalid',
};

/**
 * The app's stack with `context` in addition to that of cdk.json, as it was synthesized before from
 * the same sources; otherwise calls `onStart` and synthesizes it, in a process of its own. Throws
 * SetupProblem with what the app printed when it fails.
 */
export async function synthesize(
  context: Readonly<Record<string, string>>,
  tokenIssuer: TokenIssuerContext,
  onStart: () => void,
): Promise<Synthesis> {
  return readSynthesis(await assemblyOf({ ...context, ...placeholders }, onStart), tokenIssuer);
}

/** As `synthesize`, of another checkout of this project: into this folder, always anew. */
export async function synthesizeCheckout(
  project: string,
  directory: string,
  context: Readonly<Record<string, string>>,
  tokenIssuer: TokenIssuerContext,
): Promise<Synthesis> {
  await runApp(project, { values: contextOfApp({ ...context, ...placeholders }, project), directory });
  return readSynthesis(directory, tokenIssuer);
}

/**
 * The folder of the app's assembly with `context` in addition to that of cdk.json, bundles
 * included. The same promises.
 */
export async function assemblyOf(context: Readonly<Record<string, string>>, onStart?: () => void): Promise<string> {
  const [directory] = await findOrMakeAssemblies([contextOfApp(context)], async ([missing]) => {
    onStart?.();
    await runApp(projectDirectory, missing!);
  });
  return directory!;
}

/**
 * The folders of the app's assemblies with each of these contexts in addition to that of cdk.json,
 * without bundles. Throws what the app printed when it fails. CDK's own check of the template takes
 * longer than all else: it is made where the caller looks at its findings.
 */
export function assembliesWithoutBundles(contexts: readonly object[], withCheck = false): Promise<readonly string[]> {
  const all = contexts.map((added) => ({
    context: contextOfApp({ ...added, 'aws:cdk:bundling-stacks': [] }),
    withCheck,
  }));
  return findOrMakeAssemblies(all, (missing) => runAppForEach(missing, withCheck));
}

/**
 * The context that the CDK's command line gives the app, with `added`, and without the settings of
 * deployments.
 */
function contextOfApp(added: object, project = projectDirectory): object {
  const { settings, ...context } = readCdk(project).context;
  return { ...context, 'aws:cdk:enable-path-metadata': true, ...added };
}

function readCdk(project: string) {
  return readJson(join(project, 'cdk.json')) as { app: string; context: Record<string, unknown> };
}

/** As the CDK's command line does: gives the directory and the context in the environment. */
async function runApp(project: string, { values, directory }: NewAssembly<object>): Promise<void> {
  const [, ...appArguments] = readCdk(project).app.split(' ');
  const child = spawn(process.execPath, appArguments, {
    cwd: project,
    env: {
      ...process.env,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify(values),
      NODE_COMPILE_CACHE: compileCache,
      // CDK's check of the template takes longer than all else. `cdk synth` makes it, and so does
      // test/infra.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const endOnExit = () => child.kill();
  process.once('exit', endOnExit);
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  process.removeListener('exit', endOnExit);
  if (code !== 0) throw new SetupProblem(`The stack does not synthesize:\n${complaint.trim()}`);
}

/** The same for each of them, in one process: loading CDK takes longest. */
async function runAppForEach(missing: readonly NewAssembly<{ readonly context: object }>[], withCheck: boolean) {
  const script = `
    for (const [at, { values, directory }] of ${JSON.stringify(missing)}.entries()) {
      process.env.CDK_OUTDIR = directory;
      process.env.CDK_CONTEXT_JSON = JSON.stringify(values.context);
      await import('./infra/app.ts?' + at);
    }`;
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache, CDK_VALIDATION: String(withCheck) };
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: projectDirectory,
    env,
  });
  await run.catch(({ stderr }) => {
    throw new Error(stderr);
  });
}

function readSynthesis(directory: string, tokenIssuer: TokenIssuerContext): Synthesis {
  const manifest = readJson(join(directory, 'manifest.json')) as { artifacts: Record<string, { type: string }> };
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const [stackName, ...others] = stacks.map(([name]) => name);
  if (stackName === undefined || others.length > 0)
    throw new SetupProblem('The local stack runs an app with one stack.');
  let text = readFileSync(join(directory, `${stackName}.template.json`), 'utf8');
  for (const [name, value] of Object.entries(tokenIssuer)) {
    text = text.replaceAll(placeholders[name as keyof TokenIssuerContext], value);
  }
  return {
    stackName,
    template: JSON.parse(text),
    assets: { manifest: readJson(join(directory, `${stackName}.assets.json`)) as AssetManifest, directory },
  };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
