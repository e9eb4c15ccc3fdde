import { expect, test } from 'vitest';
import { approvals, startSlack } from './bolt-app.ts';
import { clientOf, outcome, posted } from './client.ts';

const section = (block_id: string) => [
  { type: 'section', block_id, text: { type: 'plain_text', text: 'A card' } },
];

async function started() {
  const slack = await startSlack();
  return { slack, client: clientOf(slack) };
}

test('history and threads return the block ids of messages, and a thread begins with its parent', async () => {
  const { client } = await started();
  const card = await posted(client, { channel: approvals, blocks: section('s1.1.a') });
  const note = { channel: approvals, thread_ts: card, blocks: section('s1.2.b.n') };
  await posted(client, note);
  await client.chat.update({ channel: approvals, ts: card, text: 'x', blocks: section('s1.3.c') });
  const { messages: thread = [] } = await client.conversations.replies({
    channel: approvals,
    ts: card,
  });
  const idsOf = (all: typeof thread) => all.map(({ blocks }) => blocks?.[0]?.block_id);
  expect(idsOf(thread)).toEqual(['s1.3.c', 's1.2.b.n']);
  const { messages: history = [] } = await client.conversations.history({ channel: approvals });
  expect(idsOf(history)).toContain('s1.3.c');
  expect(idsOf(history)).not.toContain('s1.2.b.n');
});

test('Slack refuses a block id of more than 255 characters', async () => {
  const { client } = await started();
  const post = (length: number) =>
    outcome(
      client.chat.postMessage({
        channel: approvals,
        text: 'x',
        blocks: section('b'.repeat(length)),
      }),
    );
  expect([await post(255), await post(256)]).toEqual(['ok', 'invalid_blocks']);
});

test('the thread of a deleted message is not found', async () => {
  const { slack, client } = await started();
  const card = await posted(client, { channel: approvals, text: 'A card' });
  slack.admin.deleteMessage(approvals, card);
  const read = client.conversations.replies({ channel: approvals, ts: card });
  expect(await outcome(read)).toBe('thread_not_found');
});
