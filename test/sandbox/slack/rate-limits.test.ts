import { describe, expect, test } from 'vitest';
import type { RateLimits } from '../../../sandbox/slack/web-api/rate-limits.ts';
import { ana, approvals, clock, startSlack } from './bolt-app.ts';
import type { SlackForTest } from './client.ts';

async function started(rateLimits?: RateLimits) {
  const time = clock();
  return { time, slack: await startSlack({ now: time.now, ...(rateLimits && { rateLimits }) }) };
}

const person = {
  ...({ name: 'many', realName: 'Many', title: '', kind: 'member', deleted: false } as const),
  teamId: 'T0SIGNALBOX',
};

/** The status of a call, or the seconds of its `Retry-After`. */
async function call(slack: SlackForTest, method: string, args: Record<string, string> = {}) {
  const token = method === 'apps.connections.open' ? slack.appToken : slack.botToken;
  const response = await fetch(`${slack.apiUrl}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams(args),
  });
  await response.text();
  const seconds = response.headers.get('retry-after');
  return response.status === 429 ? `again in ${seconds} s` : response.status;
}

async function callsUntilRefused(slack: SlackForTest, method: string): Promise<number> {
  for (let n = 0; n < 700; n += 1) if ((await call(slack, method)) !== 200) return n;
  return Number.POSITIVE_INFINITY;
}

describe.for<[string, string, number, number]>([
  ['tier 1', 'apps.connections.open', 1, 5],
  ['tier 2', 'usergroups.list', 20, 30],
  ['tier 3', 'conversations.info', 50, 75],
  ['tier 4', 'users.info', 100, 200],
  ['the special tier', 'auth.test', 600, 600],
])('a method of %s', ([, method, calls, withBursts]) => {
  test(`allows ${calls} calls in a minute with hard limits`, async () => {
    const { slack, time } = await started('hard');
    expect(await callsUntilRefused(slack, method)).toBe(calls);
    time.advance(59_999);
    expect(await call(slack, method)).toBe('again in 1 s');
    time.advance(1);
    expect(await call(slack, method)).toBe(200);
  });

  test(`allows ${withBursts} calls in a minute with bursts`, async () => {
    const { slack } = await started('with-bursts');
    expect(await callsUntilRefused(slack, method)).toBe(withBursts);
    expect(await call(slack, method)).toBe('again in 60 s');
  });
});

test('a wrong token is refused as such while the method is limited', async () => {
  const { slack } = await started('hard');
  await callsUntilRefused(slack, 'apps.connections.open');
  const response = await fetch(`${slack.apiUrl}apps.connections.open`, {
    method: 'POST',
    headers: { authorization: 'Bearer xapp-wrong' },
  });
  expect(await response.json()).toMatchObject({ ok: false, error: 'invalid_auth' });
});

describe('posting', () => {
  const post = (slack: SlackForTest, channel = approvals) =>
    call(slack, 'chat.postMessage', { channel, text: 'x' });

  test('allows one message per second and channel with hard limits', async () => {
    const { slack, time } = await started('hard');
    expect(await post(slack)).toBe(200);
    expect(await post(slack, '#db-approvals')).toBe('again in 1 s');
    expect(await post(slack, 'C0DBAUDIT01')).toBe(200);
    time.advance(1_000);
    expect(await post(slack)).toBe(200);
  });

  test('counts the id of a user and the id of the direct messages as one channel', async () => {
    const { slack } = await started('hard');
    expect(await post(slack, ana)).toBe(200);
    expect(await post(slack, 'D0ANA00001')).toBe('again in 1 s');
  });

  test('allows five messages at once with bursts, then one per second', async () => {
    const { slack, time } = await started('with-bursts');
    for (let n = 0; n < 5; n += 1) expect(await post(slack)).toBe(200);
    expect(await post(slack)).toBe('again in 5 s');
    time.advance(5_000);
    expect(await post(slack)).toBe(200);
  });

  test('allows 300 messages in a minute in all channels together', async () => {
    const { slack } = await started('hard');
    const users = Array.from({ length: 301 }, (_, n) => ({ ...person, id: `U0MANY${n}` }));
    for (const user of users) slack.workspace.members.push(user);
    const outcomes: unknown[] = [];
    for (const { id } of users) outcomes.push(await post(slack, id));
    expect(outcomes).toEqual([...Array(300).fill(200), 'again in 60 s']);
  });
});

test('limits are separate for each method, and a refused call has no effect', async () => {
  const { slack } = await started('hard');
  await callsUntilRefused(slack, 'usergroups.list');
  expect(await call(slack, 'usergroups.users.list', { usergroup: 'S0DBLEADS01' })).toBe(200);
  expect(slack.calls('usergroups.list').at(-1)).toMatchObject({
    status: 429,
    reply: { ok: false, error: 'ratelimited' },
  });
});
