import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpServer, startHttpServer } from './service/http-server.ts';

/** Answers the requests of the stack's own port. */
export interface FrontHandler {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** A connection that does not speak HTTP. */
  handleUnreadable(error: NodeJS.ErrnoException, socket: Socket): void;
}

/** The server of the stack's own port. */
export interface FrontServer extends HttpServer {
  /** Answers from now on, including the requests that came before. */
  open(handler: FrontHandler): void;
}

/**
 * Takes the port before there is anything to serve, since the issuer's address is part of the
 * template. Early requests wait. Throws SetupProblem when the port is taken.
 */
export async function startFrontServer(port: number): Promise<FrontServer> {
  const opened = Promise.withResolvers<FrontHandler>();
  let unreadable: FrontHandler['handleUnreadable'] = (_, socket) => socket.destroy();
  const server = await startHttpServer(
    port,
    async (request, response) => (await opened.promise).handle(request, response),
    (error, socket) => unreadable(error, socket),
  );
  return {
    ...server,
    open(handler) {
      unreadable = handler.handleUnreadable;
      opened.resolve(handler);
    },
  };
}
