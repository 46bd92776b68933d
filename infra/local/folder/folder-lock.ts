import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SetupProblem } from '../../commands/setup-problem.ts';

/** How long another stack may take to write down its port, in milliseconds. */
const patience = 1_000;
/** SQLITE_BUSY: https://sqlite.org/rescode.html#busy */
const busy = 5;

/** The locks of this process, by folder: the operating system ends them with the process. */
const locks = new Map<string, DatabaseSync>();

/**
 * Takes the folder until this process ends, however it ends, and creates it if needed. When another
 * stack has it, returns the port of that stack: of several that ask at the same time, one gets the
 * folder. Throws SetupProblem for a folder that cannot be used.
 */
export function lockFolder(folder: string, port: number): number | undefined {
  try {
    makeFolder(folder);
    accessSync(`${folder}/.`, constants.W_OK);
    const path = realpathSync(folder);
    if (locks.has(path)) return undefined;
    const database = new DatabaseSync(join(path, 'lock.db'), { timeout: patience });
    if (takeLock(database, port)) {
      locks.set(path, database);
      return undefined;
    }
    const holder = portIn(database);
    database.close();
    return holder;
  } catch (error) {
    throw folderProblem(folder, error);
  }
}

/**
 * Whether the file is locked for this process now: by a transaction that never ends. Before it
 * comes one that stores the port, which others can still read. Both write: a file that may only be
 * read would count as locked by everybody.
 */
function takeLock(database: DatabaseSync, port: number): boolean {
  try {
    // Nothing here need outlive a power cut.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    for (;;) {
      database.exec('BEGIN IMMEDIATE');
      const isStored = portIn(database) === port;
      database.exec(`PRAGMA user_version = ${port}`);
      if (isStored) return true;
      // Another process may come between. If so, its port is found, and this one is stored again.
      database.exec('COMMIT');
    }
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}

function portIn(database: DatabaseSync): number {
  return database.prepare('PRAGMA user_version').get()!.user_version as number;
}

/** With its parents. mkdir's own `recursive` never returns in a folder like /proc. */
function makeFolder(folder: string) {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this account may not write there',
  ENOENT: 'no folder can be made there',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file is in its way',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
};

function folderProblem(folder: string, error: unknown): SetupProblem {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = reasons[code] ?? (code === 'ERR_SQLITE_ERROR' ? `it cannot be locked: ${message}` : code);
  return new SetupProblem(`The folder ${folder} cannot be used: ${reason}.`);
}
