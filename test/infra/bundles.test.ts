import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { otherFunctions } from '../../functions/other-functions.ts';
import { type QueueDescription, queues } from '../../functions/queues.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { routes } from '../../functions/routes.ts';
import project from '../../package.json' with { type: 'json' };
import { bundleLimits } from '../support/bundle-limits.ts';
import { readBundles, runBundle } from '../support/bundles.ts';

const functions: Readonly<Record<string, FunctionDescription>> = { ...routes, ...otherFunctions };
const names = Object.keys(functions);
const filesOf = (name: string) => functions[name]?.files ?? [];

/** The files below a directory, by their paths. */
function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(directory, join(parentPath, name))).sort();
}

const environmentValues: Record<string, string> = {
  ISSUER: 'https://issuer.example.org/',
  JWKS_URI: 'https://issuer.example.org/.well-known/jwks.json',
  RESULTS_LINK_SECONDS: '300',
  ...Object.fromEntries(
    Object.values<QueueDescription>(queues)
      .flatMap(({ environmentVariable, deadLetterVariable }) => [environmentVariable, deadLetterVariable])
      .map((variable) => [variable, 'https://sqs.eu-west-1.amazonaws.com/1/x']),
  ),
};

/** A request without the authorizer's answer. */
const request = { requestContext: { requestId: 'r' }, httpMethod: 'GET', resource: '/api/v1/batches' };

/** The names of the schemas that a bundle has made once it is loaded: zod's registry is global. */
const listSchemas = '() => console.log([...(globalThis.__zod_globalRegistry?._idmap.keys() ?? [])].join())';

const looks = Array.from(await readBundles(), async ([name, { directory, file, variables }]) => {
  const environment = Object.fromEntries(variables.map((name) => [name, environmentValues[name] ?? 'x']));
  return [
    name,
    {
      // A font is named for its content.
      files: filesIn(directory).map((path) => path.replace(/-[A-Z0-9]{8}\.woff2$/, '.woff2')),
      bytes: statSync(file).size,
      code: readFileSync(file, 'utf8'),
      loaded: await runBundle(file, '(bundle) => console.log(Object.keys(bundle).join())', environment),
      schemas: name in bundleLimits ? (await runBundle(file, listSchemas, environment)).split(',').filter(Boolean) : [],
      log:
        name === 'ListBatches' &&
        (await runBundle(
          file,
          `({ handler }) => handler(${JSON.stringify(request)}, { getRemainingTimeInMillis: () => 1000 })`,
          environment,
        )),
    },
  ] as const;
});
const bundles = new Map(await Promise.all(looks));

describe('the bundles', () => {
  it('are one module each with its source map and the files that it reads, and load with their environment alone', () => {
    const contents = (name: string) => bundles.get(name[0]!.toUpperCase() + name.slice(1))!;
    expect(Object.fromEntries(names.map((name) => [name, [contents(name).loaded, ...contents(name).files]]))).toEqual(
      Object.fromEntries(
        names.map((name) => {
          const files = filesOf(name).map((file) => (file.startsWith('./') ? file.slice(2) : `node_modules/${file}`));
          const page = name === 'getConsole' ? ['inter.woff2', 'page.css', 'page.css.br', 'page.js', 'page.js.br'] : [];
          return [name, ['handler', ...[...files, ...page, 'index.mjs', 'index.mjs.map'].sort()]];
        }),
      ),
    );
  });

  it('are built from one version of the AWS SDK', () => {
    const clients = Object.entries(project.dependencies).filter(([name]) => /^@aws-sdk\/(client|lib|s3)-/.test(name));
    expect(new Set(clients.map(([, version]) => version)).size).toBe(1);
  });

  it('log errors with their positions in the sources', () => {
    const { error } = JSON.parse(String(bundles.get('ListBatches')!.log));
    const file = 'functions/http/plain-endpoint.ts';
    const lines = readFileSync(join(import.meta.dirname, '../..', file), 'utf8').split('\n');
    const line = lines.findIndex((text) => text.includes('did not say who calls')) + 1;
    expect(error).toMatchObject({
      message: 'The authorizer did not say who calls.',
      stack: expect.stringContaining(`${file}:${line}:`),
    });
    expect(error.stack).not.toContain('index.mjs:');
  });

  it('hold no AWS client where functions use no data', () => {
    const withoutData = ['Authorizer', 'MethodNotAllowed', 'GetOpenApi', 'GetDocs', 'GetHealth'];
    const clients = /DynamoDBClient|S3Client|SQSClient/;
    expect(withoutData.filter((name) => clients.test(bundles.get(name)!.code))).toEqual([]);
  });

  it('hold the client of S3 only where functions sign links or erase', () => {
    const holding = [...bundles].filter(([, { code }]) => code.includes('S3Client')).map(([name]) => name);
    expect(holding.sort()).toEqual(['EraseBatch', 'GetResultsLink', 'RecoverBatches', 'UploadResults']);
  });

  it('stay within their limits', () => {
    const sizes = Object.entries(bundleLimits).map(([name, { bytes: limit }]) => {
      return { name, limit, bytes: bundles.get(name)!.bytes };
    });
    expect(sizes.filter(({ bytes, limit }) => bytes > limit)).toEqual([]);
  });

  it('make few schemas at their start, and none of an answer', () => {
    for (const [name, { schemas: most }] of Object.entries(bundleLimits)) {
      const { schemas } = bundles.get(name)!;
      expect(schemas.length, `${name} makes ${schemas}`).toBeLessThanOrEqual(most);
      // Rows of limits are read by the schema that shows them.
      const ofAnswers = /^Produced(?!SubjectLimits)|^(Claim|NextJob|ErrorResponse|EstimatedStart)$/;
      expect(schemas.filter((id) => ofAnswers.test(id))).toEqual([]);
    }
  });

  it('load large modules of Node when they are needed', () => {
    const large = /from"node:(util|zlib|http|module|timers\/promises)"/;
    expect(Object.keys(bundleLimits).filter((name) => large.test(bundles.get(name)!.code))).toEqual([]);
    // It loads `fetch`, too.
    expect([...bundles].filter(([, { code }]) => code.includes('from"node:http"')).map(([name]) => name)).toEqual([]);
  });

  it('make Pulser’s schemas within functions, which run when a sequence is read', () => {
    const { code } = bundles.get('CreateBatch')!;
    const made = code.match(/(=>\{)?\w+=\{\$id:"\w+-schema\.json"/g);
    expect(made).toHaveLength(4);
    expect(made!.filter((text) => !text.startsWith('=>{'))).toEqual([]);
  });
});
