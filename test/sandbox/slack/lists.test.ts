import { expect, test } from 'vitest';
import { z } from 'zod';
import { largeWorkspace } from '../../../sandbox/slack/workspace/large-workspace.ts';
import { ana, general, manifest, startSlack } from './bolt-app.ts';
import { clientOf, outcome } from './client.ts';

const Page = z.looseObject({
  channels: z.array(z.looseObject({ name: z.string() })).default([]),
  members: z.array(z.unknown()).default([]),
});

async function pagesOf(
  slack: Awaited<ReturnType<typeof startSlack>>,
  method: string,
  args: Record<string, unknown>,
) {
  const pages: z.infer<typeof Page>[] = [];
  for await (const page of clientOf(slack).paginate(method, args)) pages.push(Page.parse(page));
  return pages;
}

test('20,000 channels come in pages, of which some are short and some are empty', async () => {
  const slack = await startSlack({ workspace: largeWorkspace() });
  const args = { limit: 999, exclude_archived: true };
  const pages = await pagesOf(slack, 'conversations.list', args);
  const sizes = pages.map(({ channels }) => channels.length);
  expect(sizes).toHaveLength(21);
  expect(sizes.slice(0, 9)).toEqual([500, 499, 500, 499, 500, 2, 0, 0, 496]);
  expect(pages.at(-1)?.channels.map(({ name }) => name)).toContain('db-approvals');
});

test('10,000 people come in pages, and so do the members of their channel', async () => {
  const slack = await startSlack({ workspace: largeWorkspace() });
  const people = await pagesOf(slack, 'users.list', { limit: 999 });
  expect(people.flatMap(({ members }) => members)).toHaveLength(10_011);
  const members = await pagesOf(slack, 'conversations.members', { channel: general, limit: 999 });
  expect(members.flatMap((page) => page.members)).toHaveLength(10_008);
  expect(await outcome(clientOf(slack).users.list({}))).toBe('limit_required');
});

test.for<[string, string, Record<string, unknown>, string]>([
  ['1000 channels in one page', 'conversations.list', { limit: 1000 }, 'invalid_limit'],
  ['1000 people in one page', 'users.list', { limit: 1000 }, 'invalid_limit'],
  ['1000 members', 'conversations.members', { channel: general, limit: 1000 }, 'invalid_limit'],
  ['an unknown cursor', 'conversations.list', { cursor: 'bm9uZQ==' }, 'invalid_cursor'],
  ['a type without its scope', 'conversations.list', { types: 'im' }, 'missing_scope'],
  ['an unknown type', 'conversations.list', { types: 'dm' }, 'invalid_types'],
])('Slack refuses %s', async ([, method, args, error]) => {
  const slack = await startSlack();
  expect(await outcome(clientOf(slack).apiCall(method, args))).toBe(error);
});

test('a private channel of others is in no list', async () => {
  const scopes = { bot: ['groups:read'] };
  const slack = await startSlack({ manifest: { ...manifest, oauth_config: { scopes } } });
  const secret = { id: 'C0SECRET001', name: 'secret', kind: 'private', topic: '' } as const;
  slack.admin.addChannel({ ...secret, members: [ana], archived: false });
  const listed = () => pagesOf(slack, 'conversations.list', { types: 'private_channel' });
  expect(await listed()).toMatchObject([{ channels: [] }]);
  slack.admin.invite('secret', slack.workspace.botUserId);
  expect(await listed()).toMatchObject([{ channels: [{ name: 'secret' }] }]);
});
