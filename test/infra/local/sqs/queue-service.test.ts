import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoveryDelaySeconds } from '../../../../functions/data/lifecycle/schedule-recovery.ts';
import { otherFunctions } from '../../../../functions/other-functions.ts';
import type { FunctionDescription } from '../../../../functions/rights.ts';
import { routes } from '../../../../functions/routes.ts';
import { isAllowed } from '../../../../infra/local/iam/policy.ts';
import type { Principal } from '../../../../infra/local/iam/principals.ts';
import { delayFactor, type QueueService, startQueueService } from '../../../../infra/local/sqs/queue-service.ts';

describe('delayFactor', () => {
  it('lets the announcement of an unfinished batch come later than any function runs that sends one', () => {
    const functions: FunctionDescription[] = [...Object.values(routes), ...Object.values(otherFunctions)];
    // Recovery itself sends again what was announced, and begins nothing.
    const announcing = functions.filter(
      ({ uses, entry }) => uses.Recovery?.includes('SendMessage') && entry !== otherFunctions.recoverBatches.entry,
    );
    expect(announcing.length).toBeGreaterThan(5);
    const longest = Math.max(...announcing.map(({ timeoutSeconds }) => timeoutSeconds ?? 15));
    expect(recoveryDelaySeconds / delayFactor).toBeGreaterThan(longest);
  });
});

describe('startQueueService', () => {
  let service: QueueService;
  const arn = (name: string) => `arn:aws:sqs:eu-west-3:1:${name}`;
  const url = (name: string) => `${service.url}/1/${name}`;
  const clientOf = (accessKeyId: string) =>
    new SQSClient({
      endpoint: service.url,
      region: 'eu-west-3',
      credentials: { accessKeyId, secretAccessKey: 'x' },
      maxAttempts: 1,
    });
  const send = (name: string, rest = {}, accessKeyId = 'SENDER') =>
    clientOf(accessKeyId).send(new SendMessageCommand({ QueueUrl: url(name), MessageBody: 'hello', ...rest }));

  beforeAll(async () => {
    const sender: Principal = {
      arn: 'sender',
      credentials: { accessKeyId: 'SENDER', secretAccessKey: 'x' },
      mayDo: (request) =>
        isAllowed(
          [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: [arn('first'), arn('third.fifo')] }],
          request,
        ),
    };
    service = await startQueueService(new Map([['SENDER', sender]]));
    service.create(
      ['first', 'second', 'third.fifo'].map((name) => ({
        name,
        arn: arn(name),
        url: url(name),
        visibilityTimeoutSeconds: 30,
        ...(name.endsWith('.fifo') && { fifo: true as const }),
      })),
    );
  });
  afterAll(() => service.stop());

  it('puts a message into the queue that it names, with its attributes', async () => {
    const attributes = { reason: { DataType: 'String', StringValue: 'because' } };
    const { MessageId } = await send('first', { MessageAttributes: attributes });
    expect(service.find(arn('first')).messages()).toMatchObject([
      { messageId: MessageId, body: 'hello', attributes: { reason: 'because' } },
    ]);
    expect(service.find(url('second')).messages()).toEqual([]);
  });

  it("takes a FIFO queue's ids, and answers with the sequence number", async () => {
    const ids = { MessageGroupId: 'g', MessageDeduplicationId: 'd' };
    const first = await send('third.fifo', ids);
    expect(first.SequenceNumber).toMatch(/^\d{20}$/);
    expect(await send('third.fifo', ids)).toMatchObject({ MessageId: first.MessageId });
    expect(service.find(arn('third.fifo')).messages()).toMatchObject([{ groupId: 'g', deduplicationId: 'd' }]);
    await expect(send('third.fifo')).rejects.toMatchObject({ name: 'MissingParameter' });
  });

  it('checks the role of the sender for each queue', async () => {
    await expect(send('second')).rejects.toMatchObject({ name: 'AccessDeniedException' });
    await expect(send('first', {}, 'NOBODY')).rejects.toMatchObject({ name: 'UnrecognizedClientException' });
    expect(service.find(arn('second')).messages()).toEqual([]);
  });

  it('refuses a queue that does not exist', async () => {
    await expect(send('fourth')).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
    expect(() => service.find(arn('fourth'))).toThrow('fourth');
  });

  it('refuses a message of more than 1 MiB', async () => {
    await expect(send('first', { MessageBody: 'x'.repeat(1_048_577) })).rejects.toMatchObject({
      name: 'InvalidMessageContents',
    });
  });
});
