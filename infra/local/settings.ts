import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupProblem } from '../commands/setup-problem.ts';

/** What the command line and the environment say. */
export interface Settings {
  /** 0: any free one. */
  readonly port: number;
  /** Of the first account. */
  readonly batches: number;
  readonly jobsPerBatch: number;
  /** The folder that keeps everything; undefined: in memory. */
  readonly data: string | undefined;
  /** Webhooks are delivered to 127.0.0.1; otherwise none is. */
  readonly deliverWebhooks: boolean;
  /** A DynamoDB to use instead of starting DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

export const usage = `Usage: npm start -- [--batches N] [--jobs-per-batch M] [--data DIR] [--deliver-webhooks]

Runs the whole service on this machine, with demo data of two accounts and of a project.

  --batches N          batches of the first account (40)
  --jobs-per-batch M   jobs of a batch, on average (4)
  --data DIR           keeps everything in this folder (otherwise in memory)
  --deliver-webhooks   calls webhooks on 127.0.0.1, by http or https and on any port
                       (otherwise none; never any on other hosts)
  --help               prints this

  PORT                     the port, 0 for any that is free (3000)
  AWS_ENDPOINT_URL_DYNAMODB  a DynamoDB to use instead of starting DynamoDB Local`;

const options = {
  batches: { type: 'string' },
  'jobs-per-batch': { type: 'string' },
  data: { type: 'string' },
  'deliver-webhooks': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/**
 * Undefined when only help is asked for. Throws SetupProblem for what is not an option or not a
 * number.
 */
export function readSettings(args: readonly string[], environment: NodeJS.ProcessEnv): Settings | undefined {
  const values = readOptions(args);
  if (values.help === true) return undefined;
  return {
    port: readNumber('PORT', environment.PORT ?? '3000', 65_535),
    batches: readNumber('--batches', values.batches ?? '40', 1_000_000),
    jobsPerBatch: readNumber('--jobs-per-batch', values['jobs-per-batch'] ?? '4', 1_000),
    data: values.data === undefined ? undefined : resolve(values.data),
    deliverWebhooks: values['deliver-webhooks'] === true,
    dynamodbEndpoint: environment.AWS_ENDPOINT_URL_DYNAMODB,
  };
}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const [firstSentence = ''] = (error as Error).message.split(/\.\s/);
    throw new SetupProblem(`${firstSentence.replace(/\.$/, '')}. npm start -- --help prints the options.`);
  }
}

function readNumber(name: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw new SetupProblem(`${name} is a whole number from 0 to ${max}, not "${text}".`);
  return value;
}
