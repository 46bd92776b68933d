import { hash } from 'node:crypto';
import type { FunctionDefinition } from '../template/deployment.ts';
import { FunctionError } from './function-error.ts';

/** Lambda ends a chain in which the same event would call a function more often than this. */
const maxInvocations = 16;

/**
 * The trace header of an invocation. Like Lambda's, its `Lineage` counts how often each function
 * was called in the chain of events that led here: the SDK sends the header along with what the
 * function sends. Of several messages in one event the longest chain counts: how Lambda joins them
 * is written nowhere. Throws FunctionError where Lambda ends the chain
 * (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
 */
export function countInvocation({ name, allowsRecursion }: FunctionDefinition, received: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const [, id = '', count] of received.join().matchAll(/\b([0-9a-f]{8}):(\d+)/g)) {
    counts.set(id, Math.max(counts.get(id) ?? 0, Number(count)));
  }
  const own = hash('sha256', name).slice(0, 8);
  const invocations = (counts.get(own) ?? 0) + 1;
  if (invocations > maxInvocations && allowsRecursion !== true) {
    throw new FunctionError('RecursiveInvocationException', `${name} calls itself: Lambda ends the chain.`);
  }
  counts.set(own, invocations);
  return `Lineage=1:${Array.from(counts, (entry) => entry.join(':')).join('|')}`;
}
