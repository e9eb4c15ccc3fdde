import { expect, test } from 'vitest';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { accepted, requestAndApprove, setTime } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA, FINN } from '../harness/users.ts';

async function editedAlert(sandbox: TestSandbox) {
  const line = '/alert edit "5xx rate" threshold=250';
  await sandbox.confirm(ANA, line, 'Edit alert "5xx rate" (firing)?');
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  return sandbox.card('Alert "5xx rate" was edited');
}

test.for<[string, string, string, string]>([
  ['Stop', '/service stop staging', 'Start staging?', '{"command":"start"}'],
  ['Start', '/service start archive', 'Stop archive?', '{"command":"stop"}'],
])('undoing a %s opens a preview of the inverse change', async ([verb, line, title, body]) => {
  const sandbox = await startTestSandbox();
  const name = line.split(' ').at(-1);
  await sandbox.confirm(ANA, line, `${verb} ${name}?`);
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  await sandbox.press(ANA, await sandbox.card(accepted(`${verb} ${name}`)), 'change.undo');
  const preview = await sandbox.privateMessage(ANA, title);
  expect(preview?.text).toContain('undo of');
  await sandbox.press(ANA, preview, 'change.details');
  await sandbox.privateMessage(ANA, `Sends  PATCH state ${body}`);
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('undoing a scale restores the values seen before it', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service scale staging min=16 max=32');
  await sandbox.card('staging is scaling');
  setTime(sandbox, '13:00');
  await requestAndApprove(sandbox, '/service scale staging max=64');
  await expect.poll(() => sandbox.cloud.count('scale')).toBe(2);
  const cards = () =>
    sandbox.slack.messages('db-approvals').filter((one) => buttonsOf(one).includes('change.undo'));
  await expect.poll(cards).toHaveLength(1);
  await sandbox.press(ANA, cards()[0], 'change.undo');
  const preview = await sandbox.privateMessage(ANA, 'undo of');
  expect(preview?.text).toContain('64 → 32');
});

test('undoing an alert edit restores its previous values', async () => {
  const sandbox = await startTestSandbox();
  const card = await editedAlert(sandbox);
  await sandbox.press(FINN, card, 'change.undo');
  expect((await sandbox.privateMessage(FINN, 'undo of'))?.text).toContain('250 → 100');

  const id = sandbox.alerts.alerts().find(({ name }) => name === '5xx rate')?.id ?? '';
  sandbox.alerts.editAlert(id, { threshold: 300 });
  await sandbox.press(ANA, card, 'change.undo');
  const word = await sandbox.privateMessage(ANA, 'was changed again after');
  expect(textOf(word)).toContain('Restore the previous values anyway');
});

test('another user with the role undoes a change, with a warning about the newer one', async () => {
  const sandbox = await startTestSandbox();
  await requestAndApprove(sandbox, '/service stop staging for the night');
  const first = await sandbox.card('staging is stopping');
  setTime(sandbox, '13:00');
  await requestAndApprove(sandbox, '/service start staging needed after all');
  await sandbox.card('staging is starting');
  await sandbox.press(DORA, first, 'change.undo');
  await sandbox.privateMessage(DORA, '/service start');
  await sandbox.press(FINN, first, 'change.undo');
  const word = await sandbox.privateMessage(FINN, 'was changed again after');
  expect(textOf(word)).toContain('Start it again anyway');
  await sandbox.press(FINN, word, 'command.0');
  expect((await sandbox.privateMessage(FINN, 'Start staging?'))?.text).toContain('undo of');
});

test('an undo is refused while the target cannot be read', async () => {
  const sandbox = await startTestSandbox();
  const card = await editedAlert(sandbox);
  sandbox.alerts.injectFault({ operation: 'get alert', fault: '500', times: 20 });
  await sandbox.press(ANA, card, 'change.undo');
  await sandbox.privateMessage(ANA, 'Request failed');
  expect(sandbox.alerts.count('update alert')).toBe(1);
});
