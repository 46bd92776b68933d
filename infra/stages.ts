import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** In what the stages differ: nothing else in the stack asks which stage it is. */
export interface StageSettings {
  /** Whether tables and the user pool refuse to be deleted until that is switched off by hand. */
  readonly deletionProtection: boolean;
  /** What becomes of tables, buckets, users and logs when the stack is deleted. */
  readonly removalPolicy: RemovalPolicy;
  readonly logRetention: RetentionDays;
  /** Requests per second that the whole stage serves, and the burst above it; beyond them the answer is 429. */
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
    removalPolicy: RemovalPolicy.RETAIN,
    logRetention: RetentionDays.THREE_MONTHS,
    throttle: { rate: 500, burst: 1_000 },
  },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof stages;
