import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { synthesizeWithBundles } from './synthesize.ts';

/** What is deployed of one function. */
export interface Bundle {
  readonly directory: string;
  readonly file: string;
  /** Names of its environment. */
  readonly variables: readonly string[];
}

/** The bundles of all functions as `cdk deploy` makes them; by name (`ListJobs`). */
export async function readBundles(): Promise<ReadonlyMap<string, Bundle>> {
  const { synthesis, directory: assembly } = await synthesizeWithBundles();
  const manifest = readdirSync(assembly).find((name) => name.endsWith('.assets.json'))!;
  const { files } = JSON.parse(readFileSync(join(assembly, manifest), 'utf8'));
  const bundles = synthesis.ofType('AWS::Lambda::Function').map(({ path, properties }) => {
    const directory = join(assembly, files[properties.Code.S3Key.replace(/\.zip$/, '')].source.path);
    const variables = Object.keys(properties.Environment?.Variables ?? {});
    return [path.split('/')[1]!, { directory, file: join(directory, 'index.mjs'), variables }] as const;
  });
  return new Map(bundles);
}

/**
 * What a Node of its own, with this environment alone, prints when it does `work` with a bundle;
 * otherwise its error in one line.
 */
export function runBundle(file: string, work: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const report = '(error) => console.error(String(error).slice(0, 500))';
  const script = `import(${JSON.stringify(pathToFileURL(file))}).then(${work}).catch(${report})`;
  const env = { NODE_OPTIONS: '', AWS_REGION: 'eu-west-3', AWS_LAMBDA_FUNCTION_NAME: 'x', ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', script], { env }, (_, stdout, stderr) => resolve(stdout.trim() || stderr));
  });
}
