import { expect, test } from 'vitest';
import type { SlackContext } from '../../src/slack/context.ts';
import { answerDirectMessage } from '../../src/slack/listeners.ts';

/** Whatever is read from this context throws: a message without an answer reads nothing. */
const untouched = new Proxy({} as SlackContext, {
  get: (_, name) => {
    throw new Error(`read ${String(name)}`);
  },
});

const event = { user: 'U0ANA00001', channel: 'D0ANA00001', channel_type: 'im', text: 'hello' };
const bodyOf = (more: object) => ({ event_id: 'Ev1', event: { ...event, ...more } });

test('a message of a user is answered', async () => {
  await expect(answerDirectMessage(untouched, bodyOf({}))).rejects.toThrow('read ');
});

test.for<[string, object]>([
  ['a message of an app', { bot_id: 'B0SIGNALBOX' }],
  ['an edited message', { subtype: 'message_changed' }],
  ['a message in a channel', { channel: 'C0OPS000001', channel_type: 'channel' }],
  ['a message without a user', { user: undefined }],
])('%s gets no answer', async ([, more]) => {
  await expect(answerDirectMessage(untouched, bodyOf(more))).resolves.toBeUndefined();
});
