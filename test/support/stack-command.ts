import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** What the local stack writes to `.local/stack.json`. */
export interface StackDescription {
  readonly baseUrl: string;
  readonly openapiUrl: string;
  readonly dynamodbEndpoint: string;
  readonly objectStoreEndpoint: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly users: readonly {
    readonly username: string;
    readonly password: string;
    readonly userId: string;
    readonly token: string;
  }[];
}

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

const script = join(import.meta.dirname, '../../infra/local/start.ts');

export function startCommand(
  environment: Readonly<Record<string, string | undefined>>,
  options: readonly string[],
  directory = mkdtempSync(join(tmpdir(), 'local-stack-test-')),
): StackCommand {
  const child = spawn(process.execPath, [script, ...options], {
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
      const file = join(directory, '.local/stack.json');
      while (!existsSync(file) || !printed.includes('Ready')) {
        if (child.exitCode !== null) throw new Error(`The local stack ended:\n${printed}`);
        await wait(100);
      }
      return JSON.parse(readFileSync(file, 'utf8')) as StackDescription;
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
