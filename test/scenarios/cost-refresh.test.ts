import { expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const MINUTE_MS = 60_000;
/** The number of reports of November: background work reads other months. */
const reads = ({ cloud }: TestSandbox) =>
  cloud
    .requests()
    .filter(({ operation }) => operation === 'usage cost')
    .filter(({ reply }) => JSON.stringify(reply).includes('"2026-11-10"')).length;

test('refetch now: /cost refresh reads the report again and shows the time of the data', async () => {
  const sandbox = await startTestSandbox();
  const before = await sandbox.answer(DORA, '/cost mtd', 'credits so far');
  expect(before).toContain('As of <!date^');
  expect(before).toContain('|2026-11-20T12:00:00.000Z>');
  expect(before).toContain('by service refresh"');
  const read = reads(sandbox);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 5 * MINUTE_MS);
  expect(await sandbox.answer(DORA, '/cost mtd by metric', 'compute')).toContain('T12:00:00.000Z>');
  expect(reads(sandbox)).toBe(read);
  const after = await sandbox.answer(DORA, '/cost mtd refresh', 'T12:05:00.000Z>');
  expect(after).toContain('1–19 Nov');
  expect(reads(sandbox)).toBe(read + 1);
  await sandbox.answer(DORA, '/cost forecast', 'November 2026: heading for');
  expect(reads(sandbox)).toBe(read + 1);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + MINUTE_MS);
  await sandbox.answer(DORA, '/cost forecast refresh', 'T12:06:00.000Z>');
  expect(reads(sandbox)).toBe(read + 2);
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
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 10 * MINUTE_MS);
  await sandbox.answer(DORA, '/cost 2026-11-05..2026-11-12 refresh', '5–12 Nov');
});
