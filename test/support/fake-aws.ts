import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { aws } from '../../infra/commands/aws-cli.ts';

/** What the AWS CLI answers, by `service operation`: an answer, or a function of the parameters. */
export type Answers = Readonly<Record<string, object | ((parameters: readonly string[]) => object)>>;

/**
 * The AWS CLI with these answers, in the forms that its reference documents. It knows no other
 * call.
 */
export function fakeAws(answers: Answers): typeof aws {
  return async (service, operation, ...parameters) => {
    const answer = answers[`${service} ${operation}`];
    if (answer === undefined) throw new Error(`No answer to ${service} ${operation}.`);
    return typeof answer === 'function' ? answer(parameters) : answer;
  };
}

/** A folder of an assembly with this template, until the test ends. */
export function assemblyWith(template: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'assembly-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'Any.template.json'), JSON.stringify(template));
  const properties = {
    templateFile: 'Any.template.json',
    stackTemplateAssetObjectUrl: 's3://assets-$' + '{AWS::AccountId}-$' + '{AWS::Region}/any.json',
    requiresBootstrapStackVersion: 6,
    bootstrapStackVersionSsmParameter: '/cdk-bootstrap/any/version',
  };
  const artifacts = { Any: { type: 'aws:cloudformation:stack', properties } };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts }));
  return folder;
}
