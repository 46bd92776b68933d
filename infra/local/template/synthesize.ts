import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SetupProblem } from '../../setup-problem.ts';
import { compileCache } from '../compile-cache.ts';
import type { AssetManifest } from './deployment.ts';
import type { Template } from './template.ts';

/** What `cdk synth` would write: the stack's name, template and assets. */
export interface Synthesis {
  readonly stackName: string;
  readonly template: Template;
  readonly assets: { readonly manifest: AssetManifest; readonly directory: string };
}

const projectDirectory = join(import.meta.dirname, '../../..');

/**
 * Synthesizes the app with `context` in addition to that of cdk.json. As the CDK's command line
 * does, it runs the app's command with the directory and the context in the environment. Its own
 * process gives the memory back when it ends.
 */
export async function synthesize(directory: string, context: Readonly<Record<string, unknown>>): Promise<Synthesis> {
  const cdk = JSON.parse(await readFile(join(projectDirectory, 'cdk.json'), 'utf8')) as {
    app: string;
    context: Record<string, unknown>;
  };
  const [, ...appArguments] = cdk.app.split(' ');
  const child = spawn(process.execPath, appArguments, {
    cwd: projectDirectory,
    env: {
      ...process.env,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...cdk.context, ...context }),
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
  const read = async (name: string) => JSON.parse(await readFile(join(directory, name), 'utf8'));
  const manifest = (await read('manifest.json')) as { artifacts: Record<string, { type: string }> };
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const [stackName, ...others] = stacks.map(([name]) => name);
  if (stackName === undefined || others.length > 0)
    throw new SetupProblem('The local stack runs an app with one stack.');
  return {
    stackName,
    template: await read(`${stackName}.template.json`),
    assets: { manifest: await read(`${stackName}.assets.json`), directory },
  };
}
