import { expect, test } from 'vitest';
import type { Tier } from '../../sandbox/slack/web-api/method.ts';
import { METHODS } from '../../sandbox/slack/web-api/router.ts';
import { METHOD_LIMITS, measuredFetch, obeyRateLimits } from '../../src/slack/api.ts';
import { json, type Respond, serve } from '../base/loopback.ts';

const PER_MINUTE: Readonly<Record<Tier, number | null>> = {
  'tier 1': 1,
  'tier 2': 20,
  'tier 3': 50,
  'tier 4': 100,
  special: null,
  posting: null,
};

test('each method with a documented limit has it', () => {
  const documented = Object.entries(METHODS).flatMap(([method, { tier }]) => {
    const calls = PER_MINUTE[tier];
    return calls === null ? [] : [[method, calls]];
  });
  expect([...METHOD_LIMITS].toSorted()).toEqual(documented.toSorted());
});

test.for<[string, Record<string, string>, number]>([
  ['as seconds', { 'retry-after': '7' }, 7],
  [
    'as a date',
    { 'retry-after': 'Sun, 29 Nov 2026 10:00:25 GMT', date: 'Sun, 29 Nov 2026 10:00:00 GMT' },
    25,
  ],
  ['not at all', {}, 30],
  ['in words', { 'retry-after': 'soon' }, 30],
])('a rate limit whose end is named %s holds back further calls', async ([, headers, seconds]) => {
  let calls = 0;
  const slack = async () => {
    calls += 1;
    return new Response('', { status: 429, headers });
  };
  let now = 0;
  const fetch = obeyRateLimits(slack, 'https://slack.test/api/', { now: () => now });
  const waits = async () => {
    const { headers } = await fetch('https://slack.test/api/chat.postMessage');
    return Number(headers.get('retry-after'));
  };
  expect(await waits()).toBe(seconds);
  now = seconds * 1_000 - 1;
  expect([await waits(), calls]).toEqual([1, 1]);
  now += 1;
  expect([await waits(), calls]).toEqual([seconds, 2]);
});

test('a rate limit without an end shortens none that Slack named', async () => {
  const answers = [{ 'retry-after': '120' }, {}].values();
  const slack = async () => new Response('', { status: 429, headers: answers.next().value ?? {} });
  let now = 0;
  const fetch = obeyRateLimits(slack, 'https://slack.test/api/', { now: () => now });
  const call = () => fetch('https://slack.test/api/chat.postMessage');
  await Promise.all([call(), call()]);
  now = 31_000;
  expect((await call()).headers.get('retry-after')).toBe('89');
});

test('calls are counted by method and ending, and unknown paths as one method', async () => {
  const cut: Respond = (response) => response.destroy();
  const ok = json(200, { ok: true });
  const { url } = await serve(
    ok,
    json(429, { ok: false }),
    json(200, { ok: false }),
    cut,
    json(503, {}),
  );
  const counted: string[] = [];
  const slackCalled = (method: string, ending: string) => counted.push(`${method} ${ending}`);
  const fetch = measuredFetch(`${url}/api/`, { slackCalled });
  const methods = ['users.info', 'chat.update', 'auth.test', 'views.open', 'users.info/../U0BEN'];
  for (const method of methods) {
    await fetch(`${url}/api/${method}`, { method: 'POST' }).catch(() => null);
  }
  expect(counted).toEqual([
    'users.info answered',
    'chat.update limited',
    'auth.test answered',
    'views.open failed',
    'upload failed',
  ]);
});
