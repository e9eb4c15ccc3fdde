import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { ANALYTICS, requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, FINN, GUS } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

onEngines('a hundred presses by three approvers send one request', async (engine) => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl(engine) });
  await sandbox.confirm(
    ANA,
    '/service stop analytics-prod nightly maintenance',
    'Stop analytics-prod?',
  );
  const card = await sandbox.card('requests: ');

  const approvers = [BEN, CLEO, GUS];
  const presses = Array.from({ length: 100 }, (_, index) =>
    sandbox.press(approvers[index % 3] ?? BEN, card, 'change.approve'),
  );
  await Promise.all(presses);
  const ended = await sandbox.card('analytics-prod is stopping');
  expect(textOf(ended ?? { text: '', blocks: [] })).toContain('(2 of 2)');
  expect(sandbox.cloud.count('set state')).toBe(1);
  expect(sandbox.cloud.effectCount('set state', ANALYTICS)).toBe(1);
});

test('of a simultaneous approval and rejection, one takes effect', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.reject');
  const view = await sandbox.modal(BEN, 'change.reject');
  await Promise.all([
    sandbox.press(CLEO, card, 'change.approve'),
    sandbox.slack.submit(BEN, view, {
      reason: { reason: { type: 'plain_text_input', value: 'No' } },
    }),
  ]);
  await expect
    .poll(() => sandbox.slack.messages('db-approvals').map(textOf).join())
    .toMatch(/Stop staging: rejected|staging is stopping/);
  const rejected = sandbox.slack.messages('db-approvals').some((m) => m.text.includes('rejected'));
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(rejected ? 0 : 1);
});

test('of two changes of one service approved at the same time, one is sent', async () => {
  const sandbox = await startTestSandbox();
  const stop = await requestChange(sandbox, ANA, '/service stop staging for the night');
  const start = await requestChange(sandbox, FINN, '/service start staging after all');
  await Promise.all([
    sandbox.press(BEN, stop, 'change.approve'),
    sandbox.press(CLEO, start, 'change.approve'),
  ]);
  await sandbox.card('staging is ');
  // The other one waits until the first has ended, and is then checked again.
  sandbox.pass(15_000);
  await sandbox.card('not run: the target changed since the preview');
  expect(sandbox.cloud.count('set state')).toBe(1);
});
