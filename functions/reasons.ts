import { type ErrorStatus, errorNames } from './http-statuses.ts';

/**
 * Every reason that an error names in `data.reason`: its status, and what it means to the caller.
 * Programs compare reasons, so a reason keeps its name and its meaning; people read the sentence
 * beside it, which may change.
 */
export const reasons = {
  invalid_token: { status: 401, meaning: 'The request has no valid bearer token.' },
  token_expired: { status: 401, meaning: 'The token has expired.' },
  insufficient_scope: { status: 403, meaning: 'The token lacks the scope that `WWW-Authenticate` names.' },
  device_token: { status: 403, meaning: 'Device tokens cannot use this endpoint.' },
  project_not_allowed: {
    status: 403,
    meaning: 'The token does not name this project, or does not let its holder submit to it.',
  },
  not_the_owner: {
    status: 403,
    meaning: 'The batch or job is another member’s: the caller may see it, and not do this.',
  },
  device_type_not_allowed: { status: 403, meaning: 'The limits of the user or the project do not allow this device.' },
  access_denied: { status: 403, meaning: 'The gateway refused the request.' },
  not_found: { status: 404, meaning: 'The caller has no such batch, job or device.' },
  results_erased: { status: 404, meaning: 'The results were erased with the batch of the job.' },
  results_expired: { status: 404, meaning: 'The results were deleted because of their age.' },
  unknown_route: { status: 404, meaning: 'The API has no such path.' },
  method_not_allowed: { status: 405, meaning: 'The path has other methods: see `Allow`.' },
  batch_open: { status: 409, meaning: 'The batch is open: close it first.' },
  batch_closed: { status: 409, meaning: 'The batch is closed: it takes no more jobs.' },
  batch_ended: { status: 409, meaning: 'The batch has ended or was canceled.' },
  batch_not_waiting: {
    status: 409,
    meaning: 'The batch does not wait in a queue: a device has it, or it never entered a queue.',
  },
  batch_not_ended: { status: 409, meaning: 'The batch, or a job of it, has not ended: cancel it first.' },
  erased: { status: 409, meaning: 'The content of the batch was erased.' },
  job_ended: { status: 409, meaning: 'The job has ended in another way.' },
  job_not_leased: { status: 409, meaning: 'The job is not the one that runs under this lease.' },
  lease_lost: { status: 409, meaning: 'Another worker has the batch, it waits again, or it has left the queue.' },
  idempotency_key_reused: { status: 409, meaning: 'The `Idempotency-Key` was used before with another request.' },
  call_timed_out: { status: 409, meaning: 'The call timed out part-way; the jobs it had added were canceled.' },
  device_closed: {
    status: 409,
    meaning: 'An operator has closed the device to new batches: the description says why.',
  },
  device_in_use: { status: 409, meaning: 'The device cannot be removed: batches wait for it or are on it.' },
  no_webhook: { status: 409, meaning: 'The batch has no webhook, or one that is never called.' },
  limit_exceeded: {
    status: 409,
    meaning:
      'A limit is reached: of jobs in a batch, devices, calibrations to come, or a user’s projects and device types. If an operator has set it, `limit`, `subject`, `max`, `used` and `left` say more.',
  },
  illegal_transition: { status: 409, meaning: 'The present status does not lead to this status.' },
  already_exists: { status: 409, meaning: 'The id exists with other content.' },
  event_id_reused: { status: 409, meaning: 'Another lifecycle event had this id.' },
  payload_too_large: { status: 413, meaning: 'The body is too large.' },
  invalid_input: { status: 422, meaning: 'The input is wrong: `detail` lists every fault.' },
  throttled: { status: 429, meaning: 'Too many requests came: wait as long as `Retry-After` says.' },
  too_many_creations: {
    status: 429,
    meaning: 'The limit `creations_per_minute` is reached: wait as long as `Retry-After` says.',
  },
  too_many_changes: {
    status: 429,
    meaning:
      'Five changes of the user that take several transactions are under way: wait as long as `Retry-After` says.',
  },
  too_many_downloads: {
    status: 429,
    meaning:
      'Five calls of the user are reading the results of more than 100 jobs: wait as long as `Retry-After` says.',
  },
  too_many_tests: {
    status: 429,
    meaning:
      'The user has tested webhooks ten times in this minute, or three tests are under way: wait as long as `Retry-After` says.',
  },
  busy: { status: 429, meaning: 'The database is busy: wait as long as `Retry-After` says.' },
  unfinished: {
    status: 429,
    meaning:
      'There was no time for the whole change: repeat the request (a creation with the same `Idempotency-Key`), and it goes on.',
  },
  internal_error: { status: 500, meaning: 'The service failed: repeat the request.' },
  timeout: { status: 504, meaning: 'The service took too long. The change may have been made: repeat the request.' },
} as const satisfies Readonly<Record<string, { readonly status: ErrorStatus; readonly meaning: string }>>;

export type Reason = keyof typeof reasons;

/** The reasons of errors with this status. */
export type ReasonOf<Status extends ErrorStatus> = {
  [Each in Reason]: (typeof reasons)[Each]['status'] extends Status ? Each : never;
}[Reason];

/**
 * The body of every error: of a function, of the gateway, and in the examples of the OpenAPI
 * document. `data` is always an object, because clients read `data.description`; faults of the
 * input are in `detail` as well.
 */
export function errorBody(reason: Reason, description: string | readonly object[], details: object = {}) {
  const { status } = reasons[reason];
  return {
    status: status >= 500 ? 'error' : 'fail',
    message: errorNames[status],
    code: String(status),
    data: { reason, description, ...details },
    ...(typeof description !== 'string' && { detail: description }),
  };
}
