import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { textOf } from '../harness/messages.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

type File = Record<string, never>;
const edited = (from: string, to: string) => (file: File) =>
  JSON.parse(JSON.stringify(file).replaceAll(from, to));

test('an edited policy applies after the reload, also to open changes', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  expect(await sandbox.reload(edited('"count":1', '"count":2'))).toEqual({ ok: true });
  await sandbox.press(BEN, card, 'change.approve');
  const stopped = await sandbox.card('not run: the current policy refuses it');
  expect(textOf(stopped ?? { text: '', blocks: [] })).toContain(
    'The current policy requires more approvals',
  );
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('a configuration with an unknown group is refused, and the current one stays', async () => {
  const sandbox = await startTestSandbox();
  const refused = await sandbox.reload(edited('@db-leads', '@db-leeds'));
  expect(refused).toMatchObject({ ok: false, problems: [{ where: 'roles.approver' }] });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
});

test('no command and no press is lost during a reload', async () => {
  const sandbox = await startTestSandbox();
  const reloading = sandbox.reload(edited('"count":1', '"count":1'));
  const sent = Array.from({ length: 20 }, () =>
    sandbox.slack.command(ANA, 'ops', '/service show staging'),
  );
  const card = await requestChange(sandbox);
  expect(await reloading).toEqual({ ok: true });
  await Promise.all(sent);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  const shown = () =>
    sandbox.slack
      .clientState(ANA)
      .messages.filter((each) => each.ephemeral && textOf(each).includes('/service show'));
  await expect.poll(() => shown().length).toBe(20);
});

test('a reload works with Socket Mode', async () => {
  const sandbox = await startTestSandbox({ delivery: 'socket' });
  const card = await requestChange(sandbox);
  expect(await sandbox.reload(edited('"count":1', '"count":1'))).toEqual({ ok: true });
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
});

test('settings that need a restart are not reloaded', async () => {
  const sandbox = await startTestSandbox();
  if (!sandbox.started.ok) throw new Error('It does not run');
  const { config } = sandbox;
  const previousKeys = [new Secret('another key')];
  const next = { ...config, port: 1, key: null, previousKeys };
  const refused = await sandbox.started.reload({ ok: true, config: next });
  expect(refused).toEqual({
    ok: false,
    problems: [
      { where: 'SIGNALBOX_KEY', problem: 'cannot change at runtime', hint: 'restart Signalbox' },
      {
        where: 'SIGNALBOX_PREVIOUS_KEYS',
        problem: 'cannot change at runtime',
        hint: 'restart Signalbox',
      },
      { where: 'PORT', problem: 'cannot change at runtime', hint: 'restart Signalbox' },
    ],
  });
});

test('commands, changes, refusals and API calls are counted in the metrics', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.press(ANA, await requestChange(sandbox), 'change.approve');
  await sandbox.privateMessage(ANA, 'You requested this change');
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  await sandbox.card('staging is stopping');
  const told = await (await fetch(`${sandbox.url}/metrics`)).text();
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
