import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';

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
   * Requests per second that each method serves, and the burst above it; beyond them the answer is
   * 429.
   */
  readonly throttle: { readonly rate: number; readonly burst: number };
}

export const stages = {
  dev: {
    deletionProtection: false,
    removalPolicy: RemovalPolicy.DESTROY,
    logRetention: RetentionDays.ONE_WEEK,
    throttle: { rate: 50, burst: 100 },
  },
  prod: {
    deletionProtection: true,
    // Kept, unless the deployment that created them fails.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    logRetention: RetentionDays.THREE_MONTHS,
    throttle: { rate: 500, burst: 1_000 },
  },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof stages;
