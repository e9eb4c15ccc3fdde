import { expect, test } from 'vitest';
import type { SlackFaultKind } from '../../../sandbox/slack/web-api/faults.ts';
import { approvals, startSlack } from './bolt-app.ts';
import { clientOf, outcome } from './client.ts';

async function started() {
  const slack = await startSlack();
  const post = (timeout = 0) => {
    const { chat } = clientOf(slack, slack.botToken, { timeout });
    return outcome(chat.postMessage({ channel: approvals, text: 'x' }));
  };
  return { slack, post };
}

test.for<[string, SlackFaultKind, string, number]>([
  ['rate limit', 'rate-limited', 'WebAPIRateLimitedError', 0],
  ['server error', 'server-error', 'WebAPIHTTPError', 0],
  ['another error', { error: 'fatal_error' }, 'fatal_error', 0],
  ['no reply', 'no-reply', 'WebAPIRequestError', 0],
  ['lost reply', 'reply-lost', 'WebAPIRequestError', 1],
])('a post with the fault “%s” is posted %4$i times', async ([, how, error, posted]) => {
  const { slack, post } = await started();
  slack.failNext({ method: 'chat.postMessage', times: 1, how });
  expect(await post(how === 'no-reply' ? 1_000 : 0)).toBe(error);
  expect(slack.messages(approvals)).toHaveLength(posted);
  expect(await post()).toBe('ok');
  expect(slack.messages(approvals)).toHaveLength(posted + 1);
});

test('an HTML page of a proxy is not a success', async () => {
  const { slack, post } = await started();
  slack.failNext({ method: 'chat.postMessage', times: 1, how: 'html' });
  expect(await post()).toContain('<!doctype html>');
  expect(slack.messages(approvals)).toEqual([]);
});

test('a fault applies to the given number of calls of its method', async () => {
  const { slack, post } = await started();
  slack.failNext({ method: 'chat.postMessage', times: 2, how: 'server-error' });
  expect(await outcome(clientOf(slack).auth.test())).toBe('ok');
  expect([await post(), await post(), await post()]).toEqual([
    'WebAPIHTTPError',
    'WebAPIHTTPError',
    'ok',
  ]);
});

test('a fault for any method applies to the next call, and faults can be cleared', async () => {
  const { slack, post } = await started();
  slack.failNext({ method: '*', times: 2, how: { error: 'internal_error' } });
  expect(await outcome(clientOf(slack).auth.test())).toBe('internal_error');
  slack.clearFaults();
  expect(await post()).toBe('ok');
});

test('a rate-limited reply has the header retry-after', async () => {
  const { slack } = await started();
  const how = 'rate-limited';
  slack.failNext({ method: 'users.info', times: 1, how, retryAfterSeconds: 30 });
  const headers = { authorization: `Bearer ${slack.botToken}` };
  const response = await fetch(`${slack.apiUrl}users.info?user=U0ANA00001`, { headers });
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '30']);
});
