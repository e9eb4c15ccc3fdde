import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { hasButton, textOf } from '../harness/messages.ts';
import { NO_MESSAGE, requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, FINN, NOON } from '../harness/users.ts';
import { freshUrl, run } from '../storage/engines.ts';

const STAGE_KEY = Buffer.alloc(32, 7);

/** The bot on a database whose first event was modified. */
async function startedWithModifiedTrail() {
  const url = await freshUrl('postgres');
  const before = await openDatabase(url);
  await before.transaction((tx) =>
    appendEvent(tx, STAGE_KEY, { kind: 'started', at: NOON, body: { by: 'signalbox' } }),
  );
  await before.close();
  await run(url, 'drop trigger audit_event_only_added on audit_event');
  await run(url, "update audit_event set body = replace(body, 'started', 'Started') where seq = 1");
  const sandbox = await startTestSandbox({ databaseUrl: url });
  return { url, sandbox };
}

test('a modified audit trail stops executions, and queries still work', async () => {
  const { url, sandbox } = await startedWithModifiedTrail();

  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('Stop staging: approved');
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('The audit trail does not match its hashes. Event 1');
  setMinutesAfterNoon(sandbox, 1);
  await sandbox.slack.command(ANA, 'ops', '/service list');
  await sandbox.privateMessage(ANA, 'analytics-prod');
  expect(sandbox.cloud.count('set state')).toBe(0);
  const ready = await fetch(`${sandbox.url}/readyz`);
  expect(await ready.text()).toContain('ready, but executions are stopped: Event 1');
  expect(ready.status).toBe(200);
  const metrics = await fetch(`${sandbox.url}/metrics`);
  expect(await metrics.text()).toContain('signalbox_trail_broken 1');

  // After the row is restored, a start verifies the trail again and executes the change.
  await run(url, "update audit_event set body = replace(body, 'Started', 'started') where seq = 1");
  await sandbox.restart();
  setMinutesAfterNoon(sandbox, 2);
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

function setMinutesAfterNoon(sandbox: TestSandbox, minutes: number): void {
  sandbox.clock.now = new Date(NOON.getTime() + minutes * 60_000);
  sandbox.wake();
}

test('a start with another key than that of the audit trail is refused', async () => {
  const url = await freshUrl('sqlite');
  const before = await openDatabase(url);
  const other = Buffer.alloc(32, 9);
  await before.transaction((tx) =>
    appendEvent(tx, other, { kind: 'started', at: NOON, body: { by: 'signalbox' } }),
  );
  await before.close();
  const { started } = await startTestSandbox({ databaseUrl: url });
  expect(started).toMatchObject({
    ok: false,
    problems: [
      {
        where: 'SIGNALBOX_KEY',
        problem: 'is not the key of the audit trail in this database',
      },
    ],
  });
});

test('two operators accept a gap in Slack; a waiting change ends, and a new request runs', async () => {
  const { url, sandbox } = await startedWithModifiedTrail();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('Stop staging: approved');

  const notice = await sandbox.card('two operators can accept the gap', 'db-audit');
  await sandbox.press(BEN, notice, 'trail.accept');
  await sandbox.privateMessage(BEN, "You can't use “Accept gap…” (trail accept): rule 5 allows");
  await sandbox.press(ANA, notice, 'trail.accept');
  await sandbox.privateMessage(ANA, 'A different operator must accept it too.');
  await sandbox.press(ANA, notice, 'trail.accept');
  await sandbox.privateMessage(ANA, 'You already accepted this gap.');
  const once = await sandbox.card('Accepted by <@U0ANA00001>. A different', 'db-audit');
  expect(sandbox.cloud.count('set state')).toBe(0);

  await sandbox.press(FINN, once, 'trail.accept');
  await sandbox.privateMessage(FINN, 'new requests can run');
  const both = 'Accepted by <@U0ANA00001> and <@U0FINN0001>.';
  await sandbox.card(both, 'db-audit');
  const ended = await sandbox.card('Stop staging: not run: a gap of the audit trail was accepted');
  expect(textOf(ended ?? NO_MESSAGE)).toContain('Signalbox cannot confirm what was requested');
  expect(hasButton(ended ?? NO_MESSAGE, 'change.approve')).toBe(false);
  const metrics = await fetch(`${sandbox.url}/metrics`);
  expect(await metrics.text()).toContain('signalbox_trail_broken 0');
  setMinutesAfterNoon(sandbox, 1);
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);

  // The next start verifies the trail across the gap.
  await sandbox.restart();
  expect(await run(url, "select value from meta where key = 'audit-broken'")).toEqual([]);
});
