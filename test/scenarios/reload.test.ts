import { expect, test } from 'vitest';
import { ask, STAGING } from './request.ts';
import { ANA, BEN, openStage, textOf } from './stage.ts';

type File = Record<string, never>;
const edited = (from: string, to: string) => (file: File) =>
  JSON.parse(JSON.stringify(file).replaceAll(from, to));

test('an edited policy applies after the reload, also to open changes', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  expect(await stage.reload(edited('"count":1', '"count":2'))).toEqual({ ok: true });
  await stage.press(BEN, card, 'change.approve');
  const stopped = await stage.card('not run: the current policy refuses it');
  expect(textOf(stopped ?? { text: '', blocks: [] })).toContain(
    'The current policy requires more approvals',
  );
  expect(stage.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('a configuration with an unknown group is refused, and the current one stays', async () => {
  const stage = await openStage();
  const refused = await stage.reload(edited('@db-leads', '@db-leeds'));
  expect(refused).toMatchObject({ ok: false, problems: [{ where: 'Slack' }] });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
});

test('no command and no press is lost during a reload', async () => {
  const stage = await openStage();
  const reloading = stage.reload(edited('"count":1', '"count":1'));
  const sent = Array.from({ length: 20 }, () =>
    stage.slack.command(ANA, 'ops', '/service show staging'),
  );
  const card = await ask(stage);
  expect(await reloading).toEqual({ ok: true });
  await Promise.all(sent);
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
  const shown = () =>
    stage.slack
      .clientState(ANA)
      .messages.filter((each) => each.ephemeral && textOf(each).includes('/service show'));
  await expect.poll(() => shown().length).toBe(20);
});

test('a reload works with Socket Mode', async () => {
  const stage = await openStage({ delivery: 'socket' });
  const card = await ask(stage);
  expect(await stage.reload(edited('"count":1', '"count":1'))).toEqual({ ok: true });
  await stage.press(BEN, card, 'change.approve');
  await stage.card('Stop staging: accepted');
});

test('settings that need a restart are not reloaded', async () => {
  const stage = await openStage();
  if (!stage.started.ok) throw new Error('It does not run');
  const { config } = stage;
  const refused = await stage.started.reload({ ...config, port: 1, key: null });
  expect(refused).toEqual({
    ok: false,
    problems: [
      { where: 'SIGNALBOX_KEY', problem: 'cannot change at runtime', hint: 'restart Signalbox' },
      { where: 'PORT', problem: 'cannot change at runtime', hint: 'restart Signalbox' },
    ],
  });
});

test('commands, changes, refusals and API calls are counted in the metrics', async () => {
  const stage = await openStage();
  await stage.press(ANA, await ask(stage), 'change.approve');
  await stage.privateWord(ANA, 'You requested this change');
  await stage.press(BEN, await stage.card('waiting for approval'), 'change.approve');
  await stage.card('Stop staging: accepted');
  const told = await (await fetch(`${stage.url}/metrics`)).text();
  for (const line of [
    'signalbox_answers_total{command="service stop",ending="drafted"} 1',
    'signalbox_change_moves_total{command="service stop",state="succeeded"} 1',
    'signalbox_refusals_total{reason="self-approval"} 1',
    'signalbox_ack_seconds_count{kind="block_actions"} 3',
    'signalbox_api_call_seconds_count{api="cloud",operation="updateServiceState",status="200"} 1',
    'signalbox_open_changes{state="pending"} 0',
    'signalbox_database_readable 1',
  ]) {
    expect(told).toContain(line);
  }
});
