import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';

/** How the stages differ. Nothing else in the stack asks which stage it is. */
export interface StageSettings {
  /**
   * Whether the stack, its tables and its user pool refuse deletion until someone switches the
   * protection off.
   */
  readonly deletionProtection: boolean;
  /** What happens to tables, buckets, users, keys and logs when the stack is deleted. */
  readonly removalPolicy: RemovalPolicy;
  readonly logRetention: RetentionDays;
  /**
   * Requests per second that each method serves, from all callers together; `burstOf` says how
   * many at once. Beyond them the answer is 429. `others` are methods that anyone can call without
   * a token and few need: pages, preflights, unknown paths and methods.
   */
  readonly throttle: Readonly<Record<RateClass, number>>;
  /**
   * Execution environments that are kept for the authorizer, which anything that looks like a token
   * can start; it takes no more. If this is set, each function that callers without a token can
   * start also has its own, as many as a burst of its calls, and no more. Undefined: all share the
   * account's. Lambda refuses to leave fewer than 100 unreserved, so accounts of 10 can keep none.
   * Tests of webhooks, which wait for their receivers, get this number and no more.
   */
  readonly reserved: { readonly authorizer: number; readonly testWebhook: number } | undefined;
  /** Days after which the bucket deletes results. Undefined: it keeps them. */
  readonly resultsDays?: number;
  /** Bounds the environments of each queue's consumer further. SQS takes 2 or more. */
  readonly maxConsumers?: number;
}

type RateClass = NonNullable<Route['rate']> | 'others';

/** Which of the stage's rates a route has. */
export function rateClass(route: Route): RateClass {
  return route.rate ?? (route.public === true ? 'others' : 'often');
}

/**
 * Functions that callers without a valid token can start: they alone are throttled at what is
 * reserved for them.
 */
export const openFunctions: readonly ('authorizer' | 'methodNotAllowed' | RouteName)[] = [
  'authorizer',
  'methodNotAllowed',
  ...Object.entries<Route>(routes).flatMap(([name, route]) => (route.public === true ? [name as RouteName] : [])),
];

/** What environments are kept for: a greater burst would take too many of an account's 1,000. */
const maxOpenBurst = 100;

/** Calls that a route, or any other path, takes at once. */
export function burstOf(route: Route | undefined, { throttle }: Pick<StageSettings, 'throttle'>): number {
  const isOpen = route === undefined || route.public === true;
  const burst = 2 * throttle[route === undefined ? 'others' : rateClass(route)];
  return isOpen ? Math.min(burst, maxOpenBurst) : burst;
}

export const stages = {
  dev: {
    deletionProtection: false,
    removalPolicy: RemovalPolicy.DESTROY,
    logRetention: RetentionDays.ONE_WEEK,
    throttle: { often: 50, seldom: 20, others: 20 },
    reserved: undefined,
  },
  prod: {
    deletionProtection: true,
    // Kept, unless the deployment that created them fails.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    logRetention: RetentionDays.THREE_MONTHS,
    throttle: { often: 500, seldom: 200, others: 20 },
    reserved: { authorizer: 100, testWebhook: 10 },
  },
} as const satisfies Record<string, StageSettings>;

/** What differs in an account whose functions share a concurrency of 10. */
export const smallConcurrency = {
  reserved: undefined,
  maxConsumers: 2,
} as const satisfies Partial<StageSettings>;

export type StageName = keyof typeof stages;
