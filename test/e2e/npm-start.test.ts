import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { descendants, startCommand } from '../support/stack-command.ts';

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
    [['--nonsense'], {}, /--nonsense.*Usage/],
    [[], { PORT: '70000' }, /^PORT is a whole number/],
    [small, { PATH: '/nowhere', AWS_ENDPOINT_URL_DYNAMODB: undefined }, /^Java 17 or later is needed/],
  ])('says in one line what is wrong with %o %o', async (options, environment, message) => {
    const command = startCommand(environment, options);
    expect(await command.exitCode()).toBe(1);
    expect(command.output().trim().split('\n')).toEqual([expect.stringMatching(message)]);
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

  it('ends what it has begun when it is stopped while it starts', async () => {
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
    await second.stop('SIGTERM');
    expect(await second.exitCode()).toBe(0);
    rmSync(data, { recursive: true });
  });
});
