import { pino } from 'pino';
import { expect, test } from 'vitest';
import manifest from '../../manifest.json' with { type: 'json' };
import { largeWorkspace } from '../../sandbox/slack/workspace/large-workspace.ts';
import { organizationWorkspace, SISTER } from '../../sandbox/slack/workspace/organization.ts';
import type { Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { systemClock } from '../../src/base/time.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import { type ChannelIdStore, createChannelFinder } from '../../src/slack/channels.ts';
import { startSlack } from '../sandbox/slack/bolt-app.ts';
import { clientOf } from '../sandbox/slack/client.ts';

const START = Date.parse('2026-11-20T12:00:00.000Z');
const OWN_OPS = 'T0SIGNALBOX/#ops';
const CONFIGURED = ['#db-approvals', '#db-costs'];

function memoryStore(): ChannelIdStore & { readonly ids: Map<string, string> } {
  const ids = new Map<string, string>();
  const remember = async (name: string, id: string) => {
    if (!ids.has(name)) ids.set(name, id);
    return ids.get(name) ?? id;
  };
  return { ids, read: async () => ids, remember };
}

/** A simulated workspace with this many channels, and finders of replicas that share one store. */
async function workspaceOf(channels: number, organization: Workspace | null = null) {
  const time = { ms: 0 };
  const sleeps: { readonly ms: number; readonly wake: () => void }[] = [];
  const slack = await startSlack({
    ...{ manifest, delivery: { mode: 'socket' }, rateLimits: 'hard' },
    workspace: organization ?? largeWorkspace(channels, 0),
    now: () => new Date(START + time.ms),
  });
  const store = memoryStore();
  const clock = {
    ...systemClock,
    now: () => time.ms,
    sleep: (ms: number) => new Promise<void>((wake) => void sleeps.push({ ms, wake })),
  };
  const finder = (own: ChannelIdStore = store) =>
    createChannelFinder({
      lookups: clientOf(slack),
      home: { workspaces: organization && [organization.teamId, SISTER] },
      configured: organization ? [OWN_OPS] : CONFIGURED,
      store: own,
      clock,
      log: pino({ level: 'silent' }),
    });
  /** Ends the oldest wait, after its time has passed. */
  const passWait = () => {
    const wait = sleeps.shift() ?? expect.fail('nothing waits');
    time.ms += wait.ms;
    wait.wake();
  };
  const pass = (ms: number) => {
    time.ms += ms;
  };
  const idOf = (name: string) =>
    slack.workspace.channels.find((one) => one.name === name)?.id ?? expect.fail(name);
  return { slack, store, finder, sleeps, passWait, pass, idOf };
}

type Finder = ReturnType<Awaited<ReturnType<typeof workspaceOf>>['finder']>;
const lookup = async (finder: Finder, word: string) => (await finder.find([word])).get(word);
const LATER = { ok: false, why: 'lookup-failed' };
const NOWHERE = { ok: false, why: 'no-such-channel' };

test('20,000 channels are listed within the tier, and a 429 is waited out in the background', async () => {
  const { slack, store, finder, sleeps, passWait, idOf } = await workspaceOf(20_000);
  const bot = finder();
  expect(await lookup(bot, '#db-approvals')).toEqual(LATER);
  expect(bot.problem()).toMatch(
    /^channel names are not resolved yet: Slack limits the rate, retry in \d+ s$/,
  );
  // A second reader does not begin another list.
  expect(await lookup(bot, '#db-costs')).toEqual(LATER);
  expect(sleeps).toHaveLength(1);
  passWait();
  await expect.poll(() => bot.problem()).toBeNull();
  const calls = slack.calls('conversations.list');
  expect(calls.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(21);
  expect(calls.filter(({ status }) => status === 429)).toHaveLength(1);
  expect(Object.fromEntries(store.ids)).toEqual({
    '#db-approvals': idOf('db-approvals'),
    '#db-costs': idOf('db-costs'),
  });
  expect(await lookup(bot, '#db-approvals')).toMatchObject({ ok: true });
});

test('channels are looked up one by one where a list would take more of the limits', async () => {
  const { slack, finder } = await workspaceOf(7_500);
  const bot = finder();
  await lookup(bot, '#db-costs');
  const pages = slack.calls('conversations.list').length;
  const found = await bot.find(slack.workspace.channels.slice(0, 20).map(({ id }) => id));
  expect([...found.values()]).not.toContainEqual(LATER);
  expect(slack.calls('conversations.list')).toHaveLength(pages);
});

test('many channels of a small workspace are looked up in one list', async () => {
  const { slack, finder } = await workspaceOf(100);
  const wanted = slack.workspace.channels.slice(0, 20).map(({ id }) => id);
  expect([...(await finder().find(wanted)).values()]).not.toContainEqual(LATER);
  expect(slack.calls('conversations.list')).toHaveLength(1);
  expect(slack.calls('conversations.info')).toEqual([]);
});

test('a restart resolves stored names without a list', async () => {
  const { slack, store, finder, idOf } = await workspaceOf(10);
  for (const name of CONFIGURED) await store.remember(name, idOf(name.slice(1)));
  const found = await finder().find(CONFIGURED);
  expect([...found.values()].map((one) => one.ok && one.room.name)).toEqual([
    'db-approvals',
    'db-costs',
  ]);
  expect(slack.calls('conversations.list')).toEqual([]);
});

test('a renamed channel keeps working, and the channel that takes its name is not used', async () => {
  const { slack, finder, idOf } = await workspaceOf(10);
  const id = idOf('db-costs');
  await lookup(finder(), '#db-costs');
  slack.admin.rename('db-costs', 'db-spending');
  const thief = { id: 'C0THIEF0001', name: 'db-costs', kind: 'public', topic: '' } as const;
  slack.admin.addChannel({ ...thief, members: [slack.workspace.botUserId], archived: false });
  const room = { id, name: 'db-spending' };
  expect(await lookup(finder(), '#db-costs')).toMatchObject({ ok: true, room });
  expect(await finder().target('#db-costs')).toBe(id);
  slack.admin.archive('db-spending');
  expect(await lookup(finder(), '#db-costs')).toEqual(NOWHERE);
});

test('a name outside the configuration means the channel that has it now', async () => {
  const { slack, store, finder, pass } = await workspaceOf(10);
  const bot = finder();
  expect(await lookup(bot, '#general')).toMatchObject({ ok: true });
  slack.admin.rename('general', 'everyone');
  pass(60_000);
  expect(await lookup(bot, '#general')).toEqual(NOWHERE);
  expect(await lookup(bot, '#everyone')).toMatchObject({ ok: true });
  expect([...store.ids.keys()].toSorted()).toEqual(CONFIGURED);
});

test('the channel of a post is stored for a configured name, once', async () => {
  const { slack, store, finder } = await workspaceOf(10);
  const bot = finder();
  expect(await bot.target('#db-costs')).toBe('#db-costs');
  await bot.posted('#db-costs', 'C0FIRST0001' as ChannelId);
  await bot.posted('#db-costs', 'C0SECOND001' as ChannelId);
  await bot.posted('#general', 'C0THIRD0001' as ChannelId);
  expect([...store.ids]).toEqual([['#db-costs', 'C0FIRST0001']]);
  expect(await bot.target('#db-costs')).toBe('C0FIRST0001');
  expect(await finder().target('#db-costs')).toBe('C0FIRST0001');
  expect(slack.calls('conversations.list')).toEqual([]);
});

test('a post whose channel cannot be stored does not fail', async () => {
  const { finder } = await workspaceOf(10);
  const remember = () => Promise.reject(new Error('the database does not answer'));
  const bot = finder({ read: async () => new Map(), remember });
  await expect(bot.posted('#db-costs', 'C0FIRST0001' as ChannelId)).resolves.toBeUndefined();
});

test('a list that Slack never lets finish ends, and a later one begins again', async () => {
  const { slack, finder, sleeps } = await workspaceOf(10);
  const bot = finder();
  slack.failNext({ method: 'conversations.list', times: 21, how: 'rate-limited' });
  expect(await lookup(bot, '#db-costs')).toEqual(LATER);
  for (let waits = 1; waits <= 20; waits += 1) {
    await expect.poll(() => sleeps.length).toBe(1);
    sleeps.shift()?.wake();
  }
  await expect.poll(() => bot.problem()).toBeNull();
  expect(await lookup(bot, '#db-costs')).toMatchObject({ ok: true });
});

test('in an organization a name means the channel of its workspace; that of two workspaces means none', async () => {
  const { store, finder } = await workspaceOf(0, organizationWorkspace);
  const bot = finder();
  expect(await bot.target(OWN_OPS)).toBe('C0OPS000001');
  expect(Object.fromEntries(store.ids)).toEqual({ [OWN_OPS]: 'C0OPS000001' });
  const room = { id: 'C0OPSSISTER' };
  expect(await lookup(bot, `${SISTER}/#ops`)).toMatchObject({ ok: true, room });
  expect(await lookup(bot, '#ops')).toEqual(NOWHERE);
  // It is shared: both workspaces list the same channel.
  expect(await lookup(bot, '#db-approvals')).toMatchObject({ ok: true });
  // The app is added to its workspace, but this is not listed.
  expect(await lookup(bot, '#elsewhere')).toEqual(NOWHERE);
});

test('in an organization nothing is posted to a name that Slack did not list', async () => {
  const { slack, finder } = await workspaceOf(0, organizationWorkspace);
  const bot = finder();
  const how = { error: 'internal_error' };
  slack.failNext({ method: 'conversations.list', times: 1, how });
  await expect(bot.target(OWN_OPS)).rejects.toThrow('Slack did not list T0SIGNALBOX/#ops');
  expect(await bot.target(OWN_OPS)).toBe('C0OPS000001');
});
