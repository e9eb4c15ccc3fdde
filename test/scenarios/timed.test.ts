import { expect, test } from 'vitest';
import {
  changeIdOf,
  expectCardText,
  requestAndApprove,
  requested,
  setTime,
  threadText,
} from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, FINN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const sent = (sandbox: { cloud: { count: (operation: string) => number } }) =>
  sandbox.cloud.count('set state');

test('a temporary stop is reverted after four hours, also across restarts', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('sqlite') });
  await requestAndApprove(sandbox, '/service stop staging for=4h cleaning up');
  await sandbox.card('staging is stopping');
  const planned = await sandbox.card('Start staging: planned');
  await expectCardText(sandbox, 'staging is stopping', `(${changeIdOf(planned)})`);
  expect(sent(sandbox)).toBe(1);
  await sandbox.restart();
  setTime(sandbox, '15:59');
  await sandbox.restart();
  expect(sent(sandbox)).toBe(1);
  setTime(sandbox, '16:00');
  const back = await sandbox.card('staging is starting');
  await expectCardText(sandbox, 'staging is stopping', `by ${changeIdOf(back)}`);
  expect(
    sandbox.cloud
      .requests()
      .filter(({ operation }) => operation === 'set state')
      .map(({ body }) => body),
  ).toEqual([{ command: 'stop' }, { command: 'start' }]);
});

test('a scheduled change waits for its time and runs once', async () => {
  const sandbox = await startTestSandbox();
  const preview = await sandbox.ask(
    ANA,
    '/service stop staging for the night at=20:00',
    'Stop staging?',
  );
  expect(preview?.text).toContain('Runs  <!date^1795201200^');
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('requests: ');
  expect(card?.text).toContain('approve by <!date^');
  await sandbox.press(BEN, card, 'change.approve');
  expect((await sandbox.card('Stop staging: approved'))?.text).toContain(
    'It can be cancelled until then',
  );
  setTime(sandbox, '18:59');
  await expect.poll(() => sandbox.cloud.count('set state')).toBe(0);
  setTime(sandbox, '19:00');
  await sandbox.card('staging is stopping');
  expect(sent(sandbox)).toBe(1);
});

test('a cancelled revert changes nothing, and both cards say so', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service stop staging for=4h');
  const planned = await sandbox.card('Start staging: planned');
  await sandbox.press(BEN, planned, 'change.cancel');
  await sandbox.privateMessage(BEN, 'Only');
  await sandbox.press(ANA, planned, 'change.cancel');
  await sandbox.card('Start staging: cancelled');
  await expect.poll(() => threadText(sandbox, planned?.ts ?? '')).toContain('”: cancelled.');
  await expectCardText(
    sandbox,
    'staging is stopping',
    `not automatically: ${changeIdOf(planned)} is cancelled`,
  );
  setTime(sandbox, '17:00');
  await expect.poll(() => sent(sandbox)).toBe(1);
});

test('a revert does not overwrite a newer change and asks instead', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service stop staging for=4h');
  await sandbox.card('Start staging: planned');
  setTime(sandbox, '13:00');
  await requestAndApprove(sandbox, '/service start staging needed after all');
  await sandbox.card('staging is starting');
  setTime(sandbox, '16:00');
  const stale = await sandbox.card('Start staging: not run: the target changed since the preview');
  const said = () =>
    sandbox.slack.messages('db-approvals').find((one) => one.threadTs === stale?.ts);
  await expect.poll(said).toBeDefined();
  expect(said()?.text).toContain('staging changed after the preview');
  expect(sent(sandbox)).toBe(2);
  await sandbox.press(FINN, said(), 'change.take-back');
  const preview = await sandbox.privateMessage(FINN, 'Start staging?');
  expect(preview?.text).toContain('undo of');
  expect(preview).toMatchObject({ ephemeral: true, threadTs: stale?.ts });
});

test('a temporary scale reverts only the fields that it changed', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service scale staging min=16 max=32');
  await sandbox.card('staging is scaling');
  setTime(sandbox, '13:00');
  await requestAndApprove(sandbox, '/service scale staging max=64 for=2d');
  await sandbox.card('Scale staging: planned');
  setTime(sandbox, '13:00', '2026-11-22');
  const bodies = () =>
    sandbox.cloud
      .requests()
      .flatMap(({ operation, body }) => (operation === 'scale' ? [body] : []));
  await expect.poll(bodies).toHaveLength(3);
  expect(bodies().slice(1)).toEqual([{ maxReplicaMemoryGb: 64 }, { maxReplicaMemoryGb: 32 }]);
});

test('a temporary scale of a service with unknown size is refused, and the form keeps the values', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', '/service scale staging max=32 for=4h');
  await sandbox.modal(ANA, 'service.scale');
  const form = JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1));
  expect(form).toContain('the previous values are not known');
  expect(form).toContain('"initial_value":"4h"');
  expect(form).toContain('"value":"32"');
});

async function temporaryAlertEdit(sandbox: TestSandbox) {
  const alert = sandbox.alerts.alerts().find(({ name }) => name === '5xx rate');
  const id = alert?.id ?? '';
  await sandbox.confirm(
    ANA,
    '/alert edit "5xx rate" threshold=250 for=2h',
    'Edit alert "5xx rate" (firing)?',
  );
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  return { id, threshold: () => sandbox.alerts.alert(id)?.threshold };
}

test('a revert blocked by a freeze explains why, and is offered when the last freeze has ended', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service stop staging for=4h');
  const { ts } = (await sandbox.card('Start staging: planned')) ?? { ts: '' };
  setTime(sandbox, '15:00');
  await sandbox.confirm(ANA, '/change freeze "staging" until=4h backfill', 'Freeze staging?');
  await sandbox.press(BEN, await sandbox.card('requests: freeze staging'), 'change.approve');
  await sandbox.card('staging is frozen');
  setTime(sandbox, '16:00');
  await sandbox.card('Start staging: not run: the current policy refuses it');
  await expect.poll(() => threadText(sandbox, ts)).toContain('staging was frozen until');
  expect(threadText(sandbox, ts)).toContain(`<@${ANA}>`);

  await sandbox.confirm(FINN, '/change freeze everything until=6h all hands', 'Freeze everything?');
  await sandbox.press(BEN, await sandbox.card('requests: freeze everything'), 'change.approve');
  await sandbox.card('everything is frozen');
  setTime(sandbox, '19:00');
  await sandbox.ask(FINN, '/change freezes', 'all hands');
  const asked = () =>
    sandbox.slack
      .messages('db-approvals')
      .find(({ threadTs, text }) => threadTs === ts && text.includes('is no longer frozen'));
  expect(asked()).toBeUndefined();

  await sandbox.confirm(FINN, '/change unfreeze everything', 'Unfreeze everything?');
  await sandbox.press(BEN, await sandbox.card('requests: unfreeze everything'), 'change.approve');
  await sandbox.card('everything is unfrozen');
  sandbox.wake();
  await expect.poll(asked).toBeDefined();
  expect(asked()?.text).toContain(`<@${ANA}> staging is no longer frozen.`);
  await sandbox.press(ANA, asked(), 'change.take-back');
  const preview = await sandbox.privateMessage(ANA, 'Start staging?');
  expect(preview?.text).toContain('undo of');
  expect(sent(sandbox)).toBe(1);
});

test('a revert is not offered if the target was edited elsewhere during the freeze', async () => {
  const sandbox = await startTestSandbox();
  const { id, threshold } = await temporaryAlertEdit(sandbox);
  const planned = await sandbox.card('Edit alert "5xx rate": planned');
  await sandbox.confirm(ANA, '/change freeze everything until=4h all hands', 'Freeze everything?');
  await sandbox.press(BEN, await sandbox.card('requests: freeze everything'), 'change.approve');
  await sandbox.card('everything is frozen');
  setTime(sandbox, '14:00');
  await sandbox.card('Edit alert "5xx rate": not run: the current policy refuses it');
  sandbox.alerts.editAlert(id, { threshold: 300 });
  const reads = () => sandbox.alerts.count('get alert');
  const before = reads();
  setTime(sandbox, '16:00');
  await expect.poll(reads).toBeGreaterThan(before);
  expect(threadText(sandbox, planned?.ts ?? '')).not.toContain('no longer frozen');
  expect(threshold()).toBe(300);
});

async function resolveAsApplied(sandbox: TestSandbox, title: string) {
  const unknown = await sandbox.card(`${title}: outcome unknown`);
  setTime(sandbox, '13:30');
  await sandbox.pressWithReason(BEN, unknown, 'change.happened', 'the console shows it');
}

test.for<[string, string, string, unknown]>([
  ['Stop staging', '/service stop staging for=4h', 'Start staging', { command: 'start' }],
  [
    'Scale staging',
    '/service scale staging min=32 max=64 idle=off for=4h',
    'Scale staging',
    { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32, idleScaling: true },
  ],
])('%s: after its unknown outcome is resolved as applied, it is reverted on time', async (row) => {
  const [title, line, back, body] = row;
  const sandbox = await startTestSandbox();
  if (title.startsWith('Scale')) {
    await requestAndApprove(sandbox, '/service scale staging min=16 max=32 idle=on');
    await sandbox.card('staging is scaling');
  }
  setTime(sandbox, '13:00');
  const operation = title.startsWith('Scale') ? 'scale' : 'set state';
  sandbox.cloud.injectFault({ operation, fault: 'close-after-effect', times: 1 });
  await sandbox.confirm(ANA, line, `${title}?`);
  await sandbox.press(BEN, await sandbox.card(requested(title)), 'change.approve');
  await resolveAsApplied(sandbox, title);
  const planned = await sandbox.card(`${back}: planned`);
  // Four hours after it was sent, not after the outcome was recorded.
  expect(planned?.text).toContain('2026-11-20T17:00:00.000Z');
  const before = sandbox.cloud.effectCount(operation);
  setTime(sandbox, '17:00');
  await expect.poll(() => sandbox.cloud.effectCount(operation)).toBe(before + 1);
  expect(sandbox.cloud.requests().findLast((one) => one.operation === operation)?.body).toEqual(
    body,
  );
});

test('an alert edit that a user resolves as applied is reverted on time', async () => {
  const sandbox = await startTestSandbox();
  sandbox.alerts.injectFault({ operation: 'update alert', fault: 'reset', times: 1 });
  const { id, threshold } = await temporaryAlertEdit(sandbox);
  await sandbox.card('Edit alert "5xx rate": outcome unknown');
  sandbox.alerts.editAlert(id, { threshold: 250 });
  await resolveAsApplied(sandbox, 'Edit alert "5xx rate"');
  expect((await sandbox.card('Edit alert "5xx rate": planned'))?.text).toContain('250 → 100');
  setTime(sandbox, '14:00');
  await expect.poll(threshold).toBe(100);
});
