import type { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time.ts';
import type { ChannelId, Position } from '../../src/domain/change.ts';
import { createPermalinks } from '../../src/slack/links.ts';

const AT: Position = { channel: 'C0APPROVALS' as ChannelId, ts: '1795372240.856000' };
const OTHER: Position = { ...AT, ts: '1795372241.000001' };
const LINK = 'https://example.slack.com/archives/C0APPROVALS/p1795372240856000';

type Answer = () => Promise<{ readonly permalink: string }>;

const links: Answer = async () => ({ permalink: LINK });

function refusal(error: string): Answer {
  const code = 'slack_webapi_platform_error';
  return () => Promise.reject(Object.assign(new Error(error), { code, data: { error } }));
}

/** Permalinks with this answer of Slack, on a clock that only the test moves. */
function permalinksWith(answer: Answer, slackApiUrl = 'https://slack.com/api/') {
  const time = { ms: 0, answer };
  const late = new AbortController();
  const asked: unknown[] = [];
  const getPermalink = (args: unknown) => {
    asked.push(args);
    return time.answer();
  };
  const permalinks = createPermalinks({
    // The only method of the client that these lookups call.
    lookups: { chat: { getPermalink } } as unknown as WebClient,
    slackApiUrl,
    clock: { ...systemClock, now: () => time.ms, timeout: () => late.signal },
    log: createLog({ level: 'silent' }),
  });
  return { permalinks, asked, time, expire: () => late.abort() };
}

test('a permalink is read once and then known', async () => {
  const { permalinks, asked } = permalinksWith(links);
  expect(permalinks.of(AT)).toBeNull();
  await permalinks.load([AT, null]);
  await permalinks.load([AT]);
  expect(permalinks.of(AT)).toBe(LINK);
  expect(permalinks.of(OTHER)).toBeNull();
  expect(asked).toEqual([{ channel: AT.channel, message_ts: AT.ts }]);
});

test('an answer waits one second for a permalink, and a late one is kept', async () => {
  const slow = Promise.withResolvers<{ permalink: string }>();
  const { permalinks, asked, expire } = permalinksWith(() => slow.promise);
  const loaded = permalinks.load([AT]);
  expire();
  await loaded;
  expect(permalinks.of(AT)).toBeNull();
  slow.resolve({ permalink: LINK });
  await expect.poll(() => permalinks.of(AT)).toBe(LINK);
  await permalinks.load([OTHER]);
  expect(asked).toHaveLength(1);
});

test.for<[string, Answer]>([
  ['an error', () => Promise.reject(new Error('connection reset'))],
  ['a rate limit', refusal('ratelimited')],
  ['a refusal', refusal('invalid_auth')],
  ['a link to another site', async () => ({ permalink: 'https://evil.example/' })],
])('lookups of permalinks pause for a minute after %s', async ([, answer]) => {
  const { permalinks, asked, time } = permalinksWith(answer);
  await permalinks.load([AT]);
  expect(permalinks.of(AT)).toBeNull();
  time.ms = 59_999;
  await permalinks.load([AT, OTHER]);
  expect(asked).toHaveLength(1);
  time.ms = 60_000;
  time.answer = links;
  await permalinks.load([AT]);
  expect(permalinks.of(AT)).toBe(LINK);
});

test.for(['message_not_found', 'channel_not_found'])(
  '%s leaves the links of other messages available',
  async (error) => {
    const { permalinks, time } = permalinksWith(refusal(error));
    await permalinks.load([AT]);
    time.answer = links;
    await permalinks.load([OTHER]);
    expect(permalinks.of(OTHER)).toBe(LINK);
  },
);

test('one answer reads at most 50 permalinks', async () => {
  const { permalinks, asked } = permalinksWith(links);
  await permalinks.load(Array.from({ length: 60 }, (_, n) => ({ ...AT, ts: `${n}.000001` })));
  expect(asked).toHaveLength(50);
});

const SLACK = 'https://slack.com/api/';
const GOV = 'https://slack-gov.com/api/';
const PLACE = '/archives/C0APPROVALS/p1795372240856000';

test.for<[string, string]>([
  [`https://example.slack.com${PLACE}`, SLACK],
  [`https://example.enterprise.slack.com${PLACE}`, SLACK],
  [`https://example.slack.com${PLACE}?thread_ts=1795372240.856000&cid=C0APPROVALS`, SLACK],
  [`https://example.slack-gov.com${PLACE}`, GOV],
])('the permalink %s is shown', async ([permalink, api]) => {
  const { permalinks } = permalinksWith(async () => ({ permalink }), api);
  await permalinks.load([AT]);
  expect(permalinks.of(AT)).toBe(permalink);
});

test.for<[string, string]>([
  ['another host', `https://example.com${PLACE}`],
  ['a host that ends like Slack', `https://evilslack.com${PLACE}`],
  ['a host of another API', `https://example.slack-gov.com${PLACE}`],
  ['plain HTTP', `http://example.slack.com${PLACE}`],
  ['a script', 'javascript:alert(1)'],
  ['another path', 'https://example.slack.com/signout'],
  ['a credential', `https://slack.com@example.com${PLACE}`],
  ['markup', `https://example.slack.com${PLACE}?x=|click>`],
  ['text around it', ` https://example.slack.com${PLACE}`],
  ['a port', `https://example.slack.com:8443${PLACE}`],
  ['nothing', ''],
])('a permalink with %s is not shown', async ([, permalink]) => {
  const { permalinks } = permalinksWith(async () => ({ permalink }));
  await permalinks.load([AT]);
  expect(permalinks.of(AT)).toBeNull();
});

test('the 5,000 newest permalinks are kept', async () => {
  const { permalinks } = permalinksWith(links);
  const at = (n: number): Position => ({ ...AT, ts: `${n}.000001` });
  for (let n = 0; n < 5_050; n += 50) {
    await permalinks.load(Array.from({ length: 50 }, (_, more) => at(n + more)));
  }
  expect(permalinks.of(at(49))).toBeNull();
  expect(permalinks.of(at(50))).toBe(LINK);
  expect(permalinks.of(at(5_049))).toBe(LINK);
});
