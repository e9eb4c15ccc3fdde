import { expect, test } from 'vitest';
import { postRefusal } from '../../src/slack/post.ts';

function refused(name: string): Error {
  const data = { ok: false, error: name };
  return Object.assign(new Error(name), { code: 'slack_webapi_platform_error', data });
}

function limited(retryAfter: number): Error {
  return Object.assign(new Error(), { code: 'slack_webapi_rate_limited_error', retryAfter });
}

test.for([
  ['is_archived', 'the channel is archived (is_archived)'],
  ['channel_not_found', 'the channel does not exist, or Signalbox is not a member'],
  ['not_in_channel', 'Signalbox is not a member of the channel'],
  ['restricted_action', 'do not let the app post there (restricted_action)'],
  ['restricted_action_thread_locked', 'do not let the app post there'],
  ['restricted_action_of_a_new_kind', 'do not let the app post there'],
  ['team_access_not_granted', 'do not let the app post there'],
  ['ekm_access_denied', 'do not let the app post there'],
  ['msg_blocks_too_long', 'the message is too long'],
  ['user_disabled', 'the user was deactivated'],
  ['a_new_error', 'Slack does not accept it (a_new_error)'],
  ['not_allowed_in_v2_channels', 'Slack does not accept it'],
] as const)('%s is a definite refusal of the message', ([name, why]) => {
  const refusal = postRefusal(refused(name));
  expect(refusal).toMatchObject({ why: expect.stringContaining(why), retryAfterMs: null });
});

test.for([
  ['with the time that Slack names', limited(7), 7_000],
  ['without a time', refused('ratelimited'), 30_000],
  ['under its second name', refused('rate_limited'), 30_000],
] as const)('a rate limit %s delays the message', ([, error, retryAfterMs]) => {
  expect(postRefusal(error)).toMatchObject({ retryAfterMs });
});

test.for([
  ['an outage of Slack', refused('internal_error')],
  ['a failed update', refused('update_failed')],
  ['a workspace that is moved', refused('team_added_to_org')],
  ['a busy workspace', refused('message_limit_exceeded')],
  ['the page of a proxy', refused('<!doctype html><title>Bad gateway</title>')],
  ['no answer', new Error('ECONNREFUSED')],
] as const)('%s is no refusal of the message', ([, error]) => {
  expect(postRefusal(error)).toBeNull();
});

test.for(['account_inactive', 'token_revoked', 'missing_scope', 'invalid_auth'])(
  '%s is a refusal of all messages, which a person can end',
  (name) => {
    expect(postRefusal(refused(name))).toMatchObject({ retryAfterMs: null, isOfApp: true });
    expect(postRefusal(refused('is_archived'))?.isOfApp).toBe(false);
  },
);
