import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFolder } from '../../../infra/local/folder-lock.ts';

let folder: string;
let server: Server;
let port: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const lock = () => JSON.parse(readFileSync(join(folder, 'lock.json'), 'utf8'));
const writeLock = (holder: object) => writeFileSync(join(folder, 'lock.json'), JSON.stringify(holder));
const since = '2026-11-21T09:00:00.000Z';

/** A process that lives until `end`. */
async function otherProcess() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    pid: child.pid!,
    async end() {
      child.kill();
      await ended;
    },
  };
}

describe('lockFolder', () => {
  it('takes a free folder, and creates it when it does not exist', async () => {
    folder = join(folder, 'a/b');
    expect(await lockFolder(folder, port)).toBeUndefined();
    expect(lock()).toEqual({ pid: process.pid, since: expect.stringMatching(/^\d{4}-.*Z$/), port });
  });

  it('returns the process that has the folder, while it runs and serves its port', async () => {
    const other = await otherProcess();
    const holder = { pid: other.pid, since, port };
    writeLock(holder);
    expect(await lockFolder(folder, 1)).toEqual(holder);
    expect(lock()).toEqual(holder);
    await other.end();
    expect(await lockFolder(folder, 1)).toBeUndefined();
    expect(lock()).toMatchObject({ pid: process.pid, port: 1 });
  });

  it('takes over a lock whose process id belongs to another process now', async () => {
    const other = await otherProcess();
    writeLock({ pid: other.pid, since, port: 1 });
    expect(await lockFolder(folder, port)).toBeUndefined();
    await other.end();
  });

  it.each(['', '{', '{}'])('takes over a lock that cannot be read: %j', async (content) => {
    writeFileSync(join(folder, 'lock.json'), content);
    expect(await lockFolder(folder, port)).toBeUndefined();
    expect(lock()).toMatchObject({ pid: process.pid });
  });

  it('gives the folder to one of several processes that start at the same time', async () => {
    writeLock({ pid: 2 ** 30, since, port });
    const script = `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, '../../../infra/local/folder-lock.ts'))};
      const holder = await lockFolder(${JSON.stringify(folder)}, ${port});
      console.log(holder === undefined ? 'taken' : 'refused');
      setTimeout(() => {}, 1500);`;
    const outputs = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
        let printed = '';
        child.stdout.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
        });
        await new Promise((resolve) => child.once('exit', resolve));
        return printed.trim();
      }),
    );
    expect(outputs.filter((each) => each === 'taken')).toHaveLength(1);
    expect(outputs.filter((each) => each === 'refused')).toHaveLength(4);
    // The one that had it ended.
    expect(existsSync(join(folder, 'lock.json'))).toBe(false);
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
