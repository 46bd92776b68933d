import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SetupProblem } from '../../commands/setup-problem.ts';

/** A listening server and its way to stop. */
export interface HttpServer {
  readonly url: string;
  /** Refuses new connections and ends idle ones at once, the others after half a second. */
  stop(): Promise<void>;
}

/** Bytes of the request line and headers. AWS's own limits are lower; the handlers apply them. */
const maxHeaderBytes = 65_536;

/**
 * Serves on 127.0.0.1; port 0 is any free one. `onUnreadable` answers CONNECT and connections that
 * do not speak HTTP. Every other request reaches `handle`, also one without a Host or with an
 * unknown expectation, which Node would answer by itself. Throws SetupProblem when the port is
 * taken.
 */
export async function startHttpServer(
  port: number,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  onUnreadable?: (error: NodeJS.ErrnoException, socket: Socket) => void,
): Promise<HttpServer> {
  const listener: RequestListener = (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (request.errored === null) console.error(error);
      response.destroy();
    });
  };
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: 65_000, requireHostHeader: false },
    listener,
  );
  server.on('checkExpectation', listener);
  if (onUnreadable !== undefined) {
    server.on('clientError', (error, socket) => onUnreadable(error, socket as Socket));
    server.on('connect', (_, socket) => onUnreadable(new Error('CONNECT asks for a tunnel.'), socket as Socket));
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      const reason = error.code === 'EACCES' ? 'may not be used' : 'is taken';
      reject(
        taken
          ? new SetupProblem(`Port ${port} ${reason}: set PORT to another one, or to 0 for any that is free.`)
          : error,
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      const force = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(force);
    },
  };
}

/**
 * The whole body. Undefined when it is larger than `maxBytes`; the rest is read and thrown away.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= maxBytes ? Buffer.concat(chunks) : undefined;
}

/** A request's target in its parts, still encoded; `search` is without its `?`. */
export function splitTarget(target: string): { path: string; search: string } {
  const relative = target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = relative.indexOf('?');
  const path = mark < 0 ? relative : relative.slice(0, mark);
  return { path: path === '' ? '/' : path, search: mark < 0 ? '' : relative.slice(mark + 1) };
}

export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
