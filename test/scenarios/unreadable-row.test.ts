import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { changeIdOf, requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { freshUrl } from '../storage/engines.ts';

/** Two changes wait for approval; the row of the first is damaged while the bot is down. */
async function withDamagedRow() {
  const url = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl: url });
  const damaged = changeIdOf(await requestChange(sandbox));
  const other = changeIdOf(await requestChange(sandbox, ANA, '/service stop staging again'));
  await sandbox.down();
  const file = new DatabaseSync(url.slice('file:'.length));
  file.prepare("update change set plan = '{' where id = ?").run(damaged);
  file.close();
  await sandbox.restart();
  return { sandbox, damaged, other };
}

test('Home shows the other changes and names one whose row is damaged', async () => {
  const { sandbox, damaged, other } = await withDamagedRow();
  await sandbox.slack.openHome({ as: BEN });
  const home = () => JSON.stringify(sandbox.slack.clientState(BEN).home ?? []);
  await expect.poll(home).toContain('Waiting for you (1)');
  expect(home()).toContain(other);
  expect(home()).toContain(`1 change not shown: ${damaged}.`);
});

test('/change list shows the other changes and names one whose row is damaged', async () => {
  const { sandbox, damaged, other } = await withDamagedRow();
  await sandbox.slack.command(ANA, 'ops', '/change list pending');
  const list = await sandbox.privateMessage(ANA, 'changes waiting for approval');
  expect(JSON.stringify(list)).toContain(other);
  expect(JSON.stringify(list)).toContain(`1 change not shown: ${damaged}.`);
});

test('a key of a newer release is kept when the change moves on', async () => {
  const url = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl: url });
  await requestChange(sandbox);
  await sandbox.down();
  const read = <T>(work: (file: DatabaseSync) => T) => {
    const file = new DatabaseSync(url.slice('file:'.length));
    const found = work(file);
    file.close();
    return found;
  };
  read((file) => file.exec("update change set requires = json_set(requires, '$.newer', 1)"));
  await sandbox.restart();
  // The test wrote the key without an event, so that the change ends when its card is checked.
  await sandbox.card('not run: it does not match the audit trail');
  await sandbox.down();
  expect(read((file) => file.prepare('select requires from change').get())).toMatchObject({
    requires: expect.stringContaining('"newer":1'),
  });
});
