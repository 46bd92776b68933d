import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { FunctionDefinition } from '../template/deployment.ts';
import { compileCache } from './compile-cache.ts';
import type { Invocation, WorkerMessage, WorkerSettings } from './lambda-worker.ts';

/** A function of the deployment, ready to be called. */
export interface LambdaFunction {
  readonly definition: FunctionDefinition;
  /**
   * Calls the function in an execution environment of its own, a new one where all are busy, and waits in line where
   * there are as many as allowed. Throws FunctionError.
   */
  invoke(event: unknown): Promise<unknown>;
  /** Starts one execution environment, so that the first call finds it. Throws FunctionError when it does not load. */
  warm(): Promise<void>;
  stop(): Promise<void>;
}

/** The function threw, ran out of time or memory, did not load, or its event or response broke Lambda's limits. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/** Lambda's limit for the event and for the response of a synchronous call: 6 MB. */
const payloadLimit = 6_291_556;
const initSeconds = 10;
/** One machine stands in for Lambda's thousand environments. */
const maximumEnvironments = Math.max(4, 2 * availableParallelism());

interface Environment {
  readonly worker: Worker;
  readonly loaded: Promise<void>;
  /** Where the answer of the running invocation goes. */
  waiting: { resolve(payload: string): void; reject(error: FunctionError): void } | undefined;
}

/**
 * Runs a function from its bundle in worker threads. Each has its own modules and sees `environment`, not this
 * process's; what it writes goes to `log`, line by line.
 */
export function lambdaFunction(
  definition: FunctionDefinition,
  environment: Readonly<Record<string, string>>,
  log: (line: string) => void,
): LambdaFunction {
  const limit = Math.min(maximumEnvironments, definition.reservedConcurrency ?? maximumEnvironments);
  const all = new Set<Environment>();
  const idle: Environment[] = [];
  const line: ((environment: Environment) => void)[] = [];

  return {
    definition,
    async invoke(event) {
      const text = JSON.stringify(event);
      if (Buffer.byteLength(text) > payloadLimit) {
        throw new FunctionError('RequestTooLargeException', 'The event is larger than 6 MB.');
      }
      const payload = await inEnvironment((environment) => run(environment, text));
      if (Buffer.byteLength(payload) > payloadLimit) {
        throw new FunctionError('Function.ResponseSizeTooLarge', 'The response is larger than 6 MB.');
      }
      return JSON.parse(payload);
    },
    warm: () => inEnvironment((environment) => environment.loaded),
    async stop() {
      await Promise.all([...all].map(({ worker }) => worker.terminate()));
    },
  };

  async function inEnvironment<Result>(work: (environment: Environment) => Promise<Result>): Promise<Result> {
    const environment = await acquire();
    try {
      await environment.loaded;
      return await work(environment);
    } finally {
      release(environment);
    }
  }

  function acquire(): Environment | Promise<Environment> {
    const free = idle.pop();
    if (free !== undefined) return free;
    if (all.size < limit) return start();
    return new Promise((resolve) => line.push(resolve));
  }

  function release(environment: Environment) {
    const next = line.shift();
    if (next !== undefined) next(all.has(environment) ? environment : start());
    else if (all.has(environment)) idle.push(environment);
  }

  function start(): Environment {
    const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: { directory: definition.directory, handler: definition.handler } satisfies WorkerSettings,
      env: {
        ...runtimeEnvironment(definition),
        ...environment,
        ...definition.environment,
      },
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: definition.memoryMegabytes },
      stdout: true,
      stderr: true,
    });
    logLines(worker.stdout);
    logLines(worker.stderr);
    const { promise: loaded, resolve, reject } = Promise.withResolvers<void>();
    const created: Environment = { worker, loaded, waiting: undefined };
    all.add(created);
    loaded.catch(() => end(created));
    const slow = setTimeout(
      () => reject(new FunctionError('Sandbox.Timedout', `It did not load within ${initSeconds} s.`)),
      initSeconds * 1000,
    );
    loaded.then(
      () => clearTimeout(slow),
      () => clearTimeout(slow),
    );
    const fail = (error: FunctionError) => {
      reject(error);
      created.waiting?.reject(error);
    };
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'ready') resolve();
      else if (message.type === 'response') created.waiting?.resolve(message.payload);
      else fail(new FunctionError(message.errorType, message.errorMessage));
    });
    worker.on('error', (error: Error) => fail(new FunctionError('Runtime.ExitError', error.message)));
    worker.on('exit', (code) => {
      all.delete(created);
      const index = idle.indexOf(created);
      if (index >= 0) idle.splice(index, 1);
      fail(new FunctionError('Runtime.ExitError', `The runtime exited with code ${code}.`));
    });
    return created;
  }

  async function run(environment: Environment, event: string): Promise<string> {
    const milliseconds = definition.timeoutSeconds * 1000;
    const invocation: Invocation = {
      event,
      requestId: randomUUID(),
      functionArn: definition.arn,
      deadline: Date.now() + milliseconds,
    };
    const answered = Promise.withResolvers<string>();
    environment.waiting = answered;
    const late = setTimeout(() => {
      end(environment);
      const message = `${invocation.requestId} Task timed out after ${definition.timeoutSeconds.toFixed(2)} seconds`;
      answered.reject(new FunctionError('Sandbox.Timedout', message));
    }, milliseconds);
    environment.worker.postMessage(invocation);
    try {
      return await answered.promise;
    } catch (error) {
      if (error instanceof FunctionError) log(`${error.errorType}: ${error.message}`);
      throw error;
    } finally {
      clearTimeout(late);
      environment.waiting = undefined;
    }
  }

  function end(environment: Environment) {
    all.delete(environment);
    void environment.worker.terminate();
  }

  function logLines(stream: NodeJS.ReadableStream) {
    let rest = '';
    stream.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const each of lines) log(each);
    });
  }
}

/** The variables that Lambda itself sets. */
function runtimeEnvironment(definition: FunctionDefinition): Record<string, string> {
  return {
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMegabytes),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${randomUUID().replaceAll('-', '')}`,
    LAMBDA_TASK_ROOT: definition.directory,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: ':UTC',
    _HANDLER: definition.handler,
    // Not Lambda's: a new environment need not compile the bundle again.
    NODE_COMPILE_CACHE: compileCache,
  };
}
