import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { noAnswer } from './own-time.ts';
import { type PassedAnswer, type PassingRequest, startPassingServer } from './passing-server.ts';

/** What the proxy does with a request. `pass` sends it to DynamoDB. */
export type Strike = (
  pass: () => Promise<PassedAnswer>,
  response: ServerResponse,
  request: PassingRequest,
) => Promise<void>;

/**
 * Which of a user's requests are struck: `times` of them, beginning with number `from` (the first
 * is 1).
 */
interface Plan {
  readonly strike: Strike;
  readonly from: number;
  readonly times: number;
}

export interface FaultProxy {
  readonly url: string;
  /**
   * Replaces the user's plan, and counts their requests from 1 again. Without a plan, none is
   * struck.
   */
  plan(userId: string, plan?: Plan): void;
  /** The user's requests since `plan`. */
  count(userId: string): number;
  /**
   * Fulfilled when the user's requests have ended: a function that fails does not wait for its
   * other calls under way.
   */
  quiet(userId: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A proxy before DynamoDB that breaks requests on the wire. It counts and strikes the requests of
 * each user separately, so that tests can run side by side. It finds the user by the id that every
 * request here contains.
 */
export async function startFaultProxy(endpoint: string): Promise<FaultProxy> {
  const plans = new Map<string, { plan?: Plan | undefined; count: number }>();
  const underWay = new Map<string, Set<ServerResponse>>();
  const server = await startPassingServer(endpoint, async (request, pass, answer) => {
    const [userId, of] = [...plans].find(([userId]) => request.body.includes(JSON.stringify(userId))) ?? [];
    if (userId === undefined || of === undefined) return answer(await pass());
    const responses = underWay.get(userId) ?? new Set();
    underWay.set(userId, responses.add(request.response));
    request.response.once('close', () => responses.delete(request.response));
    const number = ++of.count;
    if (of.plan === undefined || number < of.plan.from || number >= of.plan.from + of.plan.times) {
      return answer(await pass());
    }
    await of.plan.strike(pass, request.response, request);
  });
  return {
    url: server.url,
    stop: server.stop,
    plan: (userId, plan) => void plans.set(userId, { plan, count: 0 }),
    count: (userId) => plans.get(userId)?.count ?? 0,
    async quiet(userId) {
      for (let seen = -1; seen !== plans.get(userId)?.count || underWay.get(userId)?.size; await delay(20)) {
        seen = plans.get(userId)?.count ?? 0;
      }
    },
  };
}

/** An error as DynamoDB sends it. */
function error(status: number, type: string): Strike {
  return async (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'injected' }));
  };
}

/** DynamoDB refuses for now. */
export const throttles: Readonly<Record<string, Strike>> = {
  throttling: error(400, 'ThrottlingException'),
  'exceeded throughput': error(400, 'ProvisionedThroughputExceededException'),
};

/** Another attempt may succeed. The sender cannot know whether the request had its effect. */
export const failures: Readonly<Record<string, Strike>> = {
  'an internal error': error(500, 'InternalServerError'),
  'an unavailable service': error(503, 'ServiceUnavailable'),
  'a gateway that knows nothing': async (_, response) =>
    void response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>Bad Gateway</html>'),
  'a dropped connection': async (_, response) => void response.destroy(),
  'a dropped answer': async (pass, response) => {
    await pass();
    response.destroy();
  },
  'half an answer': async (pass, response) => {
    const { status, headers, body } = await pass();
    response.writeHead(status, headers).write(body.subarray(0, body.length / 2));
    await delay(5);
    response.destroy();
  },
};

/** No attempt can succeed: the answer is unreadable, or the request is refused. */
export const finalFailures: Readonly<Record<string, Strike>> = {
  'an answer cut short that does not say so': async (pass, response) => {
    const { status, headers, body } = await pass();
    const { 'content-length': _, ...others } = headers;
    response.writeHead(status, others).end(body.subarray(0, body.length / 2));
  },
  'a role that lost its rights': error(400, 'AccessDeniedException'),
  'a table that is gone': error(400, 'ResourceNotFoundException'),
};

/** No answer in time, to functions that are loaded after `useNoAnswers`. */
export const unanswered: Strike = async (_, response) => void response.writeHead(noAnswer).end();

/** No answer for longer than anyone waits. */
export const silence: Strike = async (_, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  await delay(60_000, undefined, { signal: gone.signal, ref: false }).catch(() => {});
  response.destroy();
};

/** The right answer, but late. */
export const late =
  (milliseconds: number): Strike =>
  async (pass, response) => {
    await delay(milliseconds);
    const { status, headers, body } = await pass();
    response.writeHead(status, headers).end(body);
  };
