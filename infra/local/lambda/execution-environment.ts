import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { compileCache } from '../cache/compile-cache.ts';
import type { FunctionDefinition } from '../template/deployment.ts';
import { FunctionError } from './function-error.ts';
import type { Invocation, WorkerMessage, WorkerSettings } from './lambda-worker.ts';

/**
 * Lambda allows 10 s. A machine that is busy with other things takes longer: this bounds only what
 * hangs.
 */
const maxLoadSeconds = 60;

/**
 * By default, a heap of V8 may fill half of its limit with old objects before they are collected
 * the first time, and 48 MB with young ones: a multiple of what threads need. Holds for all that
 * are started from now on.
 */
setFlagsFromString('--initial-old-space-size=24');
const youngMegabytes = 6;

/**
 * A worker thread that has loaded, or is loading, a function's bundle. It answers one event at a
 * time.
 */
export interface ExecutionEnvironment {
  /** Rejects with FunctionError when the bundle does not load. */
  readonly loaded: Promise<void>;
  /** False once the thread has ended. */
  isAlive(): boolean;
  /**
   * Calls the handler with the event; event and answer are JSON text. Throws FunctionError; after a
   * timeout the thread is gone.
   */
  run(event: string, traceHeader: string): Promise<string>;
  end(): Promise<void>;
}

/**
 * `variables` are added to the runtime's and the definition's; `log` takes what the
 * function prints, line by line.
 */
export function startExecutionEnvironment(
  definition: FunctionDefinition,
  variables: Readonly<Record<string, string>>,
  log: (line: string) => void,
): ExecutionEnvironment {
  const worker = startWorker(definition, variables);
  forwardLines(worker.stdout, log);
  forwardLines(worker.stderr, log);

  const loading = Promise.withResolvers<void>();
  let alive = true;
  let answered: PromiseWithResolvers<string> | undefined;
  const fail = (error: FunctionError) => {
    loading.reject(error);
    answered?.reject(error);
  };
  const end = async () => {
    alive = false;
    await worker.terminate();
  };
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'ready') loading.resolve();
    else if (message.type === 'response') answered?.resolve(message.payload);
    else fail(new FunctionError(message.errorType, message.errorMessage));
  });
  worker.on('error', (error: Error) => fail(new FunctionError('Runtime.ExitError', error.message)));
  worker.on('exit', (code) => {
    alive = false;
    fail(new FunctionError('Runtime.ExitError', `The runtime exited with code ${code}.`));
  });
  const slowLoading = setTimeout(
    () => loading.reject(new FunctionError('Sandbox.Timedout', `It did not load within ${maxLoadSeconds} s.`)),
    maxLoadSeconds * 1000,
  );
  loading.promise.catch(end).finally(() => clearTimeout(slowLoading));

  return { loaded: loading.promise, isAlive: () => alive, run, end };

  async function run(event: string, traceHeader: string): Promise<string> {
    const milliseconds = definition.timeoutSeconds * 1000;
    const invocation: Invocation = {
      event,
      requestId: randomUUID(),
      traceHeader,
      functionArn: definition.arn,
      deadline: Date.now() + milliseconds,
    };
    answered = Promise.withResolvers();
    const timeout = setTimeout(() => {
      void end();
      const message = `${invocation.requestId} Task timed out after ${definition.timeoutSeconds.toFixed(2)} seconds`;
      answered?.reject(new FunctionError('Sandbox.Timedout', message));
    }, milliseconds);
    worker.postMessage(invocation);
    try {
      return await answered.promise;
    } catch (error) {
      if (error instanceof FunctionError) log(`${error.errorType}: ${error.message}`);
      throw error;
    } finally {
      clearTimeout(timeout);
      answered = undefined;
    }
  }
}

function startWorker(definition: FunctionDefinition, variables: Readonly<Record<string, string>>): Worker {
  return new Worker(new URL('./lambda-worker.ts', import.meta.url), {
    workerData: { directory: definition.directory, handler: definition.handler } satisfies WorkerSettings,
    env: { ...runtimeVariables(definition), ...variables, ...definition.environment },
    argv: [],
    resourceLimits: {
      maxOldGenerationSizeMb: definition.memoryMegabytes,
      maxYoungGenerationSizeMb: youngMegabytes,
    },
    stdout: true,
    stderr: true,
  });
}

/** Only complete lines: what a killed thread printed last may be missing. */
function forwardLines(stream: NodeJS.ReadableStream, log: (line: string) => void) {
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) log(line);
  });
}

/** The variables that Lambda itself sets. */
function runtimeVariables(definition: FunctionDefinition): Record<string, string> {
  return {
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMegabytes),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: definition.logGroup,
    AWS_LAMBDA_LOG_STREAM_NAME: `local/${definition.name}[$LATEST]${randomUUID().replaceAll('-', '')}`,
    LAMBDA_TASK_ROOT: definition.directory,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: ':UTC',
    _HANDLER: definition.handler,
    // Not Lambda's own: with it a new environment need not compile the bundle again.
    NODE_COMPILE_CACHE: compileCache,
  };
}
