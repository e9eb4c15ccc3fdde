import { expect, test } from 'vitest';
import { approved, goTo } from './actions.ts';
import { empty } from './request.ts';
import { ANA, BEN, buttonsOf, DORA, FINN, openStage, type Stage, textOf } from './stage.ts';

async function stopped(stage: Stage) {
  await approved(stage, '/service stop staging for the night');
  const card = await stage.card('Stop staging: accepted');
  goTo(stage, '13:00');
  return card;
}

test.for<[string, string, string, string]>([
  ['Stop', '/service stop staging', 'Start staging?', '{"command":"start"}'],
  ['Start', '/service start archive', 'Stop archive?', '{"command":"stop"}'],
])('undoing a %s opens a preview of the inverse change', async ([verb, line, title, body]) => {
  const stage = await openStage();
  const name = line.split(' ').at(-1);
  await stage.slack.command(ANA, 'ops', line);
  await stage.press(ANA, await stage.privateWord(ANA, `${verb} ${name}?`), 'change.confirm');
  await stage.press(BEN, await stage.card('waiting for approval'), 'change.approve');
  await stage.press(ANA, await stage.card('accepted'), 'change.undo');
  const preview = await stage.privateWord(ANA, title);
  expect(preview?.text).toContain(body);
  expect(preview?.text).toContain('undo of');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('undoing a scale restores the values seen before it', async () => {
  const stage = await openStage();
  await approved(stage, '/service scale staging min=16 max=32');
  await stage.card('Scale staging: accepted');
  goTo(stage, '13:00');
  await approved(stage, '/service scale staging max=64');
  await expect.poll(() => stage.cloud.count('scale')).toBe(2);
  const cards = () =>
    stage.slack.messages('db-approvals').filter((one) => buttonsOf(one).includes('change.undo'));
  await expect.poll(cards).toHaveLength(1);
  await stage.press(ANA, cards()[0], 'change.undo');
  const preview = await stage.privateWord(ANA, 'undo of');
  expect(preview?.text).toContain('64 → 32');
});

test('undoing an alert edit restores its previous values', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/alert edit "5xx rate" threshold=250');
  await stage.press(ANA, await stage.privateWord(ANA, 'Edit alert 5xx rate?'), 'change.confirm');
  await stage.press(BEN, await stage.card('waiting for approval'), 'change.approve');
  const card = await stage.card('accepted');
  await stage.press(FINN, card, 'change.undo');
  expect((await stage.privateWord(FINN, 'undo of'))?.text).toContain('250 → 100');

  const id = stage.alerts.alerts().find(({ name }) => name === '5xx rate')?.id ?? '';
  stage.alerts.editAlert(id, { threshold: 300 });
  await stage.press(ANA, card, 'change.undo');
  const word = await stage.privateWord(ANA, 'was changed again after');
  expect(textOf(word ?? empty)).toContain('Restore the previous values anyway');
});

test('undoing a change with a newer one after it shows a warning and still offers it', async () => {
  const stage = await openStage();
  const first = await stopped(stage);
  await approved(stage, '/service start staging needed after all');
  await stage.card('Start staging: accepted');
  await stage.press(FINN, first, 'change.undo');
  const word = await stage.privateWord(FINN, 'was changed again after');
  expect(textOf(word ?? empty)).toContain('Start it again anyway');
  await stage.press(FINN, word, 'command.0');
  expect((await stage.privateWord(FINN, 'Start staging?'))?.text).toContain('undo of');
});

test('another user can undo a change only with the necessary role', async () => {
  const stage = await openStage();
  const card = await stopped(stage);
  await stage.press(DORA, card, 'change.undo');
  await stage.privateWord(DORA, '/service start');
  await stage.press(FINN, card, 'change.undo');
  await stage.press(FINN, await stage.privateWord(FINN, 'Start staging?'), 'change.confirm');
  const asked = await stage.card('Start staging: waiting for approval');
  expect(asked?.text).toContain(`Requested by  <@${FINN}>`);
});

test('an undo is refused while the target cannot be read', async () => {
  const stage = await openStage();
  await stage.slack.command(ANA, 'ops', '/alert edit "5xx rate" threshold=250');
  await stage.press(ANA, await stage.privateWord(ANA, 'Edit alert 5xx rate?'), 'change.confirm');
  await stage.press(BEN, await stage.card('waiting for approval'), 'change.approve');
  const card = await stage.card('accepted');
  stage.alerts.injectFault({ operation: 'get alert', fault: '500', times: 20 });
  await stage.press(ANA, card, 'change.undo');
  await stage.privateWord(ANA, 'Request failed');
  expect(stage.alerts.count('update alert')).toBe(1);
});
