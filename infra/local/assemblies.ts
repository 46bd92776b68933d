/**
 * Assemblies that were synthesized before, bundles included. Each has a folder in node_modules that
 * is named for the hash of everything that it was made from.
 */

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');
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
 * The name of the assembly for these values (context, environment) and for the sources as they are
 * now. Reads all sources: some 30 ms.
 */
export function assemblyKey(values: object): string {
  const { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION, NODE_OPTIONS } = process.env;
  const environment = { project, node: process.version, CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION, NODE_OPTIONS };
  return digestOf(project, sources.flatMap(filesOf), JSON.stringify([environment, values]));
}

/** The folder of the assembly, undamaged and marked as used now. Undefined: it is not there. */
export function findAssembly(key: string): string | undefined {
  const directory = join(folder, key);
  try {
    if (readFileSync(join(directory, digestFile), 'utf8') !== digestOfAssembly(directory)) return undefined;
    useAssembly(directory);
    return directory;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** A program that runs from the assembly calls this every hour, so that nobody removes it. */
export function useAssembly(directory: string) {
  const now = new Date();
  utimesSync(directory, now, now);
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
  writeFileSync(join(directory, digestFile), digestOfAssembly(directory));
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
    if (findAssembly(key) !== undefined) {
      rmSync(directory, { recursive: true });
      return kept;
    }
    moveAway(kept);
  }
}

function removeUnused() {
  const entries = readdirSync(folder)
    .map((name) => ({ path: join(folder, name), used: usedAt(join(folder, name)) }))
    .sort((one, other) => other.used - one.used);
  for (const { path, used } of entries.slice(maxKept)) {
    if (used < Date.now() - maxUnusedMilliseconds) moveAway(path);
  }
}

/** Removes a folder in a way that nobody finds a part of it. */
function moveAway(path: string) {
  const away = join(folder, `old-${randomUUID()}`);
  try {
    renameSync(path, away);
  } catch (error) {
    // Another process did it.
    if (!isNotFound(error)) throw error;
  }
  rmSync(away, { recursive: true, force: true });
}

function usedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function digestOfAssembly(directory: string): string {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1));
  return digestOf(
    directory,
    names.filter((name) => name !== digestFile),
  );
}

/** Paths of the file, or of all files below the folder, relative to the project. */
function filesOf(source: string): string[] {
  const path = join(project, source);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [source];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(project.length + 1));
}

/** A hash of the files' names and contents, whatever their order. One that is missing is empty. */
function digestOf(directory: string, names: readonly string[], prefix = ''): string {
  const hash = createHash('sha256').update(prefix);
  for (const name of names.toSorted()) {
    const content = readIfThere(join(directory, name));
    hash.update(`\0${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isNotFound(error)) return Buffer.alloc(0);
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
