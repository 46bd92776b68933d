import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compileCache } from './infra/local/cache/compile-cache.ts';

/** Every process that tests start, their own included, takes what was compiled before. */
process.env.NODE_COMPILE_CACHE ??= compileCache;

/** What tests and CDK leave in temporary folders goes when all tests have ended. */
const temporary = mkdtempSync(join(tmpdir(), 'quantum-batch-tests-'));
process.env.TMPDIR = temporary;
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));

/** The functions' own log lines would bury the tests'. */
const quiet = { AWS_LAMBDA_LOG_LEVEL: 'FATAL' };

/**
 * The files that take longest. They start first, so that none of them is left over when all others
 * are done. Vitest sorts the others by the durations of its last run, if it finds them.
 */
const longest = [
  'test/e2e/deployment.test.ts',
  'test/e2e/npm-start.test.ts',
  'test/e2e/crash.test.ts',
  'test/e2e/smoke.test.ts',
  'test/integration/dependency-faults.test.ts',
  'test/integration/endpoint-faults.test.ts',
  'test/integration/recorded-calls.test.ts',
  'test/integration/list-engine.test.ts',
  'test/integration/stored-format.test.ts',
  'test/integration/call-faults.test.ts',
  'test/integration/get-full-results.test.ts',
  'test/integration/pauses.test.ts',
  'test/integration/erase-batch.test.ts',
  'test/integration/lagging-indexes.test.ts',
  'test/integration/leases.test.ts',
  'test/e2e/snippets.test.ts',
  'test/integration/limit-checks.test.ts',
  'test/integration/create-batches.test.ts',
  'test/integration/repair.test.ts',
  'test/integration/apply-events.test.ts',
  'test/integration/repair-command.test.ts',
  'test/integration/lease-faults.test.ts',
];

for (const file of longest) {
  if (!existsSync(join(import.meta.dirname, file))) throw new Error(`There is no ${file} to start first.`);
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(relative(import.meta.dirname, moduleId));
      return at === -1 ? longest.length : at;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Bounds of what hangs: a busy machine takes many times as long as usual. */
const maxMilliseconds = process.env.DEEP === '1' ? 3_600_000 : 600_000;

const project = (name: string, options: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: maxMilliseconds,
    hookTimeout: maxMilliseconds,
    env: quiet,
    ...options,
  },
});

export default defineConfig({
  test: {
    // Most files wait for DynamoDB Local or for another process: two more than there are
    // processors keep every one busy.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Importing takes longer than testing: files share what they import.
      project('unit', { isolate: false, setupFiles: ['test/support/each-file.ts'] }),
      // Tests that run side by side wait for faults most of their time.
      project('integration', {
        isolate: false,
        setupFiles: ['test/support/each-file.ts', 'test/support/each-integration-file.ts'],
        globalSetup: ['test/support/start-dynamodb.ts'],
        maxConcurrency: 8,
      }),
      project('infra', { isolate: false, globalSetup: ['test/support/contexts.ts'] }),
      project('e2e', { globalSetup: ['test/support/start-local-stack.ts'] }),
    ],
  },
});
