import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { messageSender } from '../../../functions/data/message-sender.ts';
import { startMessageSink } from '../../support/message-sink.ts';

const sink = await startMessageSink();
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new SQSClient({ endpoint: sink.url, region: 'eu-west-3', credentials, maxAttempts: 1 });
const { send } = messageSender(`${sink.url}/000000000000/letters`, client);

beforeEach(() => {
  sink.messages.length = 0;
  sink.refusing = false;
});

afterAll(() => sink.stop());

describe('messageSender', () => {
  it('sends body, attributes and ids of a message to its queue', async () => {
    const fifo = { groupId: 'auth0|ada', deduplicationId: 'e-1' };
    await send({ body: 'text', attributes: { reason: 'because' }, fifo });
    expect(sink.messages).toEqual([
      {
        queue: 'letters',
        body: 'text',
        attributes: { reason: 'because' },
        groupId: 'auth0|ada',
        deduplicationId: 'e-1',
      },
    ]);
  });

  it('leaves empty attributes out, cuts long ones, and replaces characters that SQS refuses', async () => {
    const reason = 'a\u0000b\ud800c\u{1f600}';
    await send({ body: 'text', attributes: { empty: '', long: 'x'.repeat(2_000), reason } });
    expect(sink.messages[0]?.attributes).toEqual({ long: 'x'.repeat(1_000), reason: 'a\ufffdb\ufffdc\u{1f600}' });
  });

  it('sends a message that has no room for attributes without them', async () => {
    const attributes = { reason: 'because' };
    const room = 1_048_576 - 'reasonbecauseString'.length;
    await send({ body: 'é'.repeat(Math.floor(room / 2)), attributes });
    await send({ body: 'x'.repeat(room + 1), attributes });
    expect(sink.messages.map((message) => message.attributes)).toEqual([attributes, {}]);
  });

  it('throws when the queue does not take the message', async () => {
    sink.refusing = true;
    await expect(send({ body: 'text', attributes: {} })).rejects.toThrow('gone');
  });
});
