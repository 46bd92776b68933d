/**
 * Every error this service raises on purpose. `status` is the status that a request is answered
 * with. Anything else that is thrown is a bug or a dependency's failure, and is answered with a
 * bare 500.
 */

import type { ErrorStatus } from './http-statuses.ts';

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
  abstract readonly status: ErrorStatus;
  /** Extra response headers. */
  readonly headers: Readonly<Record<string, string>> = {};
}

/** No such thing, or not the caller's: nobody must be able to distinguish the two. */
export class NotFound extends ServiceError {
  override readonly name = 'NotFound';
  readonly status = 404;
}

/** The input breaks its schema. `faults` holds every fault of the request. */
export class InvalidInput extends ServiceError {
  override readonly name = 'InvalidInput';
  readonly status = 422;
  readonly faults: readonly InputFault[];

  constructor(faults: readonly InputFault[]) {
    super(faults.map((fault) => `${fault.loc.join('.')}: ${fault.msg}`).join('; '));
    this.faults = faults;
  }
}

export class PayloadTooLarge extends ServiceError {
  override readonly name = 'PayloadTooLarge';
  readonly status = 413;
}

/** The token has expired since the gateway stored the authorizer's answer. */
export class TokenExpired extends ServiceError {
  override readonly name = 'TokenExpired';
  readonly status = 401;
  override readonly headers = { 'WWW-Authenticate': 'Bearer' };
}

/** The token is valid but does not allow what was asked for. */
export class Forbidden extends ServiceError {
  override readonly name: string = 'Forbidden';
  readonly status = 403;
}

/** The token lacks the scope that the operation demands (RFC 6750). */
export class InsufficientScope extends Forbidden {
  override readonly name = 'InsufficientScope';
  override readonly headers: Readonly<Record<string, string>>;

  constructor(scope: string) {
    super(`The token lacks the scope ${scope}.`);
    this.headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
  }
}

export class MethodNotAllowed extends ServiceError {
  override readonly name = 'MethodNotAllowed';
  readonly status = 405;
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
  readonly status = 429;
  override readonly headers = { 'Retry-After': '1' };
}

/** The function's time is about to run out, or a dependency did not answer in time. */
export class TimedOut extends ServiceError {
  override readonly name = 'TimedOut';
  readonly status = 504;
}

/**
 * A dependency failed inside or broke the connection: nobody knows whether it did what it was asked
 * for.
 */
export class DependencyFailed extends ServiceError {
  override readonly name = 'DependencyFailed';
  readonly status = 500;
}

/**
 * A stored item breaks its own schema, or stored parts contradict each other: ours, never the
 * caller's.
 */
export class CorruptData extends ServiceError {
  override readonly name = 'CorruptData';
  readonly status = 500;
}

/**
 * An owner's columns were written by another description of the list, and no repair has moved them
 * yet.
 */
export class OutdatedColumns extends ServiceError {
  override readonly name = 'OutdatedColumns';
  readonly status = 500;
}

/**
 * A batch or job would leave a final state, or move to a state that its present one does not lead
 * to.
 */
export class IllegalTransition extends ServiceError {
  override readonly name = 'IllegalTransition';
  readonly status = 409;
}

/**
 * Another device has the batch, or it has left the queue: what was to be done under the lease was
 * not done.
 */
export class LeaseLost extends ServiceError {
  override readonly name = 'LeaseLost';
  readonly status = 409;
}

/** The same id again with other content. */
export class AlreadyExists extends ServiceError {
  override readonly name = 'AlreadyExists';
  readonly status = 409;
}

/** An owner has more of something than can be stored. */
export class LimitExceeded extends ServiceError {
  override readonly name = 'LimitExceeded';
  readonly status = 409;
}
