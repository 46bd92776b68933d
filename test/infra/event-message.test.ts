import { describe, expect, it } from 'vitest';
import { eventMessage } from '../../infra/commands/event-message.ts';

describe('eventMessage', () => {
  it('groups by owner and deduplicates by the id of the event', () => {
    const event = { id: 'batch.created/1', user_id: 'auth0|42', type: 'batch.created' };
    expect(eventMessage(event)).toEqual({
      body: JSON.stringify(event),
      groupId: 'auth0|42',
      deduplicationId: 'batch.created/1',
    });
  });

  it.each(['ada lovelace', 'ü', 'x'.repeat(129)])(
    'takes the hash of an owner that SQS does not take for an id: %s',
    (user_id) => {
      const { groupId } = eventMessage({ id: '1', user_id });
      expect(groupId).toMatch(/^[0-9a-f]{64}$/);
      expect(eventMessage({ id: '2', user_id }).groupId).toBe(groupId);
      expect(eventMessage({ id: '1', user_id: `${user_id}!` }).groupId).not.toBe(groupId);
    },
  );

  it.each([null, 'text', 7, [], {}, { id: 7, user_id: '' }])(
    'sends %j, which is not an event, each time anew',
    (event) => {
      const [first, second] = [eventMessage(event), eventMessage(event)];
      expect(first.body).toBe(JSON.stringify(event));
      expect(first.groupId).toBe(second.groupId);
      expect(first.deduplicationId).not.toBe(second.deduplicationId);
    },
  );
});
