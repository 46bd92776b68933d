import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type ResultsBucket, resultsBucket } from '../../functions/data/aws/results-bucket.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { queues } from '../../functions/queues.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import { type TableName, type TableNames, tables } from '../../functions/tables.ts';
import { stackOutputs } from '../commands/aws-cli.ts';
import { readJsonFile } from '../commands/json-file.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { owner } from '../local/iam/principals.ts';
import { stages } from '../stack/stages.ts';

/** Everything that a stack keeps of its users, and how to reach it. */
export interface StackData extends Db<TableName> {
  readonly name: string;
  readonly results: ResultsBucket;
  readonly sqs: SQSClient;
  /** The URLs of all queues and dead-letter queues, by their names. */
  readonly queues: Readonly<Record<string, string>>;
  /** How long its functions' logs are kept. */
  readonly logDays: number;
}

type Endpoints = Readonly<Record<'dynamodbEndpoint' | 'objectStoreEndpoint' | 'queueEndpoint', string>>;

/**
 * The data of a stack on AWS, by its outputs, or of the local stack that runs in this directory.
 * Throws SetupProblem where there is none.
 */
export async function stackData(stack: string | undefined): Promise<StackData> {
  if (stack !== undefined) return dataOf(`stack ${stack}`, await stackOutputs(stack), { maxAttempts: 10 });
  const local = readJsonFile<Endpoints & { readonly outputs: Record<string, string> }>('.local/stack.json');
  if (local === undefined) {
    throw new SetupProblem('The local stack does not run here (npm start). For a stack on AWS add --stack NAME.');
  }
  const common = { region: process.env.AWS_REGION ?? 'us-east-1', credentials: owner };
  return dataOf('the local stack', new Map(Object.entries(local.outputs)), common, local);
}

function dataOf(name: string, outputs: ReadonlyMap<string, string>, common: object, endpoints?: Endpoints): StackData {
  const output = (key: string) => {
    const value = outputs.get(key);
    if (value === undefined) throw new SetupProblem(`The ${name} has no output ${key}: deploy this release first.`);
    return value;
  };
  const at = (endpoint: string | undefined) => ({ ...common, ...(endpoint !== undefined && { endpoint }) });
  const stage = name.replace(/^.*-/, '');
  return {
    name,
    client: DynamoDBDocumentClient.from(new DynamoDBClient(at(endpoints?.dynamodbEndpoint))),
    clock: systemClock,
    results: resultsBucket(output('ResultsBucket'), at(endpoints?.objectStoreEndpoint)),
    sqs: new SQSClient(at(endpoints?.queueEndpoint)),
    tables: Object.fromEntries(Object.keys(tables).map((table) => [table, output(`${table}Table`)])) as TableNames,
    queues: Object.fromEntries(
      Object.keys(queues).flatMap((queue) =>
        ['Queue', 'DeadLetters'].map((kind) => [`${queue}${kind}`, output(`${queue}${kind}Url`)]),
      ),
    ),
    logDays: (Object.hasOwn(stages, stage) ? stages[stage as keyof typeof stages] : stages.prod).logRetention,
  };
}
