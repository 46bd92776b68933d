import { existsSync, readFileSync, rmSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
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

const lockName = 'lock.json';

/** Longer than the time between reading a stale lock and replacing it, also on a busy machine. */
const settleMilliseconds = 500;

/**
 * Takes the folder until this process ends, and creates it if needed. Returns the holder when
 * another stack has it. A lock that a dead process left behind is taken over. Throws SetupProblem
 * for a folder that cannot be used.
 */
export async function lockFolder(folder: string, port: number): Promise<FolderHolder | undefined> {
  const file = join(folder, lockName);
  const own = JSON.stringify({ pid: process.pid, since: new Date().toISOString(), port } satisfies FolderHolder);
  const draft = join(folder, `lock-${process.pid}.json`);
  await explainFailure(folder, async () => {
    await makeFolder(folder);
    await writeFile(draft, own);
  });
  try {
    // Appears whole, and only where there is none.
    await link(draft, file);
    await rm(draft);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw folderProblem(folder, error);
    const holder = await readHolder(file);
    if (holder !== undefined && (await isRunning(holder))) {
      await rm(draft);
      return holder;
    }
    await rename(draft, file);
    // Of two processes that take over a stale lock at the same time, the later one has it.
    await wait(settleMilliseconds);
    const winner = await readHolder(file);
    if (winner !== undefined && winner.pid !== process.pid) return winner;
  }
  process.once('exit', () => {
    if (readText(file) === own) rmSync(file, { force: true });
  });
  return undefined;
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
    return JSON.parse(await readFile(file, 'utf8')) as FolderHolder;
  } catch {
    return undefined;
  }
}

/** Checks the port as well as the process: the process id may belong to another program now. */
async function isRunning({ pid, port }: FolderHolder): Promise<boolean> {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, for someone else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const socket = connect(port, '127.0.0.1');
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).finally(() => socket.destroy());
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

async function explainFailure(folder: string, write: () => Promise<void>) {
  try {
    await write();
  } catch (error) {
    throw folderProblem(folder, error);
  }
}

function folderProblem(folder: string, error: unknown): SetupProblem {
  const { code = '' } = error as NodeJS.ErrnoException;
  return new SetupProblem(`The folder ${folder} cannot be used: ${reasons[code] ?? code}.`);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
