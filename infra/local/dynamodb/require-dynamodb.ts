import { SetupProblem } from '../../commands/setup-problem.ts';

const patienceMilliseconds = 3_000;

/** Throws SetupProblem unless something answers HTTP at the endpoint. */
export async function requireDynamoDb(endpoint: string) {
  const variable = `AWS_ENDPOINT_URL_DYNAMODB (${endpoint})`;
  if (!/^https?:/.test(endpoint) || !URL.canParse(endpoint)) throw new SetupProblem(`${variable} is not an HTTP URL.`);
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(patienceMilliseconds) });
  } catch {
    throw new SetupProblem(`No DynamoDB answers at ${variable}: start it, or unset the variable.`);
  }
}
