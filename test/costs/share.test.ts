import { expect, test } from 'vitest';
import { share, shareOffer } from '../../src/costs/share.ts';
import type { Answer } from '../../src/domain/answer.ts';
import type { ChannelId, UserId } from '../../src/domain/change.ts';
import { written } from './written.ts';

const ANA = 'U0ANA00001' as UserId;
const ANSWER: Answer = {
  title: '1–19 Nov (UTC): 2,347.0 credits',
  parts: [
    { kind: 'text', text: 'On average 123.5 credits per day.' },
    { kind: 'offers', offers: [shareOffer('cost mtd')] },
  ],
};

async function shared(channel: string | null, { outside = false, refused = false } = {}) {
  const posted: string[] = [];
  const room = { id: 'C0COSTS' as ChannelId, name: 'costs', outside, joined: true };
  const poster = {
    findChannels: async () => new Map([['C0COSTS', { ok: true, room } as const]]),
    postToChannel: async (to: ChannelId, answer: Answer) => {
      if (refused) return { ok: false, why: 'is_archived', again: false } as const;
      posted.push(`${to}\n${written(answer)}`);
      return { ok: true, at: { channel: to, ts: '1.1' } } as const;
    },
  };
  const by = { by: ANA, channel: channel as ChannelId | null };
  const answer = await share(ANSWER, 'cost mtd', { poster }, by);
  return { posted, text: written(answer) };
}

test('an answer is posted under the name of the user who shares it, without buttons', async () => {
  const { posted, text } = await shared('C0COSTS');
  expect(posted).toEqual([
    'C0COSTS\n1–19 Nov (UTC): 2,347.0 credits\n@U0ANA00001 shared “cost mtd”\nOn average 123.5 credits per day.',
  ]);
  expect(text).toBe('Shared\nPosted in this channel: 1–19 Nov (UTC): 2,347.0 credits');
});

test.for<[string, string | null, object, string]>([
  ['a direct message', 'D0ANA', {}, 'Ask in the channel'],
  ['the Home tab', null, {}, 'Ask in the channel'],
  [
    'a channel that is shared with another workspace',
    'C0COSTS',
    { outside: true },
    'is shared with another workspace',
  ],
  ['a channel that refuses', 'C0COSTS', { refused: true }, 'refused the message: is_archived.'],
])('nothing is shared in %s', async ([, channel, how, why]) => {
  const { posted, text } = await shared(channel, how);
  expect(posted).toEqual([]);
  expect(text).toContain(`Not shared\n`);
  expect(text).toContain(why);
});
