import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import type { Uses } from '../../functions/rights.ts';
import { writeBundle } from '../../infra/stack/bundles.ts';
import { ServiceFunction } from '../../infra/stack/service-function.ts';

const entry = 'endpoints/jobs/get-results-link';
const arn = 'arn:aws:s3:::bucket/results/*';

function build(uses: Uses) {
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Stack');
  return new ServiceFunction(stack, 'Function', {
    function: { entry, uses },
    log: new LogGroup(stack, 'Log'),
    resources: { Results: { service: 's3', arn, environment: {} } },
  });
}

describe('ServiceFunction', () => {
  it('refuses a function that signs results links but does not say so', () => {
    const bundle = (uses: Uses) => writeBundle({ entry, uses }, mkdtempSync(join(tmpdir(), 'bundle-')));
    expect(() => bundle({})).toThrow(`${entry} loads the client of S3, but its \`uses\` do not name Results.`);
    expect(() => bundle({ Results: ['GetObject'] })).not.toThrow();
  });

  it('refuses a function that uses what the stack does not have', () => {
    expect(() => build({ Results: ['GetObject'], Events: ['SendMessage'] })).toThrow('uses Events');
  });

  it.each(['swagger-ui-dist/lost.js', './page/lost.css'])('says that the file %s does not exist', (file) => {
    const stack = new Stack(new App(), 'Stack');
    const docs = { entry: 'endpoints/docs/get-docs', uses: {}, files: [file] };
    expect(
      () => new ServiceFunction(stack, 'Function', { function: docs, log: new LogGroup(stack, 'Log'), resources: {} }),
    ).toThrow(`reads ${file}, which does not exist. If it belongs to a package, \`npm ci\` installs it.`);
  });
});
