import { SetupProblem } from '../../commands/setup-problem.ts';

/** One statement of an IAM policy, its intrinsics resolved. */
export interface PolicyStatement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: string | readonly string[];
  readonly Resource?: string | readonly string[];
  readonly Principal?: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What someone wants to do. `conditions` holds the condition keys whose values are known. */
export interface AccessRequest {
  readonly action: string;
  readonly resource: string;
  readonly conditions?: Readonly<Record<string, string>>;
}

type Operator = (actual: string, expected: string) => boolean;

const operators: Readonly<Record<string, Operator>> = {
  Bool: (actual, expected) => actual.toLowerCase() === expected.toLowerCase(),
  StringEquals: (actual, expected) => actual === expected,
  StringNotEquals: (actual, expected) => actual !== expected,
  StringLike: (actual, expected) => matchesPattern(expected, actual),
  ArnLike: (actual, expected) => matchesPattern(expected, actual),
  ArnEquals: (actual, expected) => matchesPattern(expected, actual),
  NumericEquals: (actual, expected) => Number(actual) === Number(expected),
  NumericLessThan: (actual, expected) => Number(actual) < Number(expected),
  NumericLessThanEquals: (actual, expected) => Number(actual) <= Number(expected),
  NumericGreaterThan: (actual, expected) => Number(actual) > Number(expected),
  NumericGreaterThanEquals: (actual, expected) => Number(actual) >= Number(expected),
};

/** IAM's decision: some statement allows it and none denies it. */
export function isAllowed(statements: readonly PolicyStatement[], request: AccessRequest): boolean {
  return !isDenied(statements, request) && statements.some((each) => each.Effect === 'Allow' && applies(each, request));
}

/**
 * Whether a statement denies it. A resource's policy does so even when the caller's own policy
 * allows it.
 */
export function isDenied(statements: readonly PolicyStatement[], request: AccessRequest): boolean {
  return statements.some((each) => each.Effect === 'Deny' && applies(each, request));
}

/**
 * Returns the statements if `isAllowed` understands them all. Otherwise it throws SetupProblem,
 * which names `owner` and the unknown part: a rule that was skipped would allow here what AWS
 * refuses.
 */
export function checkStatements(owner: string, statements: readonly PolicyStatement[]): readonly PolicyStatement[] {
  const known = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Principal', 'Condition']);
  for (const statement of statements) {
    const unknown = Object.keys(statement).find((key) => !known.has(key));
    const operator = Object.keys(statement.Condition ?? {}).find((name) => operators[name] === undefined);
    if (unknown !== undefined || operator !== undefined) {
      throw new SetupProblem(`The local stack does not understand ${unknown ?? operator} in the policy of ${owner}.`);
    }
  }
  return statements;
}

/** IAM's wildcards: `*` any characters, `?` one. */
export function matchesPattern(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}

function applies(statement: PolicyStatement, { action, resource, conditions = {} }: AccessRequest): boolean {
  return (
    toArray(statement.Action).some((pattern) => matchesPattern(pattern.toLowerCase(), action.toLowerCase())) &&
    toArray(statement.Resource).some((pattern) => matchesPattern(pattern, resource)) &&
    Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys).every(([key, expected]) => {
        const actual = conditions[key];
        return actual !== undefined && toArray(expected).some((each) => operators[operator]?.(actual, String(each)));
      }),
    )
  );
}

function toArray<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Value];
}
