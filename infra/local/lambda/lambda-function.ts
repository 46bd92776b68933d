import { availableParallelism } from 'node:os';
import type { FunctionDefinition } from '../template/deployment.ts';
import { type ExecutionEnvironment, startExecutionEnvironment } from './execution-environment.ts';
import { FunctionError } from './function-error.ts';
import { countInvocation } from './lineage.ts';

interface InvokeOptions {
  /** The trace headers that the event's messages came with. */
  readonly traceHeaders?: readonly string[];
  /** Aborted when no caller waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** A function of the deployment, ready to be called. */
export interface LambdaFunction {
  readonly definition: FunctionDefinition;
  /**
   * Calls the function in an execution environment of its own: an idle one, or a new one where all
   * are busy. Waits in line where there are as many as allowed. Throws FunctionError, and the
   * reason of the signal where that is aborted before the call begins.
   */
  invoke(event: unknown, options?: InvokeOptions): Promise<unknown>;
  stop(): Promise<void>;
}

/** Lambda's limit for the event and for the response of a synchronous call: 6 MB. */
const maxPayloadBytes = 6_291_556;
/**
 * One machine has room for few of Lambda's thousand environments: each holds 20 MB or more, and a
 * processor serves one.
 */
const maxEnvironments = Math.max(2, availableParallelism());

/** An environment that waits for the next call of its function. `end` ends it at once. */
interface Idle {
  readonly environment: ExecutionEnvironment;
  timer: NodeJS.Timeout;
  readonly end: () => void;
}

/** An environment beyond a function's first ends when no call has needed it for so long. */
const maxIdleMilliseconds = 5_000;

/**
 * The idle environments of all functions, the one that was used last at the end. Functions are
 * many, and people use a few at a time: when no call has needed one for a minute, those beyond this
 * number end, the first ones first.
 */
const allIdle = new Set<Idle>();
const maxIdle = 6;
const longIdleMilliseconds = 60_000;

function endLongIdle() {
  for (const oldest of allIdle) {
    if (allIdle.size <= maxIdle) return;
    oldest.end();
  }
}

function useIdle(each: Idle) {
  allIdle.delete(each);
  clearTimeout(each.timer);
}

/**
 * Bundles that load at this time, of all functions, and who waits for their turn. As many load at
 * once as there are processors, so that the first is soon there.
 */
const loading = { free: availableParallelism(), waiting: [] as (() => void)[] };

async function startInTurn(start: () => ExecutionEnvironment): Promise<ExecutionEnvironment> {
  if (loading.free > 0) loading.free -= 1;
  else await new Promise<void>((resolve) => loading.waiting.push(resolve));
  const environment = start();
  const passOn = () => {
    const next = loading.waiting.shift();
    if (next === undefined) loading.free += 1;
    else next();
  };
  environment.loaded.then(passOn, passOn);
  return environment;
}

/**
 * Runs a function from its bundle in worker threads. Each has its own modules and sees `variables`,
 * not this process's environment; what it prints goes to `log`, line by line.
 */
export function lambdaFunction(
  definition: FunctionDefinition,
  variables: Readonly<Record<string, string>>,
  log: (line: string) => void,
): LambdaFunction {
  const limit = Math.min(maxEnvironments, definition.reservedConcurrency ?? maxEnvironments);
  const environments = new Set<ExecutionEnvironment>();
  let starting = 0;
  /** The one that was used last is the last. */
  const idle: Idle[] = [];
  /** In the order in which they came. */
  const waiting = new Set<(environment: ExecutionEnvironment | Promise<ExecutionEnvironment>) => void>();

  return {
    definition,
    async invoke(event, { traceHeaders = [], signal } = {}) {
      const traceHeader = countInvocation(definition, traceHeaders);
      const text = JSON.stringify(event);
      if (Buffer.byteLength(text) > maxPayloadBytes) {
        throw new FunctionError('RequestTooLargeException', 'The event is larger than 6 MB.');
      }
      const payload = await inEnvironment((environment) => environment.run(text, traceHeader), signal);
      if (Buffer.byteLength(payload) > maxPayloadBytes) {
        throw new FunctionError('Function.ResponseSizeTooLarge', 'The response is larger than 6 MB.');
      }
      return JSON.parse(payload);
    },
    async stop() {
      for (const each of idle.splice(0)) useIdle(each);
      await Promise.all([...environments].map((environment) => environment.end()));
    },
  };

  async function inEnvironment<Result>(
    work: (environment: ExecutionEnvironment) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const environment = await acquire(signal);
    try {
      await environment.loaded;
      signal?.throwIfAborted();
      return await work(environment);
    } finally {
      release(environment);
    }
  }

  function acquire(signal: AbortSignal | undefined): ExecutionEnvironment | Promise<ExecutionEnvironment> {
    for (let free = idle.pop(); free !== undefined; free = idle.pop()) {
      useIdle(free);
      if (free.environment.isAlive()) return free.environment;
      environments.delete(free.environment);
    }
    if (environments.size + starting < limit) return start();
    return new Promise((resolve, reject) => {
      waiting.add(resolve);
      signal?.addEventListener('abort', () => waiting.delete(resolve) && reject(signal.reason));
    });
  }

  function release(environment: ExecutionEnvironment) {
    if (!environment.isAlive()) environments.delete(environment);
    const [next] = waiting;
    if (next !== undefined) {
      waiting.delete(next);
      next(environment.isAlive() ? environment : start());
    } else if (environment.isAlive()) {
      const timer = setTimeout(() => endOrKeep(each), maxIdleMilliseconds).unref();
      const each: Idle = { environment, timer, end: () => endIdle(each) };
      idle.push(each);
      allIdle.add(each);
    }
  }

  /** One stays, so that the next call need not wait for its bundle. */
  function endOrKeep(each: Idle) {
    if (idle.length > 1) each.end();
    else each.timer = setTimeout(endLongIdle, longIdleMilliseconds).unref();
  }

  function endIdle(each: Idle) {
    useIdle(each);
    idle.splice(idle.indexOf(each), 1);
    environments.delete(each.environment);
    void each.environment.end();
  }

  function start(): Promise<ExecutionEnvironment> {
    starting += 1;
    return startInTurn(() => {
      const environment = startExecutionEnvironment(definition, variables, log);
      starting -= 1;
      environments.add(environment);
      return environment;
    });
  }
}
