import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type OutgoingMessage, sendMessage } from '../../../../functions/data/aws/message-queue.ts';
import { startMessageSink } from '../../../support/message-sink.ts';

const sink = await startMessageSink();
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new SQSClient({ endpoint: sink.url, region: 'eu-west-3', credentials, maxAttempts: 1 });
const send = (message: OutgoingMessage) => sendMessage({ url: `${sink.url}/000000000000/letters`, client }, message);

beforeEach(() => {
  sink.messages.length = 0;
  sink.refusing = false;
});

afterAll(() => sink.stop());

describe('sendMessage', () => {
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

  it('escapes those characters of JSON that SQS refuses', async () => {
    const value = {
      webhook: 'https://receiver.example.org/\u{ffff}',
      text: '\u{fffe}\u0000\ud800é\ufffd\u007f\u{1f600}\\uffff',
    };
    await send({ body: JSON.stringify(value), attributes: {} });
    const { body } = sink.messages[0]!;
    expect(body).toMatch(/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u);
    expect(JSON.parse(body)).toEqual(value);
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
