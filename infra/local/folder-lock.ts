import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { SetupProblem } from '../setup-problem.ts';

/** The local stack that has a folder to itself. */
export interface FolderHolder {
  readonly pid: number;
  /** When it took the folder: an ISO time. */
  readonly since: string;
  /** The port that it serves. */
  readonly port: number;
}

/** Says who has the folder. */
const holderName = 'lock.json';
/** Whose lock decides: SQLite's, which the operating system ends with the process that has it. */
const lockName = 'lock.db';
/** SQLITE_BUSY: https://sqlite.org/rescode.html#busy */
const busy = 5;

/**
 * How long to wait for a holder that runs, in milliseconds. One in another container cannot be seen
 * from here.
 */
const maxSilence = 5_000;

/** The locks of this process, by folder. */
const locks = new Map<string, DatabaseSync>();

/**
 * Takes the folder until this process ends, however it ends, and creates it if needed. Returns the
 * holder when another stack has it: of several that ask at the same time, one gets it. Throws
 * SetupProblem for a folder that cannot be used.
 */
export async function lockFolder(folder: string, port: number): Promise<FolderHolder | undefined> {
  const file = join(folder, holderName);
  const own = JSON.stringify({ pid: process.pid, since: new Date().toISOString(), port } satisfies FolderHolder);
  const draft = join(folder, `lock-${process.pid}.json`);
  await explainFailure(folder, async () => {
    await makeFolder(folder);
    await writeFile(draft, own);
  });
  try {
    for (const deadline = Date.now() + maxSilence; !(await explainFailure(folder, () => takeLock(folder))); ) {
      const holder = await readHolder(file);
      if (holder !== undefined && isRunning(holder)) return holder;
      if (Date.now() > deadline) {
        if (holder !== undefined) return holder;
        throw new SetupProblem(`The folder ${folder} belongs to another process.`);
      }
      // Who has just taken it says so in a moment.
      await wait(20);
    }
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  process.once('exit', () => {
    if (readText(file) === own) rmSync(file, { force: true });
  });
  return undefined;
}

/** Whether this process has the folder's lock now. */
async function takeLock(folder: string): Promise<boolean> {
  const path = await realpath(folder);
  if (locks.has(path)) return true;
  const database = new DatabaseSync(join(path, lockName));
  try {
    // Nothing is written, so there is nothing to undo: no journal beside it.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    locks.set(path, database);
    return true;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}

/**
 * Creates the folder and its parents. mkdir's own `recursive` never returns in a folder like /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder);
  }
}

async function readHolder(file: string): Promise<FolderHolder | undefined> {
  try {
    const holder = JSON.parse(await readFile(file, 'utf8')) as Partial<FolderHolder>;
    return holder.pid === undefined ? undefined : (holder as FolderHolder);
  } catch {
    return undefined;
  }
}

function isRunning({ pid }: FolderHolder): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, for someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this account may not write there',
  EEXIST: 'it is a file',
  ENOENT: 'no folder can be made there',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file is in its way',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
};

async function explainFailure<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw folderProblem(folder, error);
  }
}

function folderProblem(folder: string, error: unknown): SetupProblem {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = reasons[code] ?? (code === 'ERR_SQLITE_ERROR' ? `it cannot be locked: ${message}` : code);
  return new SetupProblem(`The folder ${folder} cannot be used: ${reason}.`);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
