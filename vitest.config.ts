import { defineConfig } from 'vitest/config';

const project = (name: string, options: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout: 60_000, hookTimeout: 120_000, ...options },
});

const withDynamoDb = { globalSetup: ['test/support/start-dynamodb.ts'] };

export default defineConfig({
  test: {
    projects: [project('unit'), project('integration', withDynamoDb), project('infra'), project('e2e')],
  },
});
