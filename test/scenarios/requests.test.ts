import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { textOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';

type Line = Readonly<Record<string, unknown>>;

async function openLoggedStage() {
  const lines: Line[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: 'debug' }, { write });
  const sandbox = await startTestSandbox({ log });
  return {
    sandbox,
    lines,
    saying: (msg: string, fields: Line = {}) =>
      lines.filter((line) =>
        Object.entries({ ...fields, msg }).every(([key, value]) => line[key] === value),
      ),
  };
}

test('all log lines of one command share a request id, API calls included', async () => {
  const { sandbox, saying } = await openLoggedStage();
  await Promise.all([
    sandbox.slack.command(DORA, 'ops', '/backup show staging 00000000-0000-4000-8000-000000000000'),
    sandbox.slack.command(ANA, 'ops', '/alert list'),
  ]);
  await sandbox.privateMessage(DORA, 'There is no such backup');
  await sandbox.privateMessage(ANA, 'alerts');
  const came = saying('payload received', { kind: 'command' }).map(({ request }) => request);
  expect(new Set(came).size).toBe(2);
  const asked = ['getBackup', 'listAlerts'].flatMap((operation) =>
    saying('API called', { operation }).map(({ request }) => request),
  );
  expect(asked.toSorted()).toEqual(came.toSorted());
});

test('what follows from a press names its change, and no request: any replica may do it', async () => {
  const { sandbox, saying } = await openLoggedStage();
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  const [approved] = saying('change moved', { to: 'approved' });
  const presses = saying('payload received', { kind: 'block_actions' });
  expect(presses.at(-1)?.request).toMatch(/^[\da-f]{10}$/);
  expect(approved).not.toHaveProperty('request');
  expect(approved).toMatchObject({ user: BEN, what: 'press approve' });
  expect(presses.at(-1)).toMatchObject({ user: BEN, what: 'press change.approve' });
  const [sent] = saying('API called', { operation: 'updateServiceState' });
  expect(sent).toMatchObject({ change: approved?.change, status: 200, api: 'cloud' });
  expect(sent).not.toHaveProperty('request');
});

test('the reference of an error finds its log lines', async () => {
  const { sandbox, saying } = await openLoggedStage();
  sandbox.slack.failNext({ method: 'views.open', times: 1, how: { error: 'view_too_large' } });
  await sandbox.slack.command(ANA, 'ops', '/service stop');
  const told = textOf(await sandbox.privateMessage(ANA, 'had an internal error'));
  const [, ref] = /\(ref (\w+)\)/.exec(told) ?? [];
  expect(saying('internal error reported to a user', { request: ref })).toHaveLength(1);
  expect(saying('payload received', { request: ref })).toHaveLength(1);
});

test('background work does not carry the request id that woke it', async () => {
  const { sandbox, saying } = await openLoggedStage();
  sandbox.slack.failNext({
    method: 'chat.postMessage',
    times: 1,
    how: { error: 'internal_error' },
  });
  await sandbox.confirm(ANA, '/service stop staging for the night', 'Stop staging?');
  await expect.poll(() => saying('job failed; it is tried again')).toHaveLength(1);
  expect(saying('job failed; it is tried again')[0]).not.toHaveProperty('request');
});
