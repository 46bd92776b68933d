import type { stackConcurrency } from './stack-concurrency.ts';

/** What a smoke test needs of a deployment, beside its HTTP API. */
export interface Deployment {
  readonly name: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
  readonly token: string;
  /** Whose token it is. */
  readonly userId: string;
  /** What takes seconds on AWS may take as many times as long. */
  readonly patience: number;
  /** A token of the machines, got by `client_credentials`. */
  deviceToken(): Promise<string>;
  /** Sends them through the queue, in this order. */
  sendEvents(events: readonly LifecycleEvent[]): Promise<void>;
  /** The reason with which an event became a dead letter, if it did. */
  deadLetterReason(eventId: string): Promise<string | undefined>;
  /** A job of the user whose results are in the bucket. */
  jobWithResults(): Promise<string>;
  /** Resolves when links that were given out at that time (milliseconds) have ended. */
  linksHaveEnded(since: number): Promise<void>;
  /** The line that a function logged for a request, if it is there yet. */
  functionLogLine(requestId: string): Promise<LogLine | undefined>;
  /** The line of the gateway's access log for a request, if it is there yet. */
  accessLogLine(requestId: string): Promise<LogLine | undefined>;
  /** Whether a metric that is read from the logs has values. */
  hasMetric(name: string): Promise<boolean>;
  /** Runs each saved query; returns their names. Throws where one does not run. */
  runSavedQueries(): Promise<string[]>;
  /** Executions that may run at once: of the account, of its unreserved share, and of the stack. */
  concurrency(): Promise<{ account: number; unreserved: number; stack: ReturnType<typeof stackConcurrency> }>;
  /** Makes an alarm go off. Resolves when the topic took its message. */
  raiseAlarm(): Promise<void>;
}

export interface LifecycleEvent {
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly user_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type LogLine = Readonly<Record<string, unknown>>;

/** A deployment of this kind has no such thing. */
export class NotHere extends Error {
  override readonly name = 'NotHere';
}

/** The `sub` of a token. */
export function userOf(token: string): string {
  const [, payload = ''] = token.split('.');
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub;
}
