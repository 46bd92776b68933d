/**
 * The bundles of all functions, each made by esbuild from its entry: a small ES module that
 * contains everything it needs, and its source map. Two runs of esbuild make all of them, since
 * each reads what they share once: a third of the CPU time of a run for each, for the same bytes.
 * `npm start`, each end-to-end test and each deployment need all of them.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, buildSync } from 'esbuild';
import { otherFunctions } from '../../functions/other-functions.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { routes } from '../../functions/routes.ts';

/** Entries are paths in it, without `.ts`. */
export const functionsDirectory = join(import.meta.dirname, '../../functions');

/** How every function is bundled. */
export const esModule = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  outExtension: { '.js': '.mjs' },
} as const satisfies BuildOptions;

/** In Lambda the SDK needs none of its credential chain but the environment. */
const alias = {
  '@aws-sdk/credential-provider-node': join(functionsDirectory, 'data/dynamodb/environment-credentials.ts'),
};

/**
 * What the SDK imports when an operation streams events. DynamoDB and SQS have no such operation;
 * only the client of S3 loads it at the start. Bundled, it keeps esbuild from leaving out and
 * joining the SDK's modules: an eighth of the start.
 */
const eventStreams = ['@smithy/core/event-streams'];

const ofStack: readonly string[] = Object.values({ ...routes, ...otherFunctions }).map(({ entry }) => entry);

const fileNames = ['index.mjs', 'index.mjs.map'];
/** The contents of bundles, by the path that they are for. */
const built = new Map<string, Uint8Array>();

/**
 * Writes the function's bundle, `index.mjs` and `index.mjs.map`, into the folder. Throws when it
 * loads the client of S3, but its `uses` do not name Results.
 */
export function writeBundle({ entry, uses }: FunctionDescription, directory: string) {
  const beside = dirname(directory);
  const pathOf = (name: string) => join(beside, folderOf(entry), name);
  if (!built.has(pathOf('index.mjs'))) {
    const entries = ofStack.includes(entry) ? ofStack : [entry];
    buildBeside(beside, entries, { external: eventStreams });
    const withS3 = entries.filter((each) => hasClientOfS3(built.get(join(beside, folderOf(each), 'index.mjs.map'))!));
    buildBeside(beside, withS3);
  }
  if (!('Results' in uses) && hasClientOfS3(built.get(pathOf('index.mjs.map'))!)) {
    throw new Error(`${entry} loads the client of S3, but its \`uses\` do not name Results.`);
  }
  for (const name of fileNames) writeFileSync(join(directory, name), built.get(pathOf(name))!);
}

function hasClientOfS3(sourceMap: Uint8Array): boolean {
  return Buffer.from(sourceMap).includes('/@aws-sdk/client-s3/');
}

/**
 * Each is built for a folder of its own in `parent`, as deep as the folder that it gets to: its
 * source map names sources relative to it.
 */
function buildBeside(parent: string, entries: readonly string[], options: BuildOptions = {}) {
  const { outputFiles } = buildSync({
    ...esModule,
    ...options,
    alias,
    entryPoints: entries.map((entry) => ({ in: sourceOf(entry), out: `${folderOf(entry)}/index` })),
    outdir: parent,
    write: false,
  });
  for (const { path, contents } of outputFiles ?? []) built.set(path, contents);
}

/**
 * Writes the code of a page into the folder, `page.js` and `page.css`, for browsers since 2024, and
 * its fonts, which are named for their content: the page asks for them by `?file=./NAME`. What
 * browsers run is there by Brotli, too, as `NAME.br`: 1.5 s of a processor.
 */
export function writePage(browserEntry: string, directory: string) {
  buildSync({
    bundle: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    loader: { '.woff2': 'file' },
    assetNames: '[name]-[hash]',
    publicPath: '?file=.',
    entryPoints: [{ in: join(functionsDirectory, browserEntry), out: 'page' }],
    outdir: directory,
  });
  for (const name of ['page.js', 'page.css']) {
    const path = join(directory, name);
    writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path)));
  }
}

function folderOf(entry: string): string {
  return entry.replaceAll('/', '-');
}

function sourceOf(entry: string): string {
  return join(functionsDirectory, `${entry}.ts`);
}
