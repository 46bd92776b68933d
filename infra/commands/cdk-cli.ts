import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { SetupProblem } from './setup-problem.ts';

/**
 * Runs a command of the CDK. Throws SetupProblem where it fails; its own words are on the screen by
 * then.
 */
export async function cdk(...parameters: readonly string[]): Promise<void> {
  const program = join(import.meta.dirname, '../../node_modules/aws-cdk/bin/cdk');
  const child = spawn(process.execPath, [program, ...parameters], { stdio: 'inherit' });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new SetupProblem(`cdk ${parameters[0]} has failed.`);
}
