import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SetupProblem } from './setup-problem.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<Described extends Options> = ReturnType<typeof parseArgs<{ options: Described }>>['values'];

/** What a command prints of what went wrong: what a person must put right, in one sentence. */
function failureOf(error: unknown): unknown {
  return error instanceof SetupProblem ? error.message : error;
}

/**
 * Runs a command with the options of the command line; `main` returns its exit code. With `--help`
 * it prints `usage` instead, and for options that are not there its first line. What fails is
 * printed as `describe` says, and the exit code is 1.
 */
export async function runCommand<Described extends Options>(
  { usage, options, describe = failureOf }: { usage: string; options: Described; describe?: typeof failureOf },
  main: (values: Values<Described>) => Promise<number>,
) {
  try {
    const values = readOptions({ ...options, help: { type: 'boolean' } }, usage) as Values<Described> & { help?: true };
    if (values.help) console.log(usage);
    else process.exitCode = await main(values);
  } catch (error) {
    console.error(describe(error));
    process.exitCode = 1;
  }
}

function readOptions<Described extends Options>(options: Described, usage: string) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new SetupProblem(`${(error as Error).message}\n${usage.split('\n')[0]}`);
  }
}
