/**
 * An operation describes one endpoint, once, in a file beside it (`list-batches.operation.ts`,
 * exported as `operation`): what it reads and how it answers. The endpoint works by it; the OpenAPI
 * document and the tests load it by the route's `entry`.
 */

import type * as z from 'zod/mini';
import type { SuccessStatus } from '../http-statuses.ts';
import type { Reason } from '../reasons.ts';

export interface Operation {
  /** The group it is listed in. */
  readonly tag:
    | 'Batches'
    | 'Jobs'
    | 'Devices'
    | 'Projects'
    | 'Limits'
    | 'Usage'
    | 'Quizzes'
    | 'Webhooks'
    | 'For devices'
    | 'For operators'
    | 'Service';
  readonly summary: string;
  readonly description: string;
  /** A scope that the token must carry; without it the answer is 403. */
  readonly scope?: string;
  /** For operators alone (identity/operator-scope.ts); all others, devices too, get 403. */
  readonly operator?: true;
  /**
   * Of an operation of operators: finds the projects that the request is about. Administrators of
   * all of them may call it, too; not if there are none.
   */
  readonly projects?: (input: never) => readonly string[];
  /**
   * Makes it an operation of devices: finds in the input the type of the device that the request is
   * about. The token must have the scope `device:TYPE` or `device:*`; without it the answer is 403.
   */
  readonly device?: (input: never) => string;
  /** Devices may call this operation of users, too: it shows what belongs to no user. */
  readonly everyToken?: true;
  /** Reads the parameters of the path. */
  readonly path?: z.ZodMiniType;
  /** Reads the query: the list of values of each parameter. */
  readonly query?: z.ZodMiniType;
  /** Reads the headers, by their names in lower case. */
  readonly headers?: z.ZodMiniType;
  /** Reads the text of the body: `jsonBody(…)`. */
  readonly body?: z.ZodMiniType;
  /**
   * The largest body that is read; 3 by default. Lambda itself takes about 5.5, counted as the JSON
   * of a text.
   */
  readonly bodyMegabytes?: number;
  /** What the OpenAPI document shows of a body instead of what `jsonBody` is given. */
  readonly bodySchema?: () => z.ZodMiniType;
  readonly success: Success;
  /** Errors of its own. Errors that any request with a token or a body can get are added. */
  readonly errors?: readonly Reason[];
}

/**
 * `data` is one value in the envelope, `list` an item of a list in the envelope, `body` an answer
 * without the envelope. They are functions because only the OpenAPI document and the tests need
 * them: making a schema costs a cold start up to a millisecond.
 */
export type Success = {
  readonly status: SuccessStatus;
  readonly headers?: readonly ('Content-Range' | 'Retry-After')[];
  /** What a `body` is that is no JSON. */
  readonly contentType?: 'text/plain';
  /** `Accept: text/csv` is answered with CSV, without the envelope. */
  readonly csv?: true;
} & (
  | { readonly data: () => z.ZodMiniType }
  | { readonly list: () => z.ZodMiniType }
  | { readonly body: () => z.ZodMiniType }
);

export type InputPart = 'path' | 'query' | 'headers' | 'body';

/** The parameters and the body of a request, as the operation's schemas give them. */
export type Input<Described extends Pick<Operation, InputPart>> = {
  readonly [Part in InputPart as Described[Part] extends z.ZodMiniType ? Part : never]: z.output<
    Extract<Described[Part], z.ZodMiniType>
  >;
};
