import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { descendants, startCommand } from '../support/stack-command.ts';

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
  for (const end = Date.now() + 10_000; pids.some(isRunning); await wait(100)) expect(Date.now()).toBeLessThan(end);
}

/** Two starts on a machine that does much else. */
const timeout = 240_000;

describe('npm start', { timeout }, () => {
  it.each([
    [['--batches', 'many'], {}, /^--batches is a whole number/],
    [['--batches', '-1'], {}, /--batches/],
    [['--jobs-per-batch', '1.5'], {}, /^--jobs-per-batch is a whole number/],
    [['--nonsense'], {}, /--nonsense.*--help prints the options\.$/],
    [['extra'], {}, /'extra'.*--help/],
    [[], { PORT: '70000' }, /^PORT is a whole number/],
    [small, { PATH: '/nowhere', AWS_ENDPOINT_URL_DYNAMODB: undefined }, /^Java 17 or later is needed/],
    [small, { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' }, /^No DynamoDB answers at .*127\.0\.0\.1:9/],
    [small, { AWS_ENDPOINT_URL_DYNAMODB: 'here' }, /^AWS_ENDPOINT_URL_DYNAMODB \(here\) is not an HTTP URL\.$/],
    [['--data', script], { PORT: '0' }, /^The folder .* cannot be used: it is a file\.$/],
    [['--data', join(script, 'inner')], { PORT: '0' }, /^The folder .* cannot be used: a file stands in its way\.$/],
    [['--data', '/proc/quantum'], { PORT: '0' }, /^The folder \/proc\/quantum cannot be used: /],
  ])('says in one line what is wrong with %o %o', async (options, environment, message) => {
    const command = startCommand(environment, options);
    expect(await command.exitCode()).toBe(1);
    expect(command.output().trim().split('\n')).toEqual([expect.stringMatching(message)]);
    await command.stop();
  });

  it('prints its options', async () => {
    const command = startCommand({}, ['--help']);
    expect(await command.exitCode()).toBe(0);
    expect(command.output()).toMatch(/^Usage: npm start -- .*--data DIR.*AWS_ENDPOINT_URL_DYNAMODB/s);
    await command.stop();
  });

  it('says that its folder is read-only', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'read-only-'));
    // Root may write everywhere but here.
    symlinkSync('/proc/self', join(directory, '.local'));
    const command = startCommand({ PORT: '0' }, small, directory);
    expect(await command.exitCode()).toBe(1);
    expect(command.output().trim()).toMatch(/^The folder .*\.local cannot be used: .*\.$/);
    await command.stop();
  });

  it('says that Java is too old', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'old-java-'));
    writeFileSync(join(directory, 'java'), '#!/bin/sh\necho \'openjdk version "11.0.2" 2019-01-15\' >&2\n', {
      mode: 0o755,
    });
    const environment = { PATH: `${directory}:/usr/bin:/bin`, AWS_ENDPOINT_URL_DYNAMODB: undefined };
    const command = startCommand(environment, small);
    expect(await command.exitCode()).toBe(1);
    expect(command.output().trim()).toBe('Java 17 or later is needed for DynamoDB Local; this one is 11.');
    await command.stop();
    rmSync(directory, { recursive: true });
  });

  it('says that the port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const command = startCommand({ PORT: String(port) }, small);
    expect(await command.exitCode()).toBe(1);
    expect(command.output().trim()).toMatch(new RegExp(`^Port ${port} is taken.*`));
    await command.stop();
    server.close();
  });

  it('leaves no process behind when it is killed', async () => {
    const command = startCommand({ PORT: '0' }, small);
    await command.ready();
    const started = descendants(command.process.pid!);
    expect(started.length).toBeGreaterThan(0);
    await command.stop('SIGKILL');
    await expectEnd(started);
  });

  it('stops what it started when it is stopped during its start', async () => {
    const command = startCommand({ PORT: '0' }, small);
    while (descendants(command.process.pid!).length < 2) await wait(20);
    const started = descendants(command.process.pid!);
    await command.stop('SIGTERM');
    await expectEnd(started);
  });

  it('keeps data, results and tokens in its --data directory, and leaves no process behind when it is stopped', async () => {
    const data = mkdtempSync(join(tmpdir(), 'local-stack-data-'));
    const first = startCommand({ PORT: '0' }, [...small, '--data', data]);
    const { baseUrl, users } = await first.ready();
    const headers = { Authorization: `Bearer ${users[0]!.token}` };
    const list = async () => (await fetch(`${baseUrl}/api/v1/batches`, { headers })).json();
    const before = await list();
    expect(before).toMatchObject({ pagination: { total: 2 } });
    const started = descendants(first.process.pid!);
    await first.stop('SIGINT');
    expect(await first.exitCode()).toBe(0);
    await expectEnd(started);
    const second = startCommand({ PORT: new URL(baseUrl).port }, [...small, '--data', data]);
    await second.ready();
    expect(second.output()).toContain('The data of an earlier start is there.');
    expect(await list()).toEqual(before);

    const third = startCommand({ PORT: '0' }, [...small, '--data', data]);
    expect(await third.exitCode()).toBe(1);
    expect(third.output().trim()).toMatch(
      new RegExp(
        `^The folder ${data} belongs to the local stack of process ${second.process.pid}, which serves port ${new URL(baseUrl).port} since [-0-9T:.]+Z\\.$`,
      ),
    );
    await third.stop();
    await second.stop('SIGTERM');
    expect(await second.exitCode()).toBe(0);
    rmSync(data, { recursive: true });
  });

  it('prints curl lines that work, and leaves the description of another stack in the same folder alone', async () => {
    const first = startCommand({ PORT: '0' }, ['--batches', '9', '--jobs-per-batch', '2']);
    const description = await first.ready();
    const lines = first
      .output()
      .split('\n')
      .filter((line) => /^(TOKEN=|curl )/.test(line));
    expect(lines.filter((line) => line.startsWith('curl'))).toHaveLength(6);
    expect(lines.join('\n')).toContain('/results_link');
    for (const line of lines.slice(1)) {
      const answer = execFileSync('sh', ['-c', `${lines[0]}\n${line} -s -w '\n%{http_code}'`], { encoding: 'utf8' });
      expect([line, answer.split('\n').at(-1)]).toEqual([line, '200']);
    }

    const second = startCommand({ PORT: '0' }, small, first.directory);
    const { port } = new URL((await second.ready()).baseUrl);
    expect(second.output()).toContain(`.local/stack-${port}.json`);
    expect(readdirSync(join(first.directory, '.local')).sort()).toEqual(
      [`functions-${port}.log`, 'functions.log', 'lock.json', `stack-${port}.json`, 'stack.json'].sort(),
    );
    second.process.kill('SIGTERM');
    expect(await second.exitCode()).toBe(0);
    expect(await first.ready()).toEqual(description);
    expect(readdirSync(join(first.directory, '.local'))).not.toContain(`stack-${port}.json`);
    await first.stop();
  });
});
