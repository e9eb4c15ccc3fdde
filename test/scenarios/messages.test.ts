import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { asTimePasses } from '../harness/passing-time.ts';
import { REFUSED } from '../harness/refused.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { BEN, DORA } from '../harness/users.ts';

function pass(sandbox: TestSandbox, minutes: number) {
  sandbox.pass(minutes * 60_000);
}

function thread({ slack }: TestSandbox): string[] {
  const all = slack
    .messages('db-approvals')
    .filter(({ threadTs, ephemeralFor }) => threadTs !== null && ephemeralFor === null);
  // The note before a request is no news.
  return all.map(textOf).filter((text) => !text.startsWith('Sending “'));
}

const escalating = (file: { readonly roles?: object; readonly policy?: readonly object[] }) => {
  const approvals = { from: 'approver', count: 1, escalate: { to: 'chief', after: '1h' } };
  const rule = { allow: ['service stop'], to: 'operator', approvals, expires: '4h' };
  const roles = { ...file.roles, chief: { users: [DORA] } };
  return { ...file, roles, policy: [rule, ...(file.policy ?? [])] };
};

test('the escalation role is notified and may approve from then on', async () => {
  const sandbox = await startTestSandbox({ yaml: escalating });
  const card = await requestChange(sandbox);
  expect(textOf(card)).toContain('the role chief too after');
  await sandbox.press(DORA, card, 'change.approve');
  await sandbox.privateMessage(DORA, REFUSED.notAnApprover);
  pass(sandbox, 60);
  await expect.poll(() => thread(sandbox).join('\n')).toContain('you can now approve it too');
  expect(thread(sandbox).join('\n')).toContain(DORA);
  await sandbox.press(DORA, card, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
});

test('an unknown outcome is reported repeatedly until it is resolved', async () => {
  const sandbox = await startTestSandbox();
  sandbox.cloud.injectFault({ operation: 'set state', fault: '500', times: 9 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('outcome unknown');
  await expect.poll(() => thread(sandbox)).toHaveLength(1);
  pass(sandbox, 15);
  await expect.poll(() => thread(sandbox)).toHaveLength(2);
  expect(thread(sandbox)[1]).toContain('the outcome of “');
  pass(sandbox, 60);
  await expect.poll(() => thread(sandbox)).toHaveLength(3);
  const mentions = /"usergroup_id":"\w+"/g;
  const approvers = thread(sandbox)[2]?.match(mentions);
  expect(approvers).toHaveLength(1);
  // After its role was renamed, the approvers of the current rule are mentioned.
  const renamed = (file: object) =>
    JSON.parse(JSON.stringify(file).replaceAll('"approver"', '"lead"'));
  expect(await sandbox.reload(renamed)).toEqual({ ok: true });
  pass(sandbox, 240);
  await expect.poll(() => thread(sandbox)).toHaveLength(4);
  expect(thread(sandbox)[3]?.match(mentions)).toEqual(approvers);
});

test('a message in the audit channel is posted once when Slack accepts the post without an answer', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const endings = () =>
    sandbox.slack.messages('db-audit').filter(({ text }) => text.includes('staging is stopping'));
  // The thread message is among them.
  const lost = { words: 'staging is stopping', times: 3, how: 'reply-lost' } as const;
  sandbox.slack.failNext({ method: 'chat.postMessage', ...lost });
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  const lookups = () => sandbox.slack.calls('conversations.history').length;
  await expect.poll(asTimePasses(sandbox, 6_000, lookups)).toBeGreaterThan(0);
  await expect.poll(asTimePasses(sandbox, 6_000, endings)).toHaveLength(1);
  expect(thread(sandbox).filter((text) => text.includes('staging is stopping'))).toHaveLength(1);
});
