/**
 * Assemblies that were synthesized before, bundles included. Each has a folder in node_modules that
 * is named for the hash of everything that it was made from.
 */

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const project = join(import.meta.dirname, '../../..');
const folder = join(project, 'node_modules/.cache/assemblies');
const digestFile = 'digest.json';

/** What an assembly is made from, beside the context and the environment. */
export const sources = [
  'functions',
  'infra',
  'openapi.json',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  // What is installed, which is not what the lock file says before `npm ci`.
  'node_modules/.package-lock.json',
];

const maxKept = 10;
const maxUnusedMilliseconds = 24 * 3_600_000;

/**
 * The name of the assembly for these values (context, settings) and for the sources as they are
 * now. Reads all sources: some 30 ms.
 */
export function assemblyKey(values: object): string {
  const { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION, NODE_OPTIONS } = process.env;
  const environment = [project, process.version, CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION, NODE_OPTIONS];
  return digestOf(project, sources, JSON.stringify([values, environment]));
}

/** The folder of the assembly, undamaged and marked as used now. Undefined: it is not there. */
export function findAssembly(key: string): string | undefined {
  const directory = join(folder, key);
  if (read(join(directory, digestFile))?.toString() !== digestOf(directory, readdir(directory))) return undefined;
  useAssembly(directory);
  return directory;
}

/** What an assembly is to be made from, and the folder to make it in. */
export interface NewAssembly<Values> {
  readonly values: Values;
  readonly directory: string;
}

/**
 * The folders of the assemblies for these values. `make` is called for all that are not there, and
 * again if the sources changed while they were read.
 */
export async function findOrMakeAssemblies<Values extends object>(
  all: readonly Values[],
  make: (missing: readonly NewAssembly<Values>[]) => Promise<void>,
): Promise<readonly string[]> {
  for (;;) {
    const wanted = all.map((values) => ({ values, key: assemblyKey(values) }));
    const directories = new Map(wanted.map(({ key }) => [key, findAssembly(key)]));
    const missing = wanted
      .filter(({ key }) => directories.get(key) === undefined)
      .map((each) => ({ ...each, directory: newAssembly() }));
    try {
      if (missing.length > 0) await make(missing);
      for (const { values, key, directory } of missing) {
        if (assemblyKey(values) === key) directories.set(key, keepAssembly(key, directory));
      }
    } finally {
      for (const { directory } of missing) rmSync(directory, { recursive: true, force: true });
    }
    const found = wanted.map(({ key }) => directories.get(key));
    if (found.every((directory) => directory !== undefined)) return found;
  }
}

/**
 * A program that runs from the assembly calls this every hour, so that other programs do not remove
 * it.
 */
export function useAssembly(directory: string) {
  utimesSync(directory, new Date(), new Date());
}

/** A folder to synthesize into. Give it to `keepAssembly`, or remove it. */
export function newAssembly(): string {
  const directory = join(folder, `new-${randomUUID()}`);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/**
 * Keeps what was synthesized into a folder of `newAssembly`, and returns where it is from now on.
 * It appears there whole. Removes assemblies that have not been used for long.
 */
export function keepAssembly(key: string, directory: string): string {
  writeFileSync(join(directory, digestFile), digestOf(directory, readdir(directory)));
  const kept = join(folder, key);
  for (;;) {
    try {
      renameSync(directory, kept);
      removeUnused();
      return kept;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    // Another process was faster, or what is there is damaged.
    const obsolete = findAssembly(key) === undefined ? kept : directory;
    rmSync(obsolete, { recursive: true, force: true });
    if (obsolete === directory) return kept;
  }
}

function removeUnused() {
  const usedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const paths = readdir(folder).map((name) => join(folder, name));
  for (const path of paths.sort((one, other) => usedAt(other) - usedAt(one)).slice(maxKept)) {
    if (usedAt(path) < Date.now() - maxUnusedMilliseconds) rmSync(path, { recursive: true, force: true });
  }
}

/** A hash of names and contents: of these files, and of all files below these folders. */
function digestOf(directory: string, names: readonly string[], prefix = ''): string {
  const hash = createHash('sha256').update(prefix);
  const add = (path: string) => {
    const content = read(path);
    if (content === undefined) for (const name of readdir(path)) add(join(path, name));
    else hash.update(`\0${relative(directory, path)}\0${content.length}\0`).update(content);
  };
  for (const name of names) if (name !== digestFile) add(join(directory, name));
  return hash.digest('hex');
}

/** The names in the folder, sorted. None where there is no folder. */
function readdir(path: string): string[] {
  return unlessMissing(() => readdirSync(path).sort()) ?? [];
}

/** The content of the file. Undefined where there is none, or a folder. */
function read(path: string): Buffer | undefined {
  return unlessMissing(() => readFileSync(path));
}

function unlessMissing<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (['ENOENT', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
