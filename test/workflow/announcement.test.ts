import { expect, test } from 'vitest';
import type { PostResult } from '../../src/domain/answer.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import {
  type Announcement,
  enqueueRedraw,
  enqueueReport,
  positionOf,
  postedKeysUnder,
} from '../../src/log/old/announcement.ts';
import { claimDueMessages } from '../../src/storage/old/outbox.ts';
import { deliver } from '../../src/workflow/old/deliver.ts';
import { workflowJobs } from '../../src/workflow/old/maintenance.ts';
import type { Messenger } from '../../src/workflow/old/messenger-port.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { createTestContext } from './context.ts';

const CHANNEL = 'C0COSTS' as ChannelId;
const answer = { title: 'Unusual cost', parts: [] };
const report = { key: 'incident 1', channel: '#db-costs', thread: null, answer };

/** A Slack that answers each post in turn, and keeps the threads and the notices to operators. */
function slackThat(...answers: readonly (PostResult | Error)[]) {
  const asked: (string | undefined)[] = [];
  const notices: string[] = [];
  const messenger: Partial<Messenger> = {
    findChannels: async ([name = '']) =>
      new Map([
        [name, { ok: true, room: { id: CHANNEL, name, outside: name === '#open', joined: true } }],
      ]),
    postToChannel: async (_to, _answer, thread) => {
      const said = answers[asked.length];
      asked.push(thread);
      if (said instanceof Error || !said) throw said ?? new Error('asked too often');
      return said;
    },
    notifyOperators: async (text) => void notices.push(text),
  };
  // An announcement uses no other call.
  return { asked, notices, messenger: messenger as Messenger };
}

const posted: PostResult = { ok: true, at: { channel: CHANNEL, ts: '1.1' } };
const tooFast: PostResult = { ok: false, why: 'ratelimited', again: true };
const gone: PostResult = { ok: false, why: 'is_archived', again: false };

async function worldWith(slack: ReturnType<typeof slackThat>) {
  const { context, clock } = await createTestContext();
  const own: WorkflowContext = { ...context, messenger: slack.messenger };
  const send = (more: Partial<Announcement> = {}) =>
    own.database.transaction((tx) => enqueueReport(tx, { ...report, ...more }, clock.now));
  const pass = async (minutes = 0) => {
    clock.now = new Date(clock.now.getTime() + minutes * 60_000);
    return deliver(own);
  };
  return { context: own, clock, send, pass };
}

test('an announcement is posted once per key, however often it is enqueued', async () => {
  const slack = slackThat(posted);
  const { send, pass, context } = await worldWith(slack);
  await send();
  await send();
  await pass();
  await pass(5);
  expect(slack.asked).toHaveLength(1);
  expect(await positionOf(context, 'incident 1')).toEqual({ channel: CHANNEL, ts: '1.1' });
});

test.for<[string, readonly (PostResult | Error)[], number, RegExp | null]>([
  ['a rate limit is retried', [tooFast, posted], 2, null],
  ['an archived channel is reported, not retried', [gone], 1, /was not posted: .*is_archived/],
  ['a lost answer is reported, not retried', [new Error('timeout')], 1, /Outcome unknown/],
])('%s', async ([, answers, times, notice]) => {
  const slack = slackThat(...answers);
  const { send, pass } = await worldWith(slack);
  await send();
  for (let pass_ = 0; pass_ < 4; pass_ += 1) await pass(5);
  expect(slack.asked).toHaveLength(times);
  expect(slack.notices).toEqual(notice === null ? [] : [expect.stringMatching(notice)]);
});

test('after a crash between permit and post the announcement is reported once, not posted', async () => {
  const slack = slackThat(posted);
  const { context, send, pass, clock } = await worldWith(slack);
  await send();
  await context.database.transaction(async (tx) => {
    await claimDueMessages(tx, { owner: 'dead', now: clock.now, leaseMs: 60_000, limit: 10 });
    const value = `sending ${clock.now.toISOString()}`;
    await tx.insertInto('meta').values({ key: 'post:incident 1', value }).execute();
  });
  await pass(5);
  expect(slack.notices).toEqual([]);
  for (const minutes of [5, 5, 5]) await pass(minutes);
  expect(slack.asked).toEqual([]);
  expect(slack.notices).toEqual([expect.stringContaining('"Unusual cost" for #db-costs')]);
  // A later announcement of the same key is neither posted nor reported again.
  await send();
  await pass(5);
  expect(slack.asked).toEqual([]);
  expect(slack.notices).toHaveLength(1);
});

test('a follow-up is posted into the thread, or alone if the announcement was not posted', async () => {
  const slack = slackThat(posted, posted, posted);
  const { send, pass } = await worldWith(slack);
  await send();
  await pass();
  await send({ key: 'incident 1 over', thread: 'incident 1' });
  await send({ key: 'incident 2 over', thread: 'incident 2' });
  await pass();
  expect(slack.asked).toEqual([undefined, '1.1', undefined]);
});

test('nothing is posted to a shared channel, and operators are notified', async () => {
  const slack = slackThat(posted);
  const { send, pass } = await worldWith(slack);
  await send({ channel: '#open' });
  await pass();
  await pass();
  expect(slack.asked).toEqual([]);
  expect(slack.notices).toEqual([expect.stringContaining('shared with another workspace')]);
});

test.for([
  [90, 'posted'],
  [24 * 60 + 6, 'reported as missed'],
] as const)('an announcement during %i minutes without Slack is %s', async ([minutes, end]) => {
  const slack = slackThat(posted);
  const { findChannels } = slack.messenger;
  slack.messenger.findChannels = async ([name = '']) =>
    new Map([[name, { ok: false, why: 'lookup-failed' }]]);
  const { send, pass } = await worldWith(slack);
  await send();
  for (let passed = 0; passed < minutes; passed += 0.5) await pass(0.5);
  slack.messenger.findChannels = findChannels;
  await pass(6);
  await pass();
  expect(slack.asked).toHaveLength(end === 'posted' ? 1 : 0);
  expect(slack.notices).toHaveLength(end === 'posted' ? 0 : 1);
});

/** A Slack that takes every post, and answers a redraw in turn as it is told. */
function slackThatRedraws(...answers: readonly PostResult[]) {
  const redrawn: string[] = [];
  const slack = slackThat(posted, posted);
  const updateMessage: Messenger['updateMessage'] = async ({ ts }, { title }) => {
    redrawn.push(`${ts} ${title}`);
    return answers[redrawn.length - 1] ?? expect.fail('asked too often');
  };
  return { ...slack, redrawn, messenger: { ...slack.messenger, updateMessage } };
}

const over = { key: 'incident 1', answer: { title: 'Over', parts: [] } };

test.for<[string, readonly PostResult[], readonly string[]]>([
  ['is redrawn in its place', [posted], ['1.1 Over']],
  ['is drawn later where Slack asked to wait', [tooFast, posted], ['1.1 Over', '1.1 Over']],
  ['that was deleted is left alone', [gone], ['1.1 Over']],
])('an announcement %s', async ([, answers, redrawn]) => {
  const slack = slackThatRedraws(...answers);
  const { context, clock, send, pass } = await worldWith(slack);
  await send();
  await pass();
  await context.database.transaction((tx) => enqueueRedraw(tx, over, clock.now));
  for (let time = 0; time < 3; time += 1) await pass(5);
  expect(slack.redrawn).toEqual(redrawn);
  expect(slack.asked).toHaveLength(1);
});

test('an announcement that was not posted is not updated', async () => {
  const slack = slackThatRedraws();
  const { context, clock, pass } = await worldWith(slack);
  await context.database.transaction((tx) => enqueueRedraw(tx, over, clock.now));
  await pass(5);
  expect(slack.redrawn).toEqual([]);
});

test('positions of announcements are deleted after half a year, also unfinished ones', async () => {
  const first = { ok: true, at: { channel: CHANNEL, ts: '1786700000.000100' } } as const;
  const slack = slackThat(first, new Error('timeout'));
  const { context, clock, send, pass } = await worldWith(slack);
  await send();
  await send({ key: 'incident 2' });
  await pass();
  const kept = async () =>
    (await context.database.db.selectFrom('meta').selectAll().execute())
      .map(({ key }) => key)
      .filter((key) => key.startsWith('post:'));
  const after = async (days: number) => {
    clock.now = new Date(1_786_700_000_000 + days * 86_400_000);
    await workflowJobs(context)
      .find(({ name }) => name === 'prune')
      ?.work();
    return kept();
  };
  expect(await postedKeysUnder(context.database.db, 'incident')).toEqual(['incident 1']);
  expect(await after(170)).toHaveLength(2);
  expect(await after(190)).toEqual([]);
});
