import { type IncomingMessage, request as requestUpstream, type ServerResponse } from 'node:http';
import { type HttpServer, startHttpServer } from '../../infra/local/service/http-server.ts';

/** A request on its way. */
export interface PassingRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** What came back. */
export interface PassedAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/**
 * A server before another one: `handle` may let a request pass and answer it with what came back,
 * or do anything else.
 */
export function startPassingServer(
  endpoint: string,
  handle: (
    request: PassingRequest,
    pass: () => Promise<PassedAnswer>,
    answer: (answer: PassedAnswer) => void,
  ) => Promise<void>,
): Promise<HttpServer> {
  return startHttpServer(0, async (incoming, response) => {
    const { method = 'GET', url: target = '/', headers } = incoming;
    const body = await collect(incoming);
    const pass = () =>
      new Promise<PassedAnswer>((resolve, reject) => {
        const upstream = requestUpstream(new URL(target, endpoint), { method, headers }, (answer) => {
          const done = (content: Buffer) =>
            resolve({ status: answer.statusCode ?? 500, headers: answer.headers, body: content });
          collect(answer).then(done, reject);
        });
        upstream.on('error', reject);
        upstream.end(body);
      });
    await handle({ method, target, headers, body, response }, pass, (answer) =>
      response.writeHead(answer.status, answer.headers).end(answer.body),
    );
  });
}

async function collect(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
