import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { Call } from './intercepted-client.ts';

type Output = Awaited<ReturnType<Call['send']>>;

/** What becomes of a call, of the commands that can fail in this way, instead of its answer. */
export interface Fault {
  readonly commands: readonly string[];
  strike(call: Call): Promise<Output>;
}

const anyCommand = ['GetCommand', 'BatchGetCommand', 'TransactWriteCommand'];

const metadata = { $metadata: {}, message: 'injected' };

function canceled(code: string): Fault {
  return {
    commands: ['TransactWriteCommand'],
    async strike(call) {
      const items = call.input.TransactItems as readonly unknown[];
      const CancellationReasons = items.map((_, at) => ({ Code: at === items.length - 1 ? code : 'None' }));
      throw new TransactionCanceledException({ ...metadata, CancellationReasons });
    },
  };
}

function failing(make: () => Error): Fault {
  return {
    commands: anyCommand,
    async strike() {
      throw make();
    },
  };
}

function failingAfterEffect(make: () => Error): Fault {
  return {
    commands: anyCommand,
    async strike(call) {
      await call.send();
      throw make();
    },
  };
}

const timeout = () => Object.assign(new Error('injected'), { name: 'TimeoutError' });
const reset = () => Object.assign(new Error('injected'), { code: 'ECONNRESET' });
const internal = () => new InternalServerError(metadata);

/** None of the keys is answered, or only the first. */
function unprocessed(answered: number): Fault {
  return {
    commands: ['BatchGetCommand'],
    async strike(call) {
      const [[table, { Keys, ...options }]] = Object.entries(call.input.RequestItems as object) as [
        [string, { Keys: readonly unknown[] }],
      ];
      const UnprocessedKeys = { [table]: { Keys: Keys.slice(answered), ...options } };
      if (answered === 0) return { Responses: {}, UnprocessedKeys };
      call.input.RequestItems = { [table]: { Keys: Keys.slice(0, answered), ...options } };
      return { ...(await call.send()), ...(Keys.length > answered && { UnprocessedKeys }) };
    },
  };
}

/** Those that say: not now. Nothing has happened. */
export const contention: Readonly<Record<string, Fault>> = {
  'a lost race': canceled('ConditionalCheckFailed'),
  'a conflicting transaction': canceled('TransactionConflict'),
  'a throttled item': canceled('ThrottlingError'),
  'an exceeded throughput of an item': canceled('ProvisionedThroughputExceeded'),
  'an exceeded throughput': failing(() => new ProvisionedThroughputExceededException(metadata)),
  throttling: failing(() => Object.assign(new Error('injected'), { name: 'ThrottlingException' })),
  'unprocessed keys': unprocessed(0),
};

/** Those after which nobody knows whether anything has happened. */
export const failures: Readonly<Record<string, Fault>> = {
  'an internal error': failing(internal),
  'a timeout': failing(timeout),
  'a timeout after the effect': failingAfterEffect(timeout),
  'an internal error after the effect': failingAfterEffect(internal),
  'a broken connection after the effect': failingAfterEffect(reset),
};

/** A part of the keys is answered: good for one call. */
export const partly: Readonly<Record<string, Fault>> = { 'some unprocessed keys': unprocessed(1) };
