/**
 * The Lambda runtime of one execution environment, in a worker thread. It loads the handler once,
 * then answers one event at a time. Events and responses are passed as JSON text, as in Lambda.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';

/** What the worker is created with. */
export interface WorkerSettings {
  readonly directory: string;
  readonly handler: string;
}

export interface Invocation {
  readonly event: string;
  readonly requestId: string;
  readonly traceHeader: string;
  readonly functionArn: string;
  /** Milliseconds since 1970. */
  readonly deadline: number;
}

/**
 * The first is `ready`, or `error` when loading failed. Then each invocation has a `response` or an
 * `error`.
 */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'response'; readonly payload: string }
  | { readonly type: 'error'; readonly errorType: string; readonly errorMessage: string };

type Handler = (event: unknown, context: Context) => unknown;

const port = parentPort!;
const send = (message: WorkerMessage) => port.postMessage(message);

function sendError(error: unknown) {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) };
  console.error(error);
  send({ type: 'error', errorType: name, errorMessage: message });
}

try {
  const handler = await loadHandler(workerData as WorkerSettings);
  port.on('message', (invocation: Invocation) => void answer(handler, invocation));
  send({ type: 'ready' });
} catch (error) {
  sendError(error);
}

async function loadHandler({ directory, handler }: WorkerSettings): Promise<Handler> {
  const dot = handler.lastIndexOf('.');
  const [file, name] = [handler.slice(0, dot), handler.slice(dot + 1)];
  const path = ['.js', '.mjs', '.cjs'].map((extension) => join(directory, file + extension)).find(existsSync);
  if (path === undefined) throw new Error(`Cannot find module '${file}'`);
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  const found = module[name];
  if (typeof found !== 'function') throw new Error(`${handler} is undefined or not exported`);
  return found as Handler;
}

async function answer(handler: Handler, { event, requestId, traceHeader, functionArn, deadline }: Invocation) {
  const { env } = process;
  // The SDK sends it along with every call.
  env._X_AMZN_TRACE_ID = traceHeader;
  const context = {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME!,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION!,
    invokedFunctionArn: functionArn,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME!,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME!,
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE!,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    // Node 24's runtime has no callbacks.
    done: undefined as never,
    fail: undefined as never,
    succeed: undefined as never,
  } satisfies Context;
  try {
    const response: unknown = await handler(JSON.parse(event), context);
    send({ type: 'response', payload: JSON.stringify(response) ?? 'null' });
  } catch (error) {
    sendError(error);
  }
}
