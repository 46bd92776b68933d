import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

type Output = Record<string, unknown>;

/** One call on its way: `name` as in `QueryCommand`; `send` lets it through. */
export interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
  send(): Promise<Output>;
}

/** The client with every call handed to `intercept`, which may pass it on, change its answer, or fail it: before or after its effect. */
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
