import { App, Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import type { Uses } from '../../functions/routes.ts';
import { ServiceFunction } from '../../infra/service-function.ts';
import { stages } from '../../infra/stages.ts';

const arn = 'arn:aws:s3:::bucket/results/*';

function build(uses: Uses) {
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Stack');
  return new ServiceFunction(stack, 'Function', {
    function: { entry: 'endpoints/jobs/get-results-link', uses },
    settings: stages.dev,
    resources: { Results: { service: 's3', arn, environment: {} } },
  });
}

describe('ServiceFunction', () => {
  it('refuses a function that signs results links but does not say so', () => {
    expect(() => build({})).toThrow(
      'endpoints/jobs/get-results-link loads the client of S3, but its `uses` do not name Results.',
    );
    expect(() => build({ Results: ['GetObject'] })).not.toThrow();
  });

  it('refuses a function that uses what the stack does not have', () => {
    expect(() => build({ Results: ['GetObject'], Events: ['SendMessage'] })).toThrow('uses Events');
  });

  it.each(['swagger-ui-dist/lost.js', './page/lost.css'])('says that the file %s does not exist', (file) => {
    const stack = new Stack(new App(), 'Stack');
    const docs = { entry: 'endpoints/docs/get-docs', uses: {}, files: [file] };
    expect(
      () => new ServiceFunction(stack, 'Function', { function: docs, settings: stages.dev, resources: {} }),
    ).toThrow(`reads ${file}, which does not exist. If it belongs to a package, \`npm ci\` installs it.`);
  });
});
