/**
 * The machine's own PostgreSQL: its programs are on the PATH or in the folder POSTGRES_BIN. Its
 * data is in a temporary folder, and it listens on a Unix socket there alone.
 */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupProblem } from '../../infra/commands/setup-problem.ts';

/** One connection, and with it one process of the server. */
export interface PostgreSql {
  /** Runs a text of statements, with the rows for COPY, and returns the lines of the results. */
  run(text: string): Promise<string[]>;
  /** CPU time of the connection's process since its start. */
  cpuMilliseconds(): number;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

const programs = ['postgres', 'initdb', 'psql'] as const;
const pathOf = (program: (typeof programs)[number]) => join(process.env.POSTGRES_BIN ?? '', program);
/** A user without rights: PostgreSQL does not run as root. */
const userWithoutRights = 65_534;
/** All rows fit into memory, and nothing else works at the same time. */
const settings = ['listen_addresses=', 'shared_buffers=512MB', 'fsync=off', 'autovacuum=off'];
const maxStartSeconds = 60;

export function hasPostgreSql(): boolean {
  return programs.every((program) => spawnSync(pathOf(program), ['--version']).status === 0);
}

/**
 * Throws SetupProblem when a program is missing. The server ends with this process, unless that is
 * ended by SIGKILL.
 */
export async function startPostgreSql(): Promise<PostgreSql> {
  if (!hasPostgreSql()) {
    throw new SetupProblem(
      `No PostgreSQL: put ${programs.join(', ')} on the PATH, or set POSTGRES_BIN to the folder that has them.`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'postgresql-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, userWithoutRights, userWithoutRights);
  const options = { cwd: folder, ...(isRoot && { uid: userWithoutRights, gid: userWithoutRights }) };
  const data = join(folder, 'data');
  const made = spawnSync(pathOf('initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-N', '--locale=C'], options);
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const args = ['-D', data, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(pathOf('postgres'), args, { ...options, stdio: 'ignore' });
  const ended = once(server, 'exit');
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', () => {
    server.kill('SIGQUIT');
    remove();
  });
  const stop = async () => {
    server.kill('SIGINT');
    await ended;
    remove();
  };
  try {
    await whenReady(folder);
    const psql = spawn(pathOf('psql'), psqlArgs(folder));
    const run = runIn(psql);
    const [pid] = await run('SELECT pg_backend_pid();');
    return { run, cpuMilliseconds: () => cpuOf(Number(pid)), stop: () => stop().finally(() => psql.stdin.end()) };
  } catch (error) {
    await stop();
    throw error;
  }
}

const psqlArgs = (folder: string) => ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', folder, '-U', 'bench', 'postgres'];

async function whenReady(folder: string) {
  for (const deadline = Date.now() + 1_000 * maxStartSeconds; ; ) {
    const { status, stderr } = spawnSync(pathOf('psql'), [...psqlArgs(folder), '-c', 'SELECT 1']);
    if (status === 0) return;
    if (Date.now() > deadline) throw new Error(`PostgreSQL did not answer within ${maxStartSeconds} s: ${stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What runs texts, one at a time. It rejects when psql ends, with what that complained about. */
function runIn(psql: ChildProcessWithoutNullStreams): PostgreSql['run'] {
  const end = 'end of the results';
  let complaint = '';
  psql.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk;
  });
  const failed = once(psql, 'close').then(() => Promise.reject(new Error(`psql has ended: ${complaint}`)));
  // It may end while no call waits for it.
  failed.catch(() => {});
  psql.stdin.on('error', () => {});
  psql.stdout.setEncoding('utf8');
  return async (text) => {
    let results = '';
    const complete = new Promise<void>((resolve) => {
      const listen = (chunk: string) => {
        results += chunk;
        if (!results.endsWith(`${end}\n`)) return;
        psql.stdout.off('data', listen);
        resolve();
      };
      psql.stdout.on('data', listen);
    });
    psql.stdin.write(`${text}\n\\echo ${end}\n`);
    await Promise.race([complete, failed]);
    return results.split('\n').slice(0, -2);
  };
}

/** From Linux, in nanoseconds there. */
function cpuOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
}
