import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startCommand } from '../support/stack-command.ts';

const script = join(import.meta.dirname, '../../infra/smoke/smoke.ts');

it('a local stack keeps all promises of the smoke test except promises that need AWS', async () => {
  // A stack of its own: what the smoke test stores would change the lists of other tests.
  const stack = startCommand({ PORT: '0' }, ['--batches', '16', '--jobs-per-batch', '3']);
  onTestFinished(() => stack.stop());
  await stack.ready();
  const smoke = await new Promise<{ code: unknown; lines: string[]; stderr: string }>((resolve) =>
    execFile(process.execPath, [script], { cwd: stack.directory }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, lines: stdout.trim().split('\n'), stderr }),
    ),
  );
  expect([smoke.stderr, smoke.lines.filter((line) => line.startsWith('fails'))]).toEqual(['', []]);
  expect(smoke.lines.at(-1)).toMatch(/^\d+ hold, 0 fail, 10 not here\.$/);
  expect(smoke.code).toBe(0);
});
