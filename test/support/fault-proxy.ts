import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type PassedAnswer, startPassingServer } from './passing-server.ts';

/** What becomes of a request; `pass` lets it through to DynamoDB. */
export type Strike = (pass: () => Promise<PassedAnswer>, response: ServerResponse) => Promise<void>;

/** A user's requests that are struck, counted from 1: those from `from` on, `times` of them. */
interface Plan {
  readonly strike: Strike;
  readonly from: number;
  readonly times: number;
}

export interface FaultProxy {
  readonly url: string;
  /** From now on, until the next call, these of the user's requests are struck; without a plan, none. */
  plan(userId: string, plan?: Plan): void;
  /** The user's requests since `plan`. */
  count(userId: string): number;
  /** When no request of the user is under way nor has come for some milliseconds: who fails does not wait for calls side by side. */
  quiet(userId: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Stands before DynamoDB and breaks what it is told to, on the wire. The requests of different users are counted and struck
 * apart, so that tests can run side by side: a request is of the user whose id it holds, as every request here does.
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
    await of.plan.strike(pass, request.response);
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

/** Those that say: not now. */
export const throttles: Readonly<Record<string, Strike>> = {
  throttling: error(400, 'ThrottlingException'),
  'exceeded throughput': error(400, 'ProvisionedThroughputExceededException'),
};

/** Those that another attempt may overcome; whether the request had its effect, its sender cannot know. */
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

/** Those that no attempt overcomes: an answer that is none, a request that is refused. */
export const finalFailures: Readonly<Record<string, Strike>> = {
  'an answer cut short that does not say so': async (pass, response) => {
    const { status, headers, body } = await pass();
    const { 'content-length': _, ...others } = headers;
    response.writeHead(status, others).end(body.subarray(0, body.length / 2));
  },
  'a role that lost its rights': error(400, 'AccessDeniedException'),
  'a table that is gone': error(400, 'ResourceNotFoundException'),
};

/** No answer, for longer than anyone waits. */
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
