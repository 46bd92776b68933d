import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { App, type CfnElement } from 'aws-cdk-lib';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import cdk from '../../cdk.json' with { type: 'json' };
import type { BundleFigure } from '../../infra/docs/performance.ts';
import { ServiceFunction } from '../../infra/stack/service-function.ts';
import { ServiceStack } from '../../infra/stack/service-stack.ts';
import { stages } from '../../infra/stack/stages.ts';
import { bundleLimits } from '../support/bundle-limits.ts';
import type { Measured } from './measure-endpoints.ts';
import { median } from './units.ts';

interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** What the starts of all functions are compared with: the part that most of them begin with. */
const documentClient = 'Document client';

/**
 * Sizes and initialisation times of the bundles as the stack makes them. Each round loads every
 * bundle once, so that all are measured under the same conditions.
 */
export async function measureBundles(
  rounds: number,
  progress: (round: number) => void,
): Promise<Measured<BundleFigure>[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-bundles-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  // Also when the benchmark is interrupted.
  process.once('exit', remove);
  const bundles = build(directory);
  const starts = new Map(bundles.map(({ name }) => [name, [] as number[]]));
  // The first round warms the file system's caches.
  for (let round = 0; round <= rounds; round++) {
    progress(round);
    for (const bundle of round % 2 === 0 ? bundles : bundles.toReversed()) {
      const milliseconds = await initialisation(bundle);
      if (round > 0) starts.get(bundle.name)?.push(milliseconds);
    }
  }
  const reference = starts.get(documentClient) ?? [];
  const results = bundles.map((bundle) => resultOf(bundle, starts.get(bundle.name) ?? [], reference));
  remove();
  process.removeListener('exit', remove);
  return results;
}

/**
 * The bundles of the stack, and one more: the SDK's document client as the service makes and
 * bundles it. Those values of the functions' environment that only a deployment knows are made up.
 */
function build(directory: string): Bundle[] {
  const app = new App({ outdir: directory, analyticsReporting: false, context: cdk.context });
  const tokenIssuer = {
    issuer: 'https://issuer.example/',
    audience: 'https://api.example',
    jwksUri: 'https://issuer.example/keys',
  };
  const stack = new ServiceStack(app, 'Bench', { settings: stages.dev, tokenIssuer });
  new ServiceFunction(stack, documentClient, {
    function: { entry: '../test/bench/document-client', uses: {} },
    resources: {},
    log: new LogGroup(stack, 'Log'),
  });
  const { template } = app.synth().getStackByName(stack.stackName);
  return stack.node
    .findAll()
    .filter((construct) => construct instanceof LambdaFunction)
    .map(({ node }) => {
      const { Properties } = template.Resources[stack.getLogicalId(node.defaultChild as CfnElement)];
      const asset = `asset.${Properties.Code.S3Key.replace(/\.zip$/, '')}`;
      const variables = Object.entries(Properties.Environment?.Variables ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : 'x',
      ]);
      return {
        name: node.id,
        file: join(directory, asset, 'index.mjs'),
        environment: { ...ofLambda, ...Object.fromEntries(variables) },
      };
    });
}

const ofLambda = {
  AWS_REGION: 'eu-west-3',
  AWS_LAMBDA_FUNCTION_NAME: 'bench',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_SESSION_TOKEN: 'bench',
};

/** CPU time that the import of the bundle takes in a new process. */
async function initialisation({ file, environment }: Bundle): Promise<number> {
  const script = `const cpu = process.cpuUsage();
    await import(${JSON.stringify(pathToFileURL(file))});
    const { user, system } = process.cpuUsage(cpu);
    process.stdout.write(String((user + system) / 1000));`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env: environment });
  return Number(stdout);
}

function resultOf({ name, file }: Bundle, starts: readonly number[], reference: readonly number[]) {
  const kilobytes = statSync(file).size / 1_000;
  const cpuRatio = median(starts.map((start, round) => start / (reference[round] ?? Number.NaN)));
  const figure = { name, kilobytes, cpuMilliseconds: median(starts), cpuRatio };
  // A test limits their bytes.
  const most = bundleLimits[name]?.timesDocumentClient ?? Number.POSITIVE_INFINITY;
  return {
    ...figure,
    excesses: cpuRatio > most ? [`${cpuRatio} times the document client's CPU time instead of ${most}`] : [],
  };
}
