import { SetupProblem } from '../../commands/setup-problem.ts';

/** Whether a record matches. */
export type RecordPattern = (record: unknown) => boolean;

/**
 * Reads a pattern of Lambda's event filters: objects name members, arrays the values that a member
 * may have, a text, number or boolean itself, `{"exists": …}` or `{"prefix": "…"}`. Throws
 * SetupProblem for any other rule that AWS knows: ignored, it would match too much here.
 */
export function readPattern(text: string): RecordPattern {
  return patternOf(JSON.parse(text));
}

function patternOf(pattern: unknown): RecordPattern {
  if (Array.isArray(pattern)) {
    const rules = pattern.map(ruleOf);
    return (value) => rules.some((matches) => matches(value));
  }
  if (typeof pattern !== 'object' || pattern === null)
    throw new SetupProblem(`An event filter names ${pattern} outside a list.`);
  const members = Object.entries(pattern).map(([name, each]) => [name, patternOf(each)] as const);
  return (value) => members.every(([name, matches]) => matches(Object(value)[name] as unknown));
}

function ruleOf(rule: unknown): RecordPattern {
  if (typeof rule !== 'object' || rule === null) return (value) => value === rule;
  const [[name, argument] = [], ...others] = Object.entries(rule);
  if (others.length === 0 && name === 'exists') return (value) => (value !== undefined) === argument;
  if (others.length === 0 && name === 'prefix' && typeof argument === 'string') {
    return (value) => typeof value === 'string' && value.startsWith(argument);
  }
  throw new SetupProblem(`The local stack does not understand ${JSON.stringify(rule)} in an event filter.`);
}
