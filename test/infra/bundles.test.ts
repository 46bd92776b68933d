import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type FunctionDescription, otherFunctions, routes } from '../../functions/routes.ts';
import { bundleLimits } from '../support/bundle-limits.ts';
import { withAssembly } from '../support/synthesize.ts';

interface Bundle {
  readonly name: string;
  readonly files: readonly string[];
  readonly bytes: number;
  readonly code: string;
  /** What a Node of its own, given the function's environment, finds exported or complains of. */
  readonly loaded: string;
  /** What one prints when it calls the function without a caller. */
  readonly failed: string;
}

const names = Object.keys({ ...routes, ...otherFunctions } satisfies Record<string, FunctionDescription>);

const environmentValues: Record<string, string> = {
  ISSUER: 'https://issuer.example.org/',
  JWKS_URI: 'https://issuer.example.org/.well-known/jwks.json',
  RESULTS_LINK_SECONDS: '300',
  DEAD_LETTER_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/x',
};

const unauthorized = { requestContext: { requestId: 'r' }, httpMethod: 'GET', resource: '/' };

const bundles = withAssembly((synthesis, directory) => {
  const manifest = readdirSync(directory).find((name) => name.endsWith('.assets.json'))!;
  const { files } = JSON.parse(readFileSync(join(directory, manifest), 'utf8'));
  return new Map(
    synthesis.ofType('AWS::Lambda::Function').map(({ path, properties }): [string, Bundle] => {
      const asset = join(directory, files[properties.Code.S3Key.replace(/\.zip$/, '')].source.path);
      const file = join(asset, 'index.mjs');
      const name = path.split('/')[1]!;
      const variables = Object.keys(properties.Environment?.Variables ?? {});
      return [
        name,
        {
          name,
          files: readdirSync(asset).sort(),
          bytes: statSync(file).size,
          code: readFileSync(file, 'utf8'),
          loaded: doing('(bundle) => console.log(Object.keys(bundle).join())', file, variables),
          failed: doing(`({ handler }) => handler(${JSON.stringify(unauthorized)}, {})`, file, variables),
        },
      ];
    }),
  );
});

/** What a Node of its own, given the function's environment, prints when it does this with the bundle, or complains of. */
function doing(work: string, file: string, variables: readonly string[]): string {
  const script = `import(${JSON.stringify(pathToFileURL(file))}).then(${work})`;
  const environment = Object.fromEntries(variables.map((name) => [name, environmentValues[name] ?? 'x']));
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    env: { ...environment, NODE_OPTIONS: '', AWS_REGION: 'eu-west-1', AWS_LAMBDA_FUNCTION_NAME: 'x' },
  });
  return stdout.trim() || stderr;
}

describe.each(names)('the bundle of %s', (name) => {
  const bundle = bundles.get(name[0]!.toUpperCase() + name.slice(1))!;

  it('is one module with its source map, and loads with no more than its environment', () => {
    expect(bundle.files).toEqual(['index.mjs', 'index.mjs.map']);
    expect(bundle.loaded).toBe('handler');
  });
});

describe('the bundles', () => {
  it('log errors with their positions in the sources', () => {
    const { error } = JSON.parse(bundles.get('ListBatches')!.failed);
    expect(error).toMatchObject({
      message: 'The authorizer did not say who calls.',
      stack: expect.stringMatching(/functions\/http\/endpoint\.ts:\d+:\d+/),
    });
    expect(error.stack).not.toContain('index.mjs:');
  });

  it.each(['Authorizer', 'MethodNotAllowed', 'GetOpenApi', 'GetHealth'])('of %s holds no AWS client', (name) => {
    expect(bundles.get(name)!.code).not.toMatch(/DynamoDBClient|S3Client|SQSClient/);
  });

  it.each(Object.entries(bundleLimits))('of %s is no larger than it may be', (name, limit) => {
    expect(bundles.get(name)!.bytes).toBeLessThanOrEqual(limit.bytes);
  });
});
