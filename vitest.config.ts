import { defineConfig } from 'vitest/config';

/** The functions' own log lines would bury the tests'. */
const quiet = { AWS_LAMBDA_LOG_LEVEL: 'FATAL' };

const project = (name: string, options: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    env: quiet,
    ...options,
  },
});

const withDynamoDb = { globalSetup: ['test/support/start-dynamodb.ts'] };

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('integration', withDynamoDb),
      project('infra', { isolate: false }),
      project('e2e', { globalSetup: ['test/support/start-local-stack.ts'] }),
    ],
  },
});
