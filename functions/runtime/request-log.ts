/**
 * One JSON line for each request: who asked for what, what it took, what was answered. Never
 * tokens, links or bodies.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { withSourcePositions } from './source-positions.ts';

type Facts = Record<string, unknown>;

const current = new AsyncLocalStorage<Facts>();

/** Runs the work of one request with a log line of its own, to which `addToRequestLog` adds. */
export function withRequestLog<Result>(facts: Facts, work: () => Result): Result {
  return current.run({ ...facts }, work);
}

/**
 * Adds facts to the line of the request that is being served; outside of one, does nothing. A fact
 * of the same name is replaced. The stack's metric filters and saved queries read these lines by
 * the names of their facts.
 */
export function addToRequestLog(facts: Facts): void {
  Object.assign(current.getStore() ?? {}, facts);
}

/**
 * Adds each number to the one of its name in the line: the sums of what the calls of one request
 * consume.
 */
export function countInRequestLog(numbers: Readonly<Record<string, number>>): void {
  const facts = current.getStore();
  if (facts === undefined) return;
  for (const [name, number] of Object.entries(numbers)) facts[name] = Number(facts[name] ?? 0) + number;
}

/** Lambda's levels, the least severe first. */
const levels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/**
 * Writes the line, unless AWS_LAMBDA_LOG_LEVEL (INFO by default) asks for more severe ones only. A
 * fact `level` takes the place of INFO. `function` is the name that Lambda has for it: functions of
 * a kind share a log. It goes to standard output as it is: `console` would wrap
 * it in Lambda's own format.
 */
export function writeRequestLog(outcome: 'INFO' | 'ERROR'): void {
  const facts = current.getStore();
  const level = outcome === 'INFO' ? String(facts?.level ?? outcome) : outcome;
  if (levels.indexOf(level) < levels.indexOf(process.env.AWS_LAMBDA_LOG_LEVEL ?? 'INFO')) return;
  const { AWS_LAMBDA_FUNCTION_NAME } = process.env;
  const line = { timestamp: new Date().toISOString(), function: AWS_LAMBDA_FUNCTION_NAME, ...facts, level };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Describes a thrown value for the log, with its causes, and with the request id of an AWS error.
 */
export function describeError(thrown: unknown, depth = 0): unknown {
  if (!(thrown instanceof Error)) return String(thrown);
  const { name, message, stack, cause } = thrown;
  const { $metadata } = thrown as { $metadata?: { requestId?: string; attempts?: number } };
  return {
    name,
    message,
    stack: stack && withSourcePositions(stack),
    ...($metadata && { aws_request_id: $metadata.requestId, attempts: $metadata.attempts }),
    ...(cause !== undefined && depth < 5 && { cause: describeError(cause, depth + 1) }),
  };
}
