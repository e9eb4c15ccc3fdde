import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { startProcessSandbox } from '../harness/bot-process.ts';
import { sandboxFile } from '../harness/config.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { requestChange } from '../harness/requests.ts';
import { runCommand } from '../harness/run-command.ts';
import { AUDIT_KEY } from '../harness/simulators.ts';
import { BEN } from '../harness/users.ts';
import { createUser } from '../storage/database-user.ts';
import { emptyUrl, run } from '../storage/engines.ts';

const SIGNALBOX_KEY = AUDIT_KEY.toString('base64');
const signalbox = (words: readonly string[], env: Readonly<Record<string, string>>) =>
  runCommand([SIGNALBOX, ...words], { SIGNALBOX_KEY, ...env });

test('a role that owns nothing runs Signalbox, and can change no table and no event', async () => {
  const DATABASE_URL = await emptyUrl('postgres');
  const role = await createUser(DATABASE_URL);
  const words = [SIGNALBOX, 'migrate', '--for', role.name];
  const migrated = await runCommand(words, { DATABASE_URL });
  expect(migrated).toMatchObject({ code: 0, err: '' });

  const sandbox = await startProcessSandbox({ databaseUrl: role.url });
  const bot = await sandbox.startAndDeliver();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);

  for (const statement of [
    "update event set type = 'other'",
    'delete from event',
    'truncate event',
    'drop table event',
    'alter table event disable trigger all',
    'create table mine (id text)',
    "insert into migration values ('x')",
  ]) {
    await expect(run(role.url, statement)).rejects.toThrow(/permission denied|must be owner/);
  }
  const own = { DATABASE_URL: role.url };
  expect(await signalbox(['audit', 'verify'], own)).toMatchObject({ code: 0 });
  expect(await signalbox(['rebuild'], own)).toMatchObject({ code: 0, err: '' });
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-migrate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const SIGNALBOX_CONFIG = join(folder, 'signalbox.yaml');
  writeFileSync(SIGNALBOX_CONFIG, stringify({ ...sandboxFile(), retention: { changes: '90d' } }));
  const pruned = await signalbox(['audit', 'prune', '--export', folder], {
    ...{ ...own, SIGNALBOX_CONFIG },
  });
  expect(pruned).toMatchObject({ code: 0, err: '' });
  // What a run does with the texts of what ended before.
  await run(role.url, 'update event set body = null where seq = 1');

  const broken = "alter table event disable trigger all; update event set type = 'x' where seq = 2";
  await run(DATABASE_URL, `${broken}; alter table event enable trigger all`);
  const closing = ['audit', 'close', '--export', join(folder, 'closed.jsonl')];
  expect(await signalbox(closing, { DATABASE_URL })).toMatchObject({ code: 0, err: '' });
  await expect(run(role.url, 'delete from event')).rejects.toThrow('permission denied');
  await sandbox.startAndDeliver();
  await requestChange(sandbox);
});

test('a role that does not exist, and SQLite, are refused in a sentence', async () => {
  const DATABASE_URL = await emptyUrl('postgres');
  const unknown = await signalbox(['migrate', '--for', 'nobody-here'], { DATABASE_URL });
  expect(unknown).toMatchObject({ code: 1, err: 'role "nobody-here" does not exist\n' });
  const sqlite = await signalbox(['migrate', '--for', 'x'], { DATABASE_URL: 'file:./x.db' });
  expect(sqlite.err).toBe('--for is for PostgreSQL: SQLite has no roles.\n');
  expect(sqlite.code).toBe(2);
});
