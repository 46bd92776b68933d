import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFolder } from '../../../../infra/local/folder/folder-lock.ts';

let folder: string;
const holders: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(async () => {
  await Promise.all(holders.splice(0).map((child) => end(child, 'SIGKILL')));
  rmSync(folder, { recursive: true });
});

const port = 8080;
const root = join(import.meta.dirname, '../../../..');

/**
 * A process that asks for the folder, with its id as its port, lives until it is ended, and ends by
 * itself with its input. Returns it with its answer.
 */
async function otherProcess() {
  const script = `import { lockFolder } from ${JSON.stringify(join(root, 'infra/local/folder/folder-lock.ts'))};
    console.log(lockFolder(${JSON.stringify(folder)}, process.pid) ?? 'taken');
    process.stdin.on('end', () => process.exit()).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  holders.push(child);
  const [answer] = await once(child.stdout, 'data');
  return { child, pid: child.pid!, answer: String(answer).trim() };
}

async function end(child: ChildProcess, signal?: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (signal === undefined) child.stdin!.end();
  else child.kill(signal);
  await ended;
}

describe('lockFolder', () => {
  it('takes a free folder, creates it when it does not exist, and has it when asked again', async () => {
    folder = join(folder, 'a/b');
    expect(lockFolder(folder, port)).toBeUndefined();
    expect(lockFolder(join(folder, '.'), port)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['lock.db']);
    expect(await otherProcess()).toMatchObject({ answer: String(port) });
  });

  it.each<[NodeJS.Signals | undefined]>([[undefined], ['SIGKILL']])(
    'returns the port of the process that has the folder, until that has ended, even by a signal: %s',
    async (signal) => {
      const { child, pid, answer } = await otherProcess();
      expect(answer).toBe('taken');
      expect(lockFolder(folder, port)).toBe(pid);
      expect(lockFolder(folder, port)).toBe(pid);
      await end(child, signal);
      expect(lockFolder(folder, port)).toBeUndefined();
      expect(readdirSync(folder)).toEqual(['lock.db']);
    },
  );

  it('gives the folder to one of several processes that start at the same time, again and again', async () => {
    for (let round = 0; round < 3; round++) {
      const others = await Promise.all(Array.from({ length: 5 }, otherProcess));
      const [taker, ...more] = others.filter(({ answer }) => answer === 'taken');
      expect(more).toEqual([]);
      const refused = others.filter((other) => other !== taker).map(({ answer }) => answer);
      expect(refused).toEqual(Array(4).fill(String(taker!.pid)));
      await end(taker!.child, 'SIGKILL');
    }
  });

  it('says what keeps it from locking', () => {
    writeFileSync(join(folder, 'lock.db'), 'no database'.repeat(100));
    expect(() => lockFolder(folder, port)).toThrow(
      `The folder ${folder} cannot be used: it cannot be locked: file is not a database.`,
    );
    expect(readdirSync(folder)).toEqual(['lock.db']);
  });

  it.runIf(process.getuid?.() !== 0)('refuses a folder whose lock it may not write', () => {
    writeFileSync(join(folder, 'lock.db'), '', { mode: 0o444 });
    expect(() => lockFolder(folder, port)).toThrow(
      `The folder ${folder} cannot be used: it cannot be locked: attempt to write a readonly database.`,
    );
  });

  it.runIf(process.getuid?.() !== 0)('says that it may not write there', () => {
    chmodSync(folder, 0o555);
    expect(() => lockFolder(folder, port)).toThrow(
      `The folder ${folder} cannot be used: this account may not write there.`,
    );
    chmodSync(folder, 0o755);
  });

  it('says that it is a file', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => lockFolder(file, port)).toThrow(`The folder ${file} cannot be used: a file is in its way.`);
  });
});
