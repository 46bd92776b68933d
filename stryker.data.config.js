/**
 * Mutation tests of code whose tests need DynamoDB Local (`npm run test:mutation:data`). AREA names
 * the area: each runs its own tests only, so that a mutant takes a second or two.
 */

const areas = {
  lists: {
    mutate: ['functions/data/lists/{owner-reads,reader}.ts', 'functions/data/dynamodb/reads.ts'],
    tests: [
      'unit/data',
      'integration/list-engine.test.ts',
      'integration/list-faults.test.ts',
      'integration/list-reads.test.ts',
    ],
  },
  lifecycle: {
    mutate: ['functions/data/lifecycle/*.ts'],
    tests: ['unit/data', 'integration/lifecycle-steps.test.ts'],
  },
  repair: {
    mutate: ['infra/repair/{repair-counters,repair-user,scan-users,snapshot}.ts'],
    tests: ['integration/repair.test.ts', 'integration/repair-counters.test.ts'],
  },
};

const name = process.env.AREA ?? '';
const area = areas[name];
if (area === undefined) throw new RangeError(`AREA is one of ${Object.keys(areas).join(', ')}, not '${name}'.`);

export default {
  testRunner: 'vitest',
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 8_000,
  reporters: ['clear-text', 'progress', 'html', 'json'],
  htmlReporter: { fileName: `reports/mutation/${name}.html` },
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
  warnings: { slow: false },
  mutate: area.mutate,
  ignorePatterns: [
    'tsconfig.json',
    '.local',
    '.schemathesis',
    'cdk.out',
    'docs',
    'reports',
    'test/{bench,e2e,infra}',
    'test/integration/*',
    'test/unit/*',
    ...area.tests.map((path) => `!test/${path}`),
  ],
};
