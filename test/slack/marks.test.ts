import { expect, test } from 'vitest';
import manifest from '../../manifest.json' with { type: 'json' };
import { createLog } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time.ts';
import { commands } from '../../src/commands/index.ts';
import {
  agentId,
  type Change,
  type ChangeId,
  type ChannelId,
  type State,
  type UserId,
} from '../../src/domain/change.ts';
import { LOST_HASH } from '../../src/domain/place.ts';
import { createChannelFinder } from '../../src/slack/channels.ts';
import { createPermalinks } from '../../src/slack/links.ts';
import { markedPost, markOf } from '../../src/slack/marks.ts';
import { createMessenger } from '../../src/slack/messenger.ts';
import { createPlaces } from '../../src/slack/place.ts';
import { changeIn, SUCCESS } from '../domain/changes-fixtures.ts';
import { startSlack } from '../sandbox/slack/bolt-app.ts';
import { clientOf, outcome } from '../sandbox/slack/client.ts';
import { drawing } from './fixtures.ts';

const APPROVALS = 'C0APPROVALS' as ChannelId;
const HASH = 'a'.repeat(43);
const FIRST = { again: false };
const AGAIN = { again: true };
const requires = { ...changeIn('pending').requires, channel: '#db-approvals' };

function change(state: Change['state'], version: number, hash = HASH): Change {
  const outcome = state === 'succeeded' ? SUCCESS : null;
  return { ...changeIn(state, { outcome }), id: '7KQ2MX' as ChangeId, requires, version, hash };
}

async function messengerInSlack() {
  const slack = await startSlack({ manifest });
  const log = createLog({ level: 'silent' });
  const client = clientOf(slack);
  const { bot_id: botId = '' } = await client.auth.test();
  const store = { read: async () => new Map(), remember: async (_: string, id: string) => id };
  const lookups = { lookups: client, home: { workspaces: null }, log, clock: systemClock };
  const messenger = createMessenger({
    ...{ posts: client, lookups: client, botId, drawing, commands, log, clock: systemClock },
    respond: () => Promise.reject(new Error('no response URL')),
    onLost: () => undefined,
    finder: createChannelFinder({ ...lookups, configured: ['#db-approvals'], store }),
    permalinks: createPermalinks({ ...lookups, slackApiUrl: slack.apiUrl }),
    places: createPlaces([Buffer.alloc(32, 1)]),
    idsOf: (user) => [user],
    channels: { approvals: '#db-approvals', audit: '#db-audit' },
    now: () => new Date(),
  });
  return { slack, client, messenger };
}

test('a card has the mark of its last event, and a thread read returns it with the notes', async () => {
  const { messenger } = await messengerInSlack();
  const at = await messenger.postCard(change('pending', 2), FIRST);
  const executing = change('executing', 5, 'b'.repeat(43));
  expect(await messenger.readThread(at)).toMatchObject({
    card: { version: 2, hash: HASH, change: '7KQ2MX', nonce: null },
    notes: [],
  });
  await messenger.redrawCard(executing, at, null, '');
  const claimed = { version: 5, hash: 'b'.repeat(43), nonce: 'n-1' };
  await messenger.postSending(executing, at, claimed);
  await messenger.postThreadNote('Skipped.', at, FIRST);
  expect(await messenger.readThread(at)).toMatchObject({
    card: { version: 5, hash: 'b'.repeat(43) },
    notes: [claimed],
  });
});

test('the card of a schedule shows its last run and the next one', async () => {
  const { messenger, client } = await messengerInSlack();
  const at = await messenger.postCard(change('pending', 2), FIRST);
  const time = (hour: string) => new Date(`2026-11-20T${hour}:00.000Z`);
  const next = { action: 'start', at: time('18:00') } as const;
  const occurrence = { action: 'stop', at: time('06:00') } as const;
  const run = { id: 'R3M9QD' as ChangeId, state: 'unknown' } as const;
  const mark = { version: 3, hash: 'c'.repeat(43) };
  const standing = { mark, zone: 'UTC', isPaused: false, hasEnded: false, next };
  const shown = async (news: Parameters<typeof messenger.redrawCard>[2]) => {
    await messenger.redrawCard(change('succeeded', 6), at, news, 'rev1');
    const { messages = [] } = await client.conversations.history({ channel: APPROVALS });
    return messages[0]?.text ?? '';
  };
  const ran = await shown({ ...standing, last: { occurrence, run, skipped: null } });
  expect(ran).toContain('stop of Fri 20 Nov, 06:00 (UTC): outcome unknown (R3M9QD)');
  expect(ran).toMatch(/Next run.*start /);
  const skipped = 'a freeze holds';
  const paused = { ...standing, isPaused: true, next: null };
  const left = await shown({ ...paused, last: { occurrence, run: null, skipped } });
  expect(left).toContain('(UTC): skipped: a freeze holds');
  expect(left).toMatch(/Next run.*none: it is paused/);
  const ended = await shown({ ...paused, hasEnded: true, last: null });
  expect(ended).toMatch(/Next run.*none: it has ended/);
  expect(ended).not.toContain('Last run');
  // The card shows the last event of the schedule, so that a lost pause or removal is noticed.
  expect((await messenger.readCard(at))?.card).toMatchObject(mark);
});

test('a deleted card is null; a channel that cannot be read is an error', async () => {
  const { messenger, slack } = await messengerInSlack();
  const at = await messenger.postCard(change('pending', 2), FIRST);
  slack.admin.deleteMessage(APPROVALS, at.ts);
  expect(await messenger.readThread(at)).toBeNull();
  const nowhere = { channel: 'C0NOWHERE01' as ChannelId, ts: at.ts };
  expect(await outcome(messenger.readThread(nowhere))).toBe('channel_not_found');
});

test('a mark in a message of another author is none', async () => {
  const { messenger, slack } = await messengerInSlack();
  const at = await messenger.postCard(change('pending', 2), FIRST);
  const text = `s1.2.${HASH}.7KQ2MX.n`;
  await slack.sendMessage({ as: 'U0ANA00001', channel: APPROVALS, threadTs: at.ts, text });
  expect((await messenger.readThread(at))?.notes).toEqual([]);
});

test('after a lost answer a card or a copy is found by its mark, whatever stands beside it', async () => {
  const { messenger } = await messengerInSlack();
  const first = await messenger.postCard(change('pending', 2), FIRST);
  const other = { ...change('pending', 2, 'c'.repeat(43)), id: 'K3M9QD' as ChangeId };
  await messenger.postCard(other, FIRST);
  expect(await messenger.postCard(change('approved', 4), AGAIN)).toEqual(first);
  const ben = 'U0BEN00001' as UserId;
  const copy = await messenger.postDirectCard(change('pending', 2), ben, FIRST);
  expect(await messenger.postDirectCard(change('pending', 2), ben, AGAIN)).toEqual(copy);
});

test('the line of an execution has its claim in its mark, and is posted once', async () => {
  const { messenger, slack } = await messengerInSlack();
  const about = { event: null, nonce: 'n-1' };
  await messenger.postAuditLine(change('succeeded', 6), FIRST, about);
  await messenger.postAuditLine(change('succeeded', 6), AGAIN, about);
  const posts = slack.calls('chat.postMessage');
  expect(posts).toHaveLength(1);
  expect(JSON.stringify(posts[0]?.args)).toContain(`s1.6.${HASH}.7KQ2MX.n-1`);
});

test('a preview is posted once into direct messages, and its buttons count there', async () => {
  const { messenger, slack } = await messengerInSlack();
  const via = { agent: 'copilot', subject: 's', for: 'person' } as const;
  const draft = { ...change('draft', 1), requester: 'U0ANA00001' as UserId, via };
  await messenger.postPreview(draft);
  await messenger.postPreview(draft);
  const posts = slack.calls('chat.postMessage');
  expect(posts).toHaveLength(1);
  const shown = String(posts[0]?.args.blocks);
  expect(posts[0]?.args).toMatchObject({ channel: 'U0ANA00001' });
  expect(shown).toContain('copilot, for you');
  // The change with the mark of its place.
  expect(shown).toMatch(/"value":"7KQ2MX\.[\w-]{22}"/);
});

test('in a channel that is shared with another organization, the words of an agent are withheld', async () => {
  const { messenger, slack } = await messengerInSlack();
  const via = { agent: 'copilot', subject: 's', for: 'person' } as const;
  const asked = { ...change('pending', 2), via, words: 'because of the merger' };
  slack.admin.share('db-approvals');
  await messenger.postCard(asked, FIRST);
  const shown = slack.calls('chat.postMessage').map(({ args }) => String(args.blocks));
  expect(shown.join()).toContain('copilot (agent): “not shown');
  expect(shown.join()).not.toContain('merger');
});

test('the audit channel says who requested what a program asked for', async () => {
  const { messenger, slack } = await messengerInSlack();
  const via = { agent: 'ci', subject: 's', for: 'itself' } as const;
  const byCi = { ...change('succeeded', 6), requester: agentId('ci'), via };
  await messenger.postAuditLine(byCi, FIRST, { event: null, nonce: null });
  expect(slack.calls('chat.postMessage')[0]?.args.text).toContain('requested by agent ci');
});

test('the line of a run names its schedule', async () => {
  const { messenger } = await messengerInSlack();
  const { plan, ...run } = change('succeeded', 3);
  const timing = { startAt: null, revert: null, schedule: 'R3M9QD' as ChangeId };
  const line = { ...run, plan: { ...plan, timing } };
  await messenger.postAuditLine(line, FIRST, { event: null, nonce: 'n-1' });
  const named = { change: '7KQ2MX', schedule: 'R3M9QD', version: 3, hash: HASH };
  expect(await messenger.readMarks(new Date(0), [])).toMatchObject([named]);
});

test('all marks of the channels of cards and of the audit channel are read, and the notes of open cards', async () => {
  const { messenger } = await messengerInSlack();
  const at = await messenger.postCard(change('pending', 2), FIRST);
  await messenger.postThreadNote('A reply without a mark is not read.', at, FIRST);
  await messenger.postSending(change('executing', 5), at, { version: 5, hash: HASH, nonce: 'n-1' });
  await messenger.postAuditLine(change('succeeded', 6), FIRST, { event: null, nonce: 'n-1' });
  const [card, line] = [
    { change: '7KQ2MX', version: 2, isCard: true, isFreeze: false, at },
    { change: '7KQ2MX', version: 6, isCard: false, isFreeze: false },
  ];
  expect(await messenger.readMarks(new Date(0), [])).toMatchObject([card, line]);
  const note = { change: '7KQ2MX', version: 5, isCard: false, at };
  expect(await messenger.readMarks(new Date(0), [at])).toMatchObject([card, line, note]);
  expect(await messenger.readMarks(new Date(Date.now() + 3_600_000), [])).toEqual([]);
});

test('the mark says that a message shows a freeze that was made', async () => {
  const { messenger } = await messengerInSlack();
  const freeze = (state: State) => ({ ...change(state, 2), command: 'change freeze' });
  await messenger.postCard(freeze('approved'), FIRST);
  await messenger.postAuditLine(freeze('succeeded'), FIRST, { event: null, nonce: null });
  const found = await messenger.readMarks(new Date(0), []);
  expect(found.map(({ isFreeze }) => isFreeze)).toEqual([false, true]);
});

test('a change that the log has lost says so, with a mark that no log has', async () => {
  const { messenger, client } = await messengerInSlack();
  const at = await messenger.postCard(change('pending', 2), FIRST);
  await messenger.drawLost('7KQ2MX' as ChangeId, at, null);
  expect(await messenger.readMarks(new Date(0), [])).toMatchObject([
    { change: '7KQ2MX', hash: expect.stringContaining(LOST_HASH), isCard: true },
  ]);
  const { messages = [] } = await client.conversations.history({ channel: APPROVALS });
  expect(messages[0]?.text).toContain('Change 7KQ2MX was lost');
  const other = { version: 3, hash: change('pending', 3).hash, revision: 'other' };
  await messenger.drawLost('7KQ2MX' as ChangeId, at, other);
  expect(await messenger.readMarks(new Date(0), [])).toMatchObject([other]);
});

test('a post is found by its name', async () => {
  const { messenger } = await messengerInSlack();
  const answer = { title: 'Yesterday', parts: [] };
  const name = 'digest/C0APPROVALS/2026-11-20';
  const posted = await messenger.postToChannel(APPROVALS, answer, undefined, name);
  const place = { channel: APPROVALS, threadTs: undefined, since: new Date(0) };
  expect(await messenger.findPost(place, name)).toEqual(posted.ok && posted.at);
  expect(await messenger.findPost(place, `${name}x`)).toBeNull();
});

test.for([
  's1.2.short.7KQ2MX',
  `s2.2.${HASH}.7KQ2MX`,
  `s1.x.${HASH}.7KQ2MX`,
  `s1.2.${HASH}`,
  `s1.2.${HASH}.7KQ2MX.n.more`,
  'card:2',
])('%s is no mark', (block_id) => {
  expect(markOf([{ block_id }])).toBeNull();
  expect(markOf([{}, { block_id: `s1.2.${HASH}.7KQ2MX` }])).toBeNull();
});

test('the longest name of a post fits into a block id', () => {
  const post = { text: 'x', blocks: [{ type: 'divider' as const }] };
  const [block] = markedPost(post, 'n'.repeat(200)).blocks;
  expect(block?.block_id?.length).toBeLessThanOrEqual(255);
});
