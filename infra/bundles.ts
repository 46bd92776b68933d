/**
 * The bundles of all functions, each made by esbuild from its entry: a small ES module that
 * contains everything it needs, and its source map. One run of esbuild makes all of them, since it
 * then reads what they share once: a third of the CPU time of a run for each, for the same bytes.
 * `npm start`, each end-to-end test and each deployment need all of them.
 */

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';
import { otherFunctions, routes } from '../functions/routes.ts';

/** Entries are paths in it, without `.ts`. */
export const functionsDirectory = join(import.meta.dirname, '../functions');

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

/**
 * The entries that are bundled together with this one: all of the stack. Any other, as the
 * benchmark has, is bundled by itself.
 */
function entriesWith(entry: string): readonly string[] {
  return ofStack.includes(entry) ? ofStack : [entry];
}

/** By entry, once that was found out. */
const loadsS3 = new Map<string, boolean>();

/**
 * Whether the function's code, or anything of functions/ that it imports, imports the client of S3.
 */
export function importsS3(entry: string): boolean {
  if (!loadsS3.has(entry)) {
    const entries = entriesWith(entry);
    const { metafile } = buildSync({
      entryPoints: entries.map(sourceOf),
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      outdir: functionsDirectory,
      write: false,
      metafile: true,
      // The metafile names files relative to it.
      absWorkingDir: functionsDirectory,
    });
    for (const each of entries) loadsS3.set(each, reachesS3(metafile.inputs, `${each}.ts`));
  }
  return loadsS3.get(entry)!;
}

function reachesS3(inputs: Metafile['inputs'], file: string): boolean {
  const reached = new Set([file]);
  for (const each of reached) {
    for (const { path, external } of inputs[each]!.imports) {
      if (path === '@aws-sdk/client-s3') return true;
      if (external !== true) reached.add(path);
    }
  }
  return false;
}

const fileNames = ['index.mjs', 'index.mjs.map'];
/** The contents of bundles, by the path that they are for. */
const built = new Map<string, Uint8Array>();

/** Writes the function's bundle, `index.mjs` and `index.mjs.map`, into the folder. */
export function writeBundle(entry: string, directory: string) {
  const beside = dirname(directory);
  const pathOf = (name: string) => join(beside, entry.replaceAll('/', '-'), name);
  if (!built.has(pathOf('index.mjs'))) buildBeside(beside, entriesWith(entry));
  for (const name of fileNames) writeFileSync(join(directory, name), built.get(pathOf(name))!);
}

/**
 * Each is built for a folder of its own in `parent`, as deep as the folder that it gets to: its
 * source map names sources relative to it.
 */
function buildBeside(parent: string, entries: readonly string[]) {
  for (const withS3 of [true, false]) {
    const chosen = entries.filter((entry) => importsS3(entry) === withS3);
    if (chosen.length === 0) continue;
    const { outputFiles } = buildSync({
      ...esModule,
      alias,
      ...(!withS3 && { external: eventStreams }),
      entryPoints: chosen.map((entry) => ({ in: sourceOf(entry), out: `${entry.replaceAll('/', '-')}/index` })),
      outdir: parent,
      write: false,
    });
    for (const { path, contents } of outputFiles) built.set(path, contents);
  }
}

/** Writes the code of a page into the folder, `page.js` and `page.css`, for browsers since 2024. */
export function writePage(browserEntry: string, directory: string) {
  buildSync({
    bundle: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    entryPoints: [{ in: join(functionsDirectory, browserEntry), out: 'page' }],
    outdir: directory,
  });
}

function sourceOf(entry: string): string {
  return join(functionsDirectory, `${entry}.ts`);
}
