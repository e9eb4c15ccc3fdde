import { expect, test } from 'vitest';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

test('a refresh reads the report again, and the answer shows the time of the data', async () => {
  const sandbox = await startTestSandbox();
  const before = await sandbox.answer(DORA, '/cost mtd', 'T12:00:00.000Z>');
  expect(before).toContain('by service refresh"');
  sandbox.clock.now = new Date('2026-11-20T12:05:00.000Z');
  await sandbox.nextAnswer(DORA, '/cost mtd by metric', 'T12:00:00.000Z>');
  await sandbox.answer(DORA, '/cost mtd refresh', 'T12:05:00.000Z>');
});

test('two replicas share the limit of refreshes, and another user may still refresh', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const sandbox = await startTestSandbox({ databaseUrl });
  const other = await sandbox.replica();
  await sandbox.answer(DORA, '/cost 7d refresh', '13–19 Nov');
  await sandbox.answer(DORA, '/cost mtd refresh', '1–19 Nov');
  await sandbox.answer(DORA, '/cost csv 5d refresh', '15–19 Nov');
  sandbox.slack.deliverTo(`http://127.0.0.1:${other.port}/slack/events`);
  const refused = await sandbox.answer(DORA, '/cost 30d refresh', 'Not refreshed');
  expect(refused).toContain('You can refresh again <!date^');
  expect(refused).toContain('|2026-11-20T12:10:00.000Z>');
  expect(refused).toContain('"value":"cost 2026-10-21..2026-11-19 by service"');
  await sandbox.answer(ANA, '/cost 30d refresh', '21 Oct – 19 Nov');
  sandbox.pass(600_000);
  await sandbox.answer(DORA, '/cost 2026-11-05..2026-11-12 refresh', '5–12 Nov');
});
