import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { jobRules, rules } from '../../../functions/sequences/sequence-faults.ts';
import { compareVerdicts } from '../../sequences/compare-verdicts.ts';
import { deep } from '../../support/depth.ts';
import { seed } from '../../support/seed.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const maxBuffer = 1024 ** 3;

/** Cases by the processes that judge them side by side. */
const counts = [5_000, 5_000];

describe.runIf(deep)('Pulser', () => {
  it(`accepts nothing that the service refuses, of 10,000 random cases (seed ${seed})`, async () => {
    // It makes the emulator's environment where that is not there yet.
    await run(process.execPath, ['infra/run.mjs', 'infra/local/emulator/start.ts', '--help'], { cwd: root, maxBuffer });
    const python = join(root, '.local/emulator/bin/python');
    const judged = await Promise.all(
      counts.map((count, at) =>
        run(python, ['test/sequences/judge.py', String(count), `${seed}-${at}`], { cwd: root, maxBuffer }),
      ),
    );
    const { contradictions, accepted, refused, found, struck } = compareVerdicts(
      judged.flatMap(({ stdout }) => stdout.split('\n')),
    );
    console.log({ accepted, refused, found, struck });
    expect(contradictions.slice(0, 3)).toEqual([]);
    expect(accepted).toBeGreaterThan(1_000);
    expect(found / refused).toBeGreaterThan(0.8);
    const never = [...rules, ...jobRules].filter(({ type }) => struck[type] === undefined);
    expect(never.map(({ type }) => type)).toEqual([]);
  });
});
