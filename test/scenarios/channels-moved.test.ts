import { expect, test } from 'vitest';
import { approved, settled } from './actions.ts';
import { ask } from './request.ts';
import { ANA, BEN, openStage, type Stage, textOf } from './stage.ts';

const edited = (from: string, to: string) => (file: Record<string, never>) =>
  JSON.parse(JSON.stringify(file).replaceAll(from, to));

/** Ana requests and confirms a change; no card is expected yet. */
async function confirmed(stage: Stage, line: string): Promise<void> {
  await stage.slack.command(ANA, 'ops', line);
  await stage.press(ANA, await stage.privateWord(ANA, 'staging?'), 'change.confirm');
  await settled(stage);
}

async function pass(stage: Stage, minutes: number): Promise<void> {
  stage.clock.now = new Date(stage.clock.now.getTime() + minutes * 60_000);
  stage.wake();
  await settled(stage);
}

test('after the approvals channel is renamed, old cards keep working and new ones follow the file', async () => {
  const stage = await openStage();
  const first = await ask(stage);
  stage.slack.admin.rename('db-approvals', 'db-decisions');
  await stage.press(BEN, first, 'change.approve');
  await stage.card('Stop staging: accepted', 'db-decisions');

  await pass(stage, 1);
  await confirmed(stage, '/service start staging for the morning');
  const cards = () => stage.slack.messages('db-decisions').filter(({ threadTs }) => !threadTs);
  expect(cards()).toHaveLength(1);
  expect(await stage.reload(edited('#db-approvals', '#db-decisions'))).toEqual({ ok: true });
  await pass(stage, 1);
  const second = await stage.card('Start staging: waiting for approval', 'db-decisions');
  await stage.press(BEN, second, 'change.approve');
  await stage.card('Start staging: accepted', 'db-decisions');
  expect(cards()).toHaveLength(2);
});

test('with an archived approvals channel nothing runs, and the operators are notified', async () => {
  const stage = await openStage();
  stage.slack.admin.archive('db-approvals');
  await confirmed(stage, '/service stop staging for the night');
  const told = () => stage.slack.messages('db-audit').map(textOf).join('\n');
  for (let tries = 0; tries < 20; tries += 1) await pass(stage, 6);
  expect(told()).toContain('Slack refused a message of change');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('with an archived audit channel changes still run', async () => {
  const stage = await openStage();
  stage.slack.admin.archive('db-audit');
  await approved(stage, '/service stop staging for the night');
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.count('set state')).toBe(1);
});
