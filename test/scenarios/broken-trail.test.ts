import { expect, test } from 'vitest';
import { appendEvent } from '../../src/storage/audit/append.ts';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { freshUrl, run } from '../storage/engines.ts';
import { ask } from './request.ts';
import { ANA, BEN, NOON, openStage, type Stage, textOf } from './stage.ts';

const STAGE_KEY = Buffer.alloc(32, 7);

test('a modified audit trail stops executions, and queries still work', async () => {
  const url = await freshUrl('postgres');
  const before = await openDatabase(url);
  await before.transaction((tx) =>
    appendEvent(tx, STAGE_KEY, { kind: 'started', at: NOON, body: { by: 'signalbox' } }),
  );
  await before.close();
  await run(url, 'drop trigger audit_event_only_added on audit_event');
  await run(url, "update audit_event set body = replace(body, 'started', 'Started') where seq = 1");
  const stage = await openStage({ databaseUrl: url });

  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: approved');
  await expect
    .poll(() => stage.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('The audit trail does not match its hashes. Event 1');
  setMinutesAfterNoon(stage, 1);
  await stage.slack.command(ANA, 'ops', '/service list');
  await stage.privateWord(ANA, 'analytics-prod');
  expect(stage.cloud.count('set state')).toBe(0);
  const ready = await fetch(`${stage.url}/readyz`);
  expect(await ready.text()).toContain('ready, but executions are stopped: Event 1');
  expect(ready.status).toBe(200);
  const metrics = await fetch(`${stage.url}/metrics`);
  expect(await metrics.text()).toContain('signalbox_trail_broken 1');

  // After the row is restored, a start verifies the trail again and executes the change.
  await run(url, "update audit_event set body = replace(body, 'Started', 'started') where seq = 1");
  await stage.restart();
  setMinutesAfterNoon(stage, 2);
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.count('set state')).toBe(1);
});

function setMinutesAfterNoon(stage: Stage, minutes: number): void {
  stage.clock.now = new Date(NOON.getTime() + minutes * 60_000);
  stage.wake();
}

test('a start with another key than that of the audit trail is refused', async () => {
  const url = await freshUrl('sqlite');
  const before = await openDatabase(url);
  const other = Buffer.alloc(32, 9);
  await before.transaction((tx) =>
    appendEvent(tx, other, { kind: 'started', at: NOON, body: { by: 'signalbox' } }),
  );
  await before.close();
  const { started } = await openStage({ databaseUrl: url });
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
