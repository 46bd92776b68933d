import { constants, existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { SetupProblem } from '../../commands/setup-problem.ts';

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
/**
 * The file that is locked, by SQLite: the operating system ends the lock with the process. Nothing
 * else in this process may open it, since closing it would end the lock, too.
 */
const lockName = 'lock.db';
/**
 * A transaction that never ends, so that nothing is ever stored, and needs no journal file. It has
 * to write something: otherwise a file that may only be read counts as locked by everybody.
 */
const lock = 'PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE; PRAGMA user_version = 1';
/** SQLITE_BUSY: https://sqlite.org/rescode.html#busy */
const busy = 5;

/**
 * How long to wait, in milliseconds, while the folder is locked and no running process is named as
 * its holder: it may be in another container.
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
  const deadline = Date.now() + maxSilence;
  const file = join(folder, holderName);
  const own = JSON.stringify({ pid: process.pid, since: new Date().toISOString(), port } satisfies FolderHolder);
  await explainFailure(folder, async () => {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  });
  while (!(await explainFailure(folder, async () => takeLock(folder, own)))) {
    const isOver = Date.now() > deadline;
    const holder = readHolder(file);
    if (holder !== undefined && (isOver || isRunning(holder))) return holder;
    if (isOver) throw new SetupProblem(`The folder ${folder} belongs to another process.`);
    // Who has just taken it says so in a moment.
    await wait(20);
  }
  process.once('exit', () => {
    if (readText(file) === own) rmSync(file, { force: true });
  });
  return undefined;
}

/** Whether this process has the folder's lock now. If so, the folder says who that is. */
function takeLock(folder: string, own: string): boolean {
  const path = realpathSync(folder);
  const database = locks.get(path) ?? new DatabaseSync(join(path, lockName));
  try {
    if (!locks.has(path)) database.exec(lock);
    locks.set(path, database);
    // At once, so that others do not find who had it before. It appears whole.
    const draft = join(path, `new-${holderName}`);
    writeFileSync(draft, own);
    renameSync(draft, join(path, holderName));
    return true;
  } catch (error) {
    locks.delete(path);
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

function readHolder(file: string): FolderHolder | undefined {
  try {
    const holder = JSON.parse(readText(file) ?? '') as Partial<FolderHolder>;
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
