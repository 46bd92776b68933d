import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { Call } from './intercepted-client.ts';

type Output = Awaited<ReturnType<Call['send']>>;

/**
 * A way in which calls of these commands can fail. `strike` takes the place of sending the call.
 */
export interface Fault {
  readonly commands: readonly string[];
  strike(call: Call): Promise<Output>;
}

const anyCommand = ['GetCommand', 'BatchGetCommand', 'TransactWriteCommand'];

const metadata = { $metadata: {}, message: 'injected' };

interface TransactItem {
  readonly [kind: string]: { readonly ConditionExpression?: string };
}

/** Cancels at the last item that has a condition: only there can a condition fail. */
function cancelWith(code: string): Fault {
  return {
    commands: ['TransactWriteCommand'],
    async strike(call) {
      const items = call.input.TransactItems as readonly TransactItem[];
      const last = items.findLastIndex((item) =>
        Object.values(item).some(({ ConditionExpression }) => ConditionExpression !== undefined),
      );
      if (last === -1) throw new Error('No item of the transaction has a condition.');
      const CancellationReasons = items.map((_, at) => ({ Code: at === last ? code : 'None' }));
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
const denied = () => Object.assign(new Error('injected'), { name: 'AccessDeniedException', $fault: 'client' });

/** Answers none of the keys, or only the first ones. */
function leaveUnprocessed(answered: number): Fault {
  return {
    commands: ['BatchGetCommand'],
    async strike(call) {
      const requests = Object.entries(call.input.RequestItems as Record<string, { Keys: readonly unknown[] }>);
      const keys = requests.flatMap(([table, { Keys }]) => Keys.map((key) => ({ table, key })));
      const some = (of: typeof keys) => {
        const byTable = Map.groupBy(of, ({ table }) => table);
        const asked = requests.filter(([table]) => byTable.has(table));
        return Object.fromEntries(
          asked.map(([table, request]) => [table, { ...request, Keys: byTable.get(table)!.map(({ key }) => key) }]),
        );
      };
      const UnprocessedKeys = some(keys.slice(answered));
      if (answered === 0) return { Responses: {}, UnprocessedKeys };
      call.input.RequestItems = some(keys.slice(0, answered));
      return { ...(await call.send()), ...(keys.length > answered && { UnprocessedKeys }) };
    },
  };
}

/** DynamoDB refuses for now. Nothing was written. */
export const contention: Readonly<Record<string, Fault>> = {
  'a lost race': cancelWith('ConditionalCheckFailed'),
  'a conflicting transaction': cancelWith('TransactionConflict'),
  'a throttled item': cancelWith('ThrottlingError'),
  'an exceeded throughput of an item': cancelWith('ProvisionedThroughputExceeded'),
  'an exceeded throughput': failing(() => new ProvisionedThroughputExceededException(metadata)),
  throttling: failing(() => Object.assign(new Error('injected'), { name: 'ThrottlingException' })),
  'unprocessed keys': leaveUnprocessed(0),
};

/** The caller cannot know whether anything was written. */
export const failures: Readonly<Record<string, Fault>> = {
  'an internal error': failing(internal),
  'a timeout': failing(timeout),
  'a timeout after the effect': failingAfterEffect(timeout),
  'an internal error after the effect': failingAfterEffect(internal),
  'a broken connection after the effect': failingAfterEffect(reset),
};

/** A mistake of ours: it is not repeated. */
export const mistakes: Readonly<Record<string, Fault>> = {
  'a denial': failing(denied),
  'a denial after the effect': failingAfterEffect(denied),
};

/** Only some keys are answered. As a lasting fault it would still make progress. */
export const partly: Readonly<Record<string, Fault>> = { 'some unprocessed keys': leaveUnprocessed(1) };

/** The function ends before this call, whatever it is. */
export const killed: Fault = {
  commands: [...anyCommand, 'QueryCommand'],
  async strike() {
    throw new Error('killed');
  },
};
