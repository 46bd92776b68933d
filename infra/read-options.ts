import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SetupProblem } from './setup-problem.ts';

/**
 * The options of the command line. Throws SetupProblem, with the first line of `usage`, for
 * anything else that is there.
 */
export function readOptions<Options extends NonNullable<ParseArgsConfig['options']>>(options: Options, usage: string) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new SetupProblem(`${(error as Error).message}\n${usage.split('\n')[0]}`);
  }
}
