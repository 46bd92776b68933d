import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lockFolder } from '../../../../infra/local/folder/folder-lock.ts';

let folder: string;
const holders: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(holders.splice(0).map((child) => end(child, 'SIGKILL')));
  rmSync(folder, { recursive: true });
});

const port = 8080;
const lock = () => JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8'));
const writeLock = (holder: object) => writeFileSync(join(folder, 'lock.json'), JSON.stringify(holder));
const since = '2026-11-21T09:00:00.000Z';

/**
 * A process that asks for the folder, lives until it is ended, and ends by itself with its input.
 * Returns it with its answer.
 */
async function otherProcess() {
  const script = `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, '../../../../infra/local/folder/folder-lock.ts'))};
    const holder = await lockFolder(${JSON.stringify(folder)}, process.pid);
    console.log(JSON.stringify(holder ?? 'taken'));
    process.stdin.on('end', () => process.exit()).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  holders.push(child);
  const [answer] = await once(child.stdout, 'data');
  return { child, pid: child.pid!, answer: JSON.parse(String(answer)) };
}

async function end(child: ChildProcess, signal?: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (signal === undefined) child.stdin!.end();
  else child.kill(signal);
  await ended;
}

describe('lockFolder', () => {
  it('takes a free folder, and creates it when it does not exist', async () => {
    folder = join(folder, 'a/b');
    expect(await lockFolder(folder, port)).toBeUndefined();
    expect(lock()).toEqual({ pid: process.pid, since: expect.stringMatching(/^\d{4}-.*Z$/), port });
    expect(readdirSync(folder).sort()).toEqual(['lock.db', 'lock.json']);
  });

  it('takes its own folder again', async () => {
    expect(await lockFolder(folder, port)).toBeUndefined();
    expect(await lockFolder(join(folder, '.'), port + 1)).toBeUndefined();
    expect(lock()).toMatchObject({ pid: process.pid, port: port + 1 });
  });

  it.each<[NodeJS.Signals | undefined]>([[undefined], ['SIGKILL']])(
    'returns the process that has the folder, until that has ended, even by a signal: %s',
    async (signal) => {
      const { child, pid, answer } = await otherProcess();
      expect(answer).toBe('taken');
      expect(await lockFolder(folder, port)).toEqual({ pid, since: expect.any(String), port: pid });
      expect(lock()).toMatchObject({ pid });
      expect(readdirSync(folder).sort()).toEqual(['lock.db', 'lock.json']);
      await end(child, signal);
      expect(existsSync(join(folder, 'lock.json'))).toBe(signal !== undefined);
      expect(await lockFolder(folder, port)).toBeUndefined();
      expect(lock()).toMatchObject({ pid: process.pid, port });
    },
  );

  it('takes over a folder whose process id belongs to another process now', async () => {
    writeLock({ pid: process.ppid, since, port });
    expect(await lockFolder(folder, port)).toBeUndefined();
    expect(lock()).toMatchObject({ pid: process.pid });
  });

  it.each(['', '{', '{}'])('takes a folder that is said to be taken by nobody: %j', async (content) => {
    writeFileSync(join(folder, 'lock.json'), content);
    expect(await lockFolder(folder, port)).toBeUndefined();
    expect(lock()).toMatchObject({ pid: process.pid });
  });

  it('waits until who has the folder says so', async () => {
    const { pid } = await otherProcess();
    const said = lock();
    writeFileSync(join(folder, 'lock.json'), '{}');
    const asked = lockFolder(folder, port);
    await wait(100);
    writeLock(said);
    expect(await asked).toMatchObject({ pid });
  });

  it.each([
    ['names who has the folder, though that process cannot be seen', { pid: 2 ** 30, since, port }],
    ['refuses a folder whose holder never says who it is', {}],
  ])('%s', async (_, said) => {
    await otherProcess();
    writeLock(said);
    vi.useFakeTimers({ toFake: ['Date'] });
    const asked = lockFolder(folder, port).catch((error: Error) => error.message);
    await wait(100);
    vi.setSystemTime(Date.now() + 60_000);
    const answer = 'pid' in said ? said : `The folder ${folder} belongs to another process.`;
    expect(await asked).toEqual(answer);
    expect(readdirSync(folder).sort()).toEqual(['lock.db', 'lock.json']);
  });

  it('gives the folder to one of several processes that start at the same time', async () => {
    // Of one that was killed, and whose process id belongs to another process now.
    writeLock({ pid: process.pid, since, port });
    const others = await Promise.all(Array.from({ length: 5 }, otherProcess));
    const [taker, ...more] = others.filter(({ answer }) => answer === 'taken');
    expect(more).toEqual([]);
    const refused = others.filter((other) => other !== taker).map(({ answer }) => answer.pid);
    expect(refused).toEqual(Array(4).fill(taker!.pid));
    expect(lock()).toMatchObject({ pid: taker!.pid });
  });

  it('says what keeps it from locking', async () => {
    writeFileSync(join(folder, 'lock.db'), 'no database'.repeat(100));
    await expect(lockFolder(folder, port)).rejects.toThrow(
      `The folder ${folder} cannot be used: it cannot be locked: file is not a database.`,
    );
    expect(readdirSync(folder)).toEqual(['lock.db']);
  });

  it.runIf(process.getuid?.() !== 0)('refuses a folder whose lock it may not write', async () => {
    writeFileSync(join(folder, 'lock.db'), '', { mode: 0o444 });
    await expect(lockFolder(folder, port)).rejects.toThrow(
      `The folder ${folder} cannot be used: it cannot be locked: attempt to write a readonly database.`,
    );
  });

  it.runIf(process.getuid?.() !== 0)('says that it may not write there', async () => {
    chmodSync(folder, 0o555);
    await expect(lockFolder(folder, port)).rejects.toThrow(
      `The folder ${folder} cannot be used: this account may not write there.`,
    );
    chmodSync(folder, 0o755);
  });

  it('says that it is a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(lockFolder(file, port)).rejects.toThrow(`The folder ${file} cannot be used: it is a file.`);
  });
});
