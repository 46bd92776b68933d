import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

type Output = Record<string, unknown>;

/** A call that has not been sent yet: `name` as in `QueryCommand`. `send` sends it. */
export interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
  send(): Promise<Output>;
}

/**
 * The client, with every call handed to `intercept`, which may send it, change its answer, or fail
 * it before or after its effect.
 */
export function interceptedClient(
  client: DynamoDBDocumentClient,
  intercept: (call: Call) => Promise<Output>,
): DynamoDBDocumentClient {
  return new Proxy(client, {
    get(target, property, receiver) {
      if (property !== 'send') return Reflect.get(target, property, receiver);
      return (command: { constructor: { name: string }; input: Record<string, unknown> }) =>
        intercept({
          name: command.constructor.name,
          input: command.input,
          send: () => target.send(command as never) as Promise<Output>,
        });
    },
  });
}
