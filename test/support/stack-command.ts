import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { StackDescription } from '../../infra/local/greeting.ts';

/** The local stack's command, running in `directory`. */
export interface StackCommand {
  readonly directory: string;
  readonly process: ChildProcess;
  /** All that it has printed so far. */
  output(): string;
  /** Its description, as soon as it is ready; throws when it ends before. */
  ready(): Promise<StackDescription>;
  /** The code it ends with by itself. */
  exitCode(): Promise<number | null>;
  /** Sends the signal, waits for the end, removes the directory. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Ids of all processes that descend from it. */
export function descendants(pid: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const children = pairs.filter(([, parent]) => parent === pid).map(([child]) => child);
  return [...children, ...children.flatMap(descendants)];
}

/** Kills the process and all its descendants at once. */
export async function kill(command: StackCommand) {
  for (const pid of [...descendants(command.process.pid!), command.process.pid!]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  await command.exitCode();
}

const script = join(import.meta.dirname, '../../infra/local/start.ts');

export function startCommand(
  environment: Readonly<Record<string, string | undefined>>,
  options: readonly string[],
  {
    directory = mkdtempSync(join(tmpdir(), 'local-stack-test-')),
    node = [],
  }: { readonly directory?: string; readonly node?: readonly string[] } = {},
): StackCommand {
  const child = spawn(process.execPath, [...node, script, ...options], {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const collect = (chunk: Buffer) => {
    printed += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    directory,
    process: child,
    output: () => printed,
    exitCode: () => ended,
    async ready() {
      // The greeting names the file of the description.
      let file: string | undefined;
      while (file === undefined) {
        if (child.exitCode !== null) throw new Error(`The local stack ended:\n${printed}`);
        await wait(100);
        file = /^Ready.* in (\S+\.json)$/ms.exec(printed)?.[1];
      }
      return JSON.parse(readFileSync(join(directory, file), 'utf8')) as StackDescription;
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
