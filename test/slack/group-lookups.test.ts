import { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import manifest from '../../manifest.json' with { type: 'json' };
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { systemClock } from '../../src/base/time.ts';
import type { UserId } from '../../src/domain/change.ts';
import { cachedAccounts } from '../../src/slack/accounts.ts';
import { createActors } from '../../src/slack/actors.ts';
import { obeyRateLimits } from '../../src/slack/api.ts';
import { listNamedGroups, readGroupMembers } from '../../src/slack/groups.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { BEN, CLEO, GUS } from '../harness/users.ts';
import { startSlack } from '../sandbox/slack/bolt-app.ts';

const START = Date.parse('2026-11-20T12:00:00.000Z');
const LEADS = [BEN, CLEO, GUS];
const GROUPS = Array.from({ length: 30 }, (_, n) => ({
  ...{ id: `S0GROUP${String(n).padStart(4, '0')}`, handle: `group-${n}`, name: `Group ${n}` },
  ...{ users: [...LEADS], disabled: false, updatedAt: 1_760_000_000 },
}));

/** A clock that the test sets; a sleep ends when the clock has reached its end. */
function controlledClock() {
  const time = { ms: 0 };
  const sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  return {
    ...systemClock,
    now: () => time.ms,
    sleep: (ms: number) =>
      new Promise<void>((wake) => void sleepers.push({ until: time.ms + ms, wake })),
    sleeping: () => sleepers.filter(({ until }) => until > time.ms).length,
    advance: (ms: number) => {
      time.ms += ms;
      for (const { until, wake } of sleepers) if (until <= time.ms) wake();
    },
  };
}

/** Slack with its rate limits and 30 groups, and the lookups of the bot, on one clock. */
async function slackWithGroups(roleGroups = GROUPS.map(({ id }) => id)) {
  const clock = controlledClock();
  const now = () => new Date(START + clock.now());
  const slack = await startSlack({
    ...{ manifest, delivery: { mode: 'socket' }, rateLimits: 'hard', now },
    workspace: { ...sandboxWorkspace, groups: GROUPS },
  });
  const lookups = new WebClient(slack.botToken, {
    slackApiUrl: slack.apiUrl,
    fetch: obeyRateLimits(fetch, slack.apiUrl, clock),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
  const home = { teamId: sandboxWorkspace.teamId, enterpriseId: null, workspaces: null };
  const listed = GROUPS.map((group) => ({ ...group, team: sandboxWorkspace.teamId }));
  const around = { lookups, home, now, clock };
  const actors = createActors({
    ...around,
    policy: policyOf([{ allow: ['service stop'], to: 'approver' }]),
    groups: new Map([['approver', listed.filter(({ id }) => roleGroups.includes(id))]]),
    accounts: cachedAccounts({ ...around, onUnknown: () => undefined }),
    warn: () => undefined,
    onAnswer: () => undefined,
  });
  return { clock, now, slack, actors };
}

/** Lets the time pass until all of these are answered. */
async function passUntilAnswered(
  { clock }: Awaited<ReturnType<typeof slackWithGroups>>,
  answers: readonly Promise<unknown>[],
): Promise<void> {
  let answered = 0;
  for (const answer of answers) void answer.finally(() => (answered += 1));
  while (answered < answers.length) {
    clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test('50 approvals in a minute with 30 groups are decided, each by a reading after its press', async () => {
  const limited = await slackWithGroups();
  const { clock, now, slack, actors } = limited;
  const decisions = Array.from({ length: 50 }, async (_, index) => {
    await clock.sleep(1_200 * index);
    const pressedAt = now();
    const user = LEADS[index % LEADS.length] as UserId;
    const identity = await actors.identify(user, { fresh: true, since: pressedAt });
    return { identity, pressedAt };
  });
  await passUntilAnswered(limited, decisions);
  for (const { identity, pressedAt } of await Promise.all(decisions)) {
    expect(identity).toMatchObject({ ok: true, actor: { roles: ['approver'] } });
    const [{ readAt } = { readAt: '' }] = identity.ok ? identity.evidence.groups : [];
    expect(readAt > pressedAt.toISOString()).toBe(true);
  }
  // One refusal tells the process how long to wait; nothing is sent before that time.
  expect(slack.calls('usergroups.list').filter(({ status }) => status === 429)).toHaveLength(1);
  expect(slack.calls('usergroups.users.list')).toEqual([]);
});

test('while Slack limits the reads, decisions share one and cached readings wait for none', async () => {
  const limited = await slackWithGroups();
  const { clock, slack, actors } = limited;
  const cached = () => actors.identify(BEN as UserId, { fresh: false });
  expect(await cached()).toMatchObject({ ok: true });
  const how = { how: 'rate-limited', times: 1, retryAfterSeconds: 90 } as const;
  slack.failNext({ method: 'usergroups.list', ...how });
  const before = slack.calls('usergroups.list').length;
  const deciding = LEADS.map((user) => actors.identify(user as UserId, { fresh: true }));
  await expect.poll(() => clock.sleeping(), { interval: 2 }).toBe(1);
  // A minute later the reading is too old where Slack answers. Now it is the best there is.
  clock.advance(61_000);
  expect(await cached()).toMatchObject({ ok: true, actor: { roles: ['approver'] } });
  const late = actors.identify(BEN as UserId, { fresh: true });
  clock.advance(29_000);
  expect(await Promise.all([...deciding, late])).toMatchObject(
    [...LEADS, BEN].map(() => ({ ok: true })),
  );
  expect(slack.calls('usergroups.list').length - before).toBe(2);
});

test('one reading of all groups that began after a press serves it, and at a claim one of the last ten seconds', async () => {
  const { clock, now, slack, actors } = await slackWithGroups();
  const reads = () => slack.calls('usergroups.list').length;
  const decide = (since: Date) => actors.identify(BEN as UserId, { fresh: true, since });
  const pressedAt = now();
  clock.advance(10);
  await decide(pressedAt);
  const identity = await decide(pressedAt);
  expect(identity.ok && identity.evidence.groups).toHaveLength(30);
  clock.advance(9_000);
  await decide(new Date(now().getTime() - 10_000));
  expect(reads()).toBe(1);
  await decide(now());
  expect(reads()).toBe(2);
  clock.advance(10_000);
  await decide(new Date(now().getTime() - 10_000));
  expect(reads()).toBe(3);
});

const [GROUP = ''] = GROUPS.map(({ id }) => id);

test('after an event about a group of the policy the groups are read again', async () => {
  const { slack, actors } = await slackWithGroups();
  const read = () => actors.identify(BEN as UserId, { fresh: false });
  await read();
  actors.groupChanged('S0OTHER0001');
  await read();
  expect(slack.calls('usergroups.list')).toHaveLength(1);
  actors.groupChanged(GROUP);
  await read();
  expect(slack.calls('usergroups.list')).toHaveLength(2);
});

test('no claim uses a reading from before an event', async () => {
  const { clock, now, slack, actors } = await slackWithGroups();
  const claim = () => {
    const since = new Date(now().getTime() - 10_000);
    return actors.identify(BEN as UserId, { fresh: true, since });
  };
  await claim();
  actors.groupChanged(GROUP);
  clock.advance(1_000);
  await claim();
  expect(slack.calls('usergroups.list')).toHaveLength(2);
});

test('an empty place in the list of groups, or a foreign group without members, stops nothing', async () => {
  const [own, other] = GROUPS;
  const usergroups = [null, { ...own, users: ['', BEN] }, { ...other, users: null }];
  // Only this method is used.
  const lookups = { usergroups: { list: async () => ({ ok: true, usergroups }) } };
  const client = lookups as unknown as WebClient;
  const read = await readGroupMembers(client, [own?.id ?? ''], {
    now: () => new Date(START),
    gone: () => undefined,
    workspaces: null,
  });
  expect([...(read.get(own?.id ?? '')?.ids ?? [])]).toEqual([BEN]);
  const listed = await listNamedGroups(
    client,
    { workspaces: null },
    policyOf([{ allow: ['service stop'], to: 'approver' }]),
  );
  expect(listed.map(({ id, users }) => [id, users.length])).toEqual([
    [own?.id, 1],
    [other?.id, 0],
  ]);
});
