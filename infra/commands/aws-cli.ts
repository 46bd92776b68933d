import { execFile } from 'node:child_process';
import { SetupProblem } from './setup-problem.ts';

/** The outputs of a stack, by their names; `run` makes the call. */
export async function stackOutputs(stack: string, run = aws): Promise<ReadonlyMap<string, string>> {
  const { Stacks } = await run('cloudformation', 'describe-stacks', '--stack-name', stack);
  const outputs: readonly { OutputKey: string; OutputValue: string }[] = Stacks[0].Outputs;
  return new Map(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
}

/** The same by their names, one at a time. Throws SetupProblem where the stack lacks one. */
export async function outputReader(stack: string, run = aws): Promise<(name: string) => string> {
  const outputs = await stackOutputs(stack, run);
  return (name) => {
    const value = outputs.get(name);
    if (value === undefined) throw new SetupProblem(`The stack ${stack} has no output ${name}.`);
    return value;
  };
}

/** What a command of the AWS CLI answers. Throws SetupProblem with what it prints when it fails. */
// biome-ignore lint/suspicious/noExplicitAny: each command of the CLI has its own answer.
export function aws(...parameters: string[]): Promise<any> {
  return new Promise((resolve, reject) => {
    execFile('aws', [...parameters, '--output', 'json'], { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout.trim() === '' ? {} : JSON.parse(stdout));
      const isMissing = error.code === 'ENOENT';
      reject(new SetupProblem(isMissing ? 'The AWS CLI (aws) is needed.' : stderr.trim() || error.message));
    });
  });
}
