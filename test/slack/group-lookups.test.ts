import { readFileSync } from 'node:fs';
import { WebClient } from '@slack/web-api';
import { expect, onTestFinished, test } from 'vitest';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { systemClock } from '../../src/base/time.ts';
import type { UserId } from '../../src/domain/change.ts';
import { cachedAccounts, createActors } from '../../src/slack/actors.ts';
import { createRetryLimited } from '../../src/slack/api.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { BEN, CLEO, GUS } from '../harness/users.ts';

const START = Date.parse('2026-11-20T12:00:00.000Z');
const LEADS = [BEN, CLEO, GUS];
const GROUPS = Array.from({ length: 30 }, (_, n) => ({
  id: `S0GROUP${String(n).padStart(4, '0')}`,
  handle: `group-${n}`,
  name: `Group ${n}`,
  users: [...LEADS],
  disabled: false,
  updatedAt: 1_760_000_000,
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
async function slackWithGroups() {
  const clock = controlledClock();
  const now = () => new Date(START + clock.now());
  const slack = await startSlackSimulator({
    manifest: JSON.parse(readFileSync('manifest.json', 'utf8')),
    delivery: { mode: 'socket' },
    workspace: { ...sandboxWorkspace, groups: GROUPS },
    rateLimits: 'hard',
    now,
  });
  onTestFinished(slack.stop);
  const lookups = new WebClient(slack.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
  const actors = createActors({
    lookups,
    policy: policyOf([{ allow: ['service stop'], to: 'approver' }]),
    groups: new Map([['approver', GROUPS]]),
    accounts: cachedAccounts(lookups, { teamId: sandboxWorkspace.teamId, enterpriseId: null }, now),
    retryLimited: createRetryLimited(clock),
    now,
    clock,
    warn: () => undefined,
  });
  return { clock, now, slack, actors };
}

test('50 approvals in a minute with 30 groups need at most 20 calls, each after its click', async () => {
  const { clock, now, slack, actors } = await slackWithGroups();
  let answered = 0;
  const decisions = Array.from({ length: 50 }, (_, index) => async () => {
    const clickedAt = now();
    const user = LEADS[index % LEADS.length] ?? LEADS[0];
    const identity = await actors.identify(user as UserId, { fresh: true });
    answered += 1;
    return { identity, clickedAt };
  });
  const results: ReturnType<(typeof decisions)[number]>[] = [];
  for (const decide of decisions) {
    results.push(decide());
    await expect
      .poll(() => answered === results.length || clock.sleeping() > 0, { interval: 2 })
      .toBe(true);
    clock.advance(1_200);
  }
  while (answered < results.length) {
    clock.advance(100);
    await new Promise(setImmediate);
  }
  for (const { identity, clickedAt } of await Promise.all(results)) {
    expect(identity).toMatchObject({ ok: true, actor: { roles: ['approver'] } });
    const [{ readAt } = { readAt: '' }] = identity.ok ? identity.evidence.groups : [];
    expect(readAt >= clickedAt.toISOString()).toBe(true);
  }
  const calls = slack.calls('usergroups.list');
  expect(calls.filter(({ status }) => status !== 200)).toEqual([]);
  expect(calls.length).toBeLessThanOrEqual(20);
  expect(slack.calls('usergroups.users.list')).toEqual([]);
});

test('one decision with 30 groups needs one call for all of them', async () => {
  const { slack, actors } = await slackWithGroups();
  const identity = await actors.identify(LEADS[0] as UserId, { fresh: true });
  expect(identity).toMatchObject({ ok: true });
  expect(identity.ok && identity.evidence.groups).toHaveLength(30);
  expect(slack.calls('usergroups.list')).toHaveLength(1);
});

test('an event about a group outside the policy keeps the cached members', async () => {
  const { slack, actors } = await slackWithGroups();
  const read = () => actors.identify(LEADS[0] as UserId, { fresh: false });
  await read();
  actors.forgetGroup('S0OTHER0001');
  await read();
  expect(slack.calls('usergroups.list')).toHaveLength(1);
  actors.forgetGroup(GROUPS[3]?.id ?? '');
  await read();
  expect(slack.calls('usergroups.list')).toHaveLength(2);
});
