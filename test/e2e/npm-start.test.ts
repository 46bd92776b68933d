import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { SetupProblem } from '../../infra/commands/setup-problem.ts';
import { requireJava } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { requireDynamoDb } from '../../infra/local/dynamodb/require-dynamodb.ts';
import { openDataFolder } from '../../infra/local/folder/data-folder.ts';
import { lockFolder } from '../../infra/local/folder/folder-lock.ts';
import { startFrontServer } from '../../infra/local/front-server.ts';
import { readSettings, usage } from '../../infra/local/settings.ts';
import { fetchPatiently, hang } from '../support/patience.ts';
import { descendants, kill, startCommand } from '../support/stack-command.ts';

/** The stack that all tests share, as its command describes and greets. */
const shared = { description: inject('localStack'), ...inject('localStackCommand') };

const script = import.meta.filename;
const small = ['--batches', '2', '--jobs-per-batch', '0'];

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function expectEnd(pids: readonly number[]) {
  await expect.poll(() => pids.filter(isRunning), hang).toEqual([]);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A program that is there, and prints this. */
function stubProgram(name: string, prints: string) {
  const directory = mkdtempSync(join(tmpdir(), 'program-'));
  writeFileSync(join(directory, name), `#!/bin/sh\necho '${prints}' >&2\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${directory}:/usr/bin:/bin`);
}

/** The options of a process whose clock is `days` days ahead. */
const clockIn = (days: number) => [
  '--import',
  new URL(`../support/shift-clock.mjs?${days * 86_400_000}`, import.meta.url).href,
];

describe('npm start says in one line', () => {
  it.each<[args: string[], environment: NodeJS.ProcessEnv, message: RegExp]>([
    [['--batches', 'many'], {}, /^--batches is a whole number/],
    [['--batches', '-1'], {}, /--batches/],
    [['--jobs-per-batch', '1.5'], {}, /^--jobs-per-batch is a whole number/],
    [['extra'], {}, /'extra'.*--help prints the options\.$/],
    [['--nonsense'], {}, /^[^\n]*--nonsense[^\n]*--help prints the options\.$/],
    [[], { PORT: '70000' }, /^PORT is a whole number/],
  ])('what is wrong with %j %j', (args, environment, message) => {
    expect(() => readSettings(args, environment)).toThrow(SetupProblem);
    expect(() => readSettings(args, environment)).toThrow(message);
  });

  it.each<[what: string, attempt: () => unknown, message: RegExp]>([
    [
      'there is no Java',
      () => {
        vi.stubEnv('PATH', '/nowhere');
        requireJava();
      },
      /^Java 17 or later is needed for DynamoDB Local, and no `java` was found on the PATH\.$/,
    ],
    [
      'Java is too old',
      () => {
        stubProgram('java', 'openjdk version "11.0.2" 2019-01-15');
        requireJava();
      },
      /^Java 17 or later is needed for DynamoDB Local; this one is 11\.$/,
    ],
    ['no DynamoDB answers', () => requireDynamoDb('http://127.0.0.1:9'), /^No DynamoDB answers at .*127\.0\.0\.1:9/],
    [
      'the address of DynamoDB is none',
      () => requireDynamoDb('here'),
      /^AWS_ENDPOINT_URL_DYNAMODB \(here\) is not an HTTP URL\.$/,
    ],
    [
      'its folder has another format',
      () => {
        const directory = mkdtempSync(join(tmpdir(), 'newer-'));
        writeFileSync(join(directory, 'folder.json'), '{"format":99}');
        openDataFolder(directory);
      },
      /^The folder .* was written by another version of the local stack: it has format 99, this version reads format 2\. Start with a new folder\.$/,
    ],
    [
      'its folder is damaged',
      () => {
        const directory = mkdtempSync(join(tmpdir(), 'damaged-'));
        writeFileSync(join(directory, 'folder.json'), '');
        openDataFolder(directory);
      },
      /: it has no format, this version reads format 2\./,
    ],
    [
      'its folder is of a version that wrote no format',
      () => {
        const directory = mkdtempSync(join(tmpdir(), 'older-'));
        mkdirSync(join(directory, 'dynamodb'));
        openDataFolder(directory);
      },
      /: it has no format, this version reads format 2\./,
    ],
    ['its folder would be in a file', () => lockFolder(join(script, 'inner'), 1), /: a file is in its way\.$/],
    ['its folder cannot be made', () => lockFolder('/proc/quantum', 1), /^The folder \/proc\/quantum cannot be used: /],
    [
      'its folder is read-only',
      () => {
        const directory = mkdtempSync(join(tmpdir(), 'read-only-'));
        // Root may write everywhere but here.
        symlinkSync('/proc/self', join(directory, '.local'));
        return lockFolder(join(directory, '.local'), 1);
      },
      /^The folder .*\.local cannot be used: .*\.$/,
    ],
  ])('that %s', async (_, attempt, message) => {
    const error = await (async () => attempt())().catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(SetupProblem);
    expect((error as Error).message).toMatch(message);
  });

  it('that the port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await expect(startFrontServer(port)).rejects.toThrow(new RegExp(`^Port ${port} is taken.*`));
    server.close();
  });
});

describe('npm start', () => {
  it('prints its options', async () => {
    const command = startCommand({}, ['--help']);
    expect(await command.exitCode()).toBe(0);
    expect(command.output()).toBe(`${usage}\n`);
    expect(usage).toMatch(/^Usage: npm start -- .*--data DIR.*AWS_ENDPOINT_URL_DYNAMODB/s);
    await command.stop();
  });

  it('prints where everything is, and lines for a shell that work', () => {
    const greeting = shared.output.slice(shared.output.indexOf('Ready after'));
    expect(greeting.length).toBeLessThan(800);
    for (const { token } of shared.description.users) expect(greeting).not.toContain(token);
    const lines = greeting.split('\n').filter((line) => /^(export|curl) /.test(line));
    expect(lines).toHaveLength(2);
    const script = `${lines.join('\n')} --retry 9 -s -w '\n%{http_code}'`;
    const answer = execFileSync('sh', ['-c', script], { encoding: 'utf8', cwd: shared.directory });
    expect(answer.split('\n').at(-1)).toBe('200');
  });

  it('stops what it started when it is stopped during its start', async () => {
    const command = startCommand({ PORT: '0' }, small);
    while (descendants(command.process.pid!).length < 2) await wait(20);
    const started = descendants(command.process.pid!);
    await command.stop('SIGTERM');
    await expectEnd(started);
  });

  it('keeps its data on any later day, beside another stack in the same folder, and leaves no process behind', async () => {
    const { directory } = shared;
    const data = mkdtempSync(join(tmpdir(), 'local-stack-data-'));
    const killed = startCommand({ PORT: '0' }, ['--batches', '40', '--jobs-per-batch', '1', '--data', data]);
    while (!/Loading demo data: [1-9]/.test(killed.output())) await wait(10);
    await kill(killed);
    expect(killed.output()).not.toContain('Ready');

    const first = startCommand({ PORT: '0' }, [...small, '--data', data], { directory, node: clockIn(1) });
    const { baseUrl, users } = await first.ready();
    expect(first.output()).toContain(
      'The data of an earlier start was loaded in part. It was made with --batches 40 --jobs-per-batch 1, and other numbers need another folder.',
    );
    const { port } = new URL(baseUrl);
    let { token } = users[0]!;
    const headers = () => ({ Authorization: `Bearer ${token}` });
    const list = async (query = '') =>
      (await (await fetchPatiently(`${baseUrl}/api/v1/batches?limit=100${query}`, { headers: headers() })).json()) as {
        readonly data: readonly { readonly id: string }[];
        readonly pagination: { readonly total: number };
      };
    expect(await list()).toMatchObject({ pagination: { total: 40 } });
    const running = (await list('&status=RUNNING')).data;
    expect(running.length).toBeGreaterThan(0);
    for (const { id } of running) {
      const url = `${baseUrl}/api/v2/batches/${id}/cancel`;
      expect(await fetchPatiently(url, { method: 'PATCH', headers: headers() })).toMatchObject({ status: 200 });
    }
    const before = await list();
    expect(first.output()).toContain(`.local/stack-${port}.json`);
    expect(readdirSync(join(directory, '.local')).sort()).toEqual(
      [`functions-${port}.log`, 'functions.log', 'lock.db', `stack-${port}.json`, 'stack.json'].sort(),
    );
    let started = descendants(first.process.pid!);
    expect(started.length).toBeGreaterThan(0);
    first.process.kill('SIGINT');
    expect(await first.exitCode()).toBe(0);
    await expectEnd(started);
    expect(readdirSync(join(directory, '.local')).sort()).toEqual(['functions.log', 'lock.db', 'stack.json']);
    expect(JSON.parse(readFileSync(join(directory, '.local/stack.json'), 'utf8'))).toEqual(shared.description);

    const second = startCommand({ PORT: port }, ['--data', data], { node: clockIn(366) });
    ({ token } = (await second.ready()).users[0]!);
    expect(second.output()).toContain('The data of an earlier start is there.');
    expect(second.output()).not.toContain('Loading demo data');
    expect(await list()).toEqual(before);

    const third = startCommand({ PORT: '0' }, [...small, '--data', data]);
    expect(await third.exitCode()).toBe(1);
    expect(third.output()).toBe(`The folder ${data} belongs to the local stack that serves port ${port}.\n`);
    await third.stop();
    started = descendants(second.process.pid!);
    expect(started.length).toBeGreaterThan(0);
    await second.stop('SIGKILL');
    await expectEnd(started);
    rmSync(data, { recursive: true });
  });
});
