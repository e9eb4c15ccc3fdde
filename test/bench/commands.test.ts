import { isValidSlackRequest } from '@slack/bolt';
import { expect, test } from 'vitest';
import { signedCommands } from '../../bench/commands.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const SENDER = {
  signingSecret: 'a-signing-secret',
  team: 'T0SIGNALBOX',
  app: 'A0SIGNALBOX',
  answersUrl: 'http://127.0.0.1:1/answers',
};

test('Bolt takes each command for one that Slack signed at that time', () => {
  for (const { body, headers } of signedCommands(3, SENDER, NOON)) {
    const signed = {
      'x-slack-signature': headers['x-slack-signature'] ?? '',
      'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
    };
    const { signingSecret } = SENDER;
    const nowMilliseconds = NOON.getTime();
    expect(isValidSlackRequest({ signingSecret, body, headers: signed, nowMilliseconds })).toBe(
      true,
    );
  }
});

test('no two commands are answered to the same address or open the same modal', () => {
  const forms = signedCommands(50, SENDER, NOON).map(({ body }) => new URLSearchParams(body));
  expect(new Set(forms.map((form) => form.get('response_url'))).size).toBe(50);
  expect(new Set(forms.map((form) => form.get('trigger_id'))).size).toBe(50);
});
