import { type IncomingMessage, request as requestUpstream, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startHttpServer } from '../../infra/local/http-server.ts';

/** What DynamoDB answered. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** What becomes of a request; `pass` lets it through to DynamoDB. */
export type Strike = (pass: () => Promise<Answer>, response: ServerResponse) => Promise<void>;

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
  stop(): Promise<void>;
}

/**
 * Stands before DynamoDB and breaks what it is told to, on the wire. The requests of different users are counted and struck
 * apart, so that tests can run side by side: a request is of the user whose id it holds, as every request here does.
 */
export async function startFaultProxy(endpoint: string): Promise<FaultProxy> {
  const plans = new Map<string, { plan?: Plan | undefined; count: number }>();
  const server = await startHttpServer(0, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const pass = () => forward(endpoint, request, body);
    const of = [...plans].find(([userId]) => body.includes(JSON.stringify(userId)))?.[1];
    if (of === undefined) return send(response, await pass());
    const number = ++of.count;
    if (of.plan === undefined || number < of.plan.from || number >= of.plan.from + of.plan.times) {
      return send(response, await pass());
    }
    await of.plan.strike(pass, response);
  });
  return {
    url: server.url,
    stop: server.stop,
    plan: (userId, plan) => void plans.set(userId, { plan, count: 0 }),
    count: (userId) => plans.get(userId)?.count ?? 0,
  };
}

function forward(endpoint: string, { method, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const upstream = requestUpstream(endpoint, { method, headers }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      resolve({ status: answer.statusCode ?? 500, headers: answer.headers, body: Buffer.concat(chunks) });
    });
    upstream.on('error', reject);
    upstream.end(body);
  });
}

function send(response: ServerResponse, { status, headers, body }: Answer) {
  response.writeHead(status, headers).end(body);
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
    send(response, await pass());
  };
