/**
 * Every error this service raises on purpose. Anything else that is thrown is a bug or a
 * dependency's failure, and is answered with a bare 500.
 */

import type { ErrorStatus } from './http-statuses.ts';
import { type Reason, type ReasonOf, reasons } from './reasons.ts';

/**
 * One fault of the input, in pydantic v2's vocabulary. `loc` names the place: `['query', 'status',
 * 0]`.
 */
export interface InputFault {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export abstract class ServiceError extends Error {
  abstract readonly reason: Reason;
  /** Extra response headers. */
  readonly headers: Readonly<Record<string, string>> = {};
  /** What the answer says to programs beside the reason. */
  readonly details: Readonly<Record<string, unknown>> = {};

  /** The status of the answer. */
  get status(): ErrorStatus {
    return reasons[this.reason].status;
  }
}

/**
 * The thing does not exist, or is not the caller's: callers must not be able to distinguish the
 * two.
 */
export class NotFound extends ServiceError {
  override readonly name: string = 'NotFound';
  readonly reason: ReasonOf<404> = 'not_found';
}

/** What was looked up for the caller. Throws NotFound where it is not there. */
export function requireFound<Value>(value: Value | undefined, what: 'batch' | 'job'): Value {
  if (value === undefined) throw new NotFound(`There is no such ${what}.`);
  return value;
}

/** The job had results, which are gone for good. */
export class ResultsGone extends NotFound {
  override readonly name = 'ResultsGone';
  override readonly reason: 'results_erased' | 'results_expired';

  constructor(reason: 'results_erased' | 'results_expired', message: string) {
    super(message);
    this.reason = reason;
  }
}

export class UnknownRoute extends NotFound {
  override readonly name = 'UnknownRoute';
  override readonly reason = 'unknown_route';
}

/** Faults that an answer, or the reason of a dead letter, lists. */
const maxFaultsListed = 100;

/** The input breaks its schema. `faults` holds every fault, or the first 99 and how many follow. */
export class InvalidInput extends ServiceError {
  override readonly name = 'InvalidInput';
  readonly reason = 'invalid_input';
  readonly faults: readonly InputFault[];

  constructor(faults: readonly InputFault[]) {
    const listed = listFaults(faults);
    super(listed.map((fault) => `${fault.loc.join('.')}: ${fault.msg}`).join('; '));
    this.faults = listed;
  }
}

/** As many of the faults as an answer lists: all, or the first 99 and how many follow. */
export function listFaults(faults: readonly InputFault[]): readonly InputFault[] {
  if (faults.length <= maxFaultsListed) return faults;
  const listed = faults.slice(0, maxFaultsListed - 1);
  const [next] = faults.slice(listed.length) as [InputFault];
  const msg = `At least ${faults.length - listed.length} more faults, from here on`;
  return [...listed, { loc: next.loc, msg, type: 'more_faults' }];
}

export class PayloadTooLarge extends ServiceError {
  override readonly name = 'PayloadTooLarge';
  readonly reason = 'payload_too_large';
}

/** The token has expired since the gateway stored the authorizer's answer. */
export class TokenExpired extends ServiceError {
  override readonly name = 'TokenExpired';
  readonly reason = 'token_expired';
  override readonly headers = { 'WWW-Authenticate': 'Bearer' };
}

/** The token is valid but does not allow what was asked for. */
export class Forbidden extends ServiceError {
  override readonly name: string = 'Forbidden';
  readonly reason: ReasonOf<403>;

  constructor(reason: ReasonOf<403>, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The token lacks the scope that the operation demands (RFC 6750). */
export class InsufficientScope extends Forbidden {
  override readonly name = 'InsufficientScope';
  override readonly headers: Readonly<Record<string, string>>;

  constructor(scope: string) {
    super('insufficient_scope', `The token lacks the scope ${scope}.`);
    this.headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
  }
}

export class MethodNotAllowed extends ServiceError {
  override readonly name = 'MethodNotAllowed';
  readonly reason = 'method_not_allowed';
  override readonly headers: Readonly<Record<string, string>>;

  constructor(allowed: readonly string[]) {
    super('The path exists, the method does not.');
    this.headers = { Allow: allowed.join(', ') };
  }
}

/**
 * DynamoDB throttled the request, or concurrent writes kept it from a consistent answer, through
 * all attempts.
 */
export class TooBusy extends ServiceError {
  override readonly name = 'TooBusy';
  readonly reason = 'busy';
  override readonly headers = { 'Retry-After': '1' };
}

/** There was no time for all transactions of a change: some of them were made. */
export class Unfinished extends ServiceError {
  override readonly name = 'Unfinished';
  readonly reason = 'unfinished';
  override readonly headers = { 'Retry-After': '5' };

  constructor(options?: ErrorOptions) {
    super('There was no time for all of it: repeat the request, with the same Idempotency-Key, to go on.', options);
  }
}

/** The function's time is about to run out, or a dependency did not answer in time. */
export class TimedOut extends ServiceError {
  override readonly name = 'TimedOut';
  readonly reason = 'timeout';
}

/** What is answered with a bare 500: the log has the error, the caller does not. */
abstract class InternalError extends ServiceError {
  readonly reason = 'internal_error';
}

/** A dependency failed inside or broke the connection: it may or may not have made the change. */
export class DependencyFailed extends InternalError {
  override readonly name = 'DependencyFailed';
}

/**
 * A stored item breaks its own schema, or stored parts contradict each other: ours, never the
 * caller's.
 */
export class CorruptData extends InternalError {
  override readonly name: string = 'CorruptData';
}

/**
 * An owner's columns were written by another description of the list, and no repair has moved them
 * yet.
 */
export class OutdatedColumns extends InternalError {
  override readonly name = 'OutdatedColumns';
}

/** The request contradicts what is stored. */
abstract class Conflict extends ServiceError {
  readonly reason: ReasonOf<409>;

  constructor(reason: ReasonOf<409>, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * A batch or job would leave a final state, or move to a state that its present one does not lead
 * to.
 */
export class IllegalTransition extends Conflict {
  override readonly name = 'IllegalTransition';
}

/** Batches wait for a device that is to be removed, or are at it. */
export class DeviceInUse extends Conflict {
  override readonly name = 'DeviceInUse';

  constructor(deviceType: string) {
    super('device_in_use', `Batches wait for ${deviceType} or are at it.`);
  }
}

/** An operator lets the device take no new batches. */
export class DeviceClosed extends Conflict {
  override readonly name = 'DeviceClosed';

  constructor(why: string) {
    super('device_closed', why);
  }
}

/** The same id again with other content. */
export class AlreadyExists extends Conflict {
  override readonly name = 'AlreadyExists';
}

/** The batch has no webhook, or one that is never called. */
export class NoWebhook extends Conflict {
  override readonly name = 'NoWebhook';

  constructor(why: string) {
    super('no_webhook', why);
  }
}

/** The receiver's host was called as often as it may be in a minute. */
export class ReceiverBusy extends ServiceError {
  override readonly name = 'ReceiverBusy';
  readonly reason = 'throttled';
  override readonly headers: ServiceError['headers'];

  constructor(seconds: number) {
    super('The host of the webhook is called too often.');
    this.headers = { 'Retry-After': String(seconds) };
  }
}

/** As many such calls of the user are under way as may be at once, or were made in this minute. */
export class TooManyCalls extends ServiceError {
  override readonly name = 'TooManyCalls';
  readonly reason: `too_many_${keyof typeof tooMany}`;
  override readonly headers: ServiceError['headers'];

  constructor(of: keyof typeof tooMany, seconds = 5) {
    super(tooMany[of]);
    this.reason = `too_many_${of}`;
    this.headers = { 'Retry-After': String(seconds) };
  }
}

const tooMany = {
  changes: 'Other long changes of yours are under way: wait for one of them.',
  downloads: 'Other calls of yours are reading the results of many jobs: wait for one of them.',
  tests: 'You have tested webhooks often enough for now.',
};

/** The lease is not the current one, or the batch has left the queue: nothing was done under it. */
export class LeaseLost extends ServiceError {
  override readonly name = 'LeaseLost';
  readonly reason = 'lease_lost';
}

/** There would be more of something than can be stored or answered. */
export class LimitExceeded extends ServiceError {
  override readonly name = 'LimitExceeded';
  readonly reason = 'limit_exceeded';
}

/** A creation goes beyond what an operator allows the user or the project. */
export class OverLimit extends ServiceError {
  override readonly name = 'OverLimit';
  readonly reason: 'limit_exceeded' | 'too_many_creations' | 'device_type_not_allowed';
  override readonly headers: ServiceError['headers'];
  override readonly details: ServiceError['details'];

  constructor(reason: OverLimit['reason'], message: string, { details, headers = {} }: RefusalFacts) {
    super(message);
    this.reason = reason;
    this.details = details;
    this.headers = headers;
  }
}

type RefusalFacts = Pick<ServiceError, 'details'> & Partial<Pick<ServiceError, 'headers'>>;
