import { copyFileSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { dropEventGuards } from '../../src/storage/index.ts';
import { sqlitePath } from '../../src/storage/sqlite.ts';
import { textOf } from '../harness/messages.ts';
import { NO_MESSAGE, requestChange, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** A sandbox on a file, whose copies can be put back while the bot is down. */
async function onFile() {
  const url = await emptyUrl('sqlite');
  const path = sqlitePath(url);
  const sandbox = await startTestSandbox({ databaseUrl: url });
  const copies: string[] = [];
  return {
    sandbox,
    path,
    /** Copies the database while the bot is down, and starts it again. */
    backUp: async () => {
      await sandbox.down();
      const copy = `${path}.copy${copies.length}`;
      copyFileSync(path, copy);
      copies.push(copy);
      await sandbox.restart();
      return copy;
    },
    /** Puts a copy in the place of the database. */
    restore: async (copy: string) => {
      await sandbox.down();
      for (const part of ['', '-wal', '-shm']) rmSync(`${path}${part}`, { force: true });
      copyFileSync(copy, path);
      await sandbox.restart();
    },
  };
}

const sends = ({ cloud }: TestSandbox) => cloud.effectCount('set state', STAGING);

/** Lets everything happen that would happen in the next minutes. */
async function letTimePass(sandbox: TestSandbox, minutes = 3): Promise<void> {
  for (let times = 0; times < minutes * 4; times += 1) {
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 15_000);
    sandbox.wake();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a copy from before the claim sends nothing again, and the card says so', async () => {
  const { sandbox, backUp, restore } = await onFile();
  const card = await requestChange(sandbox);
  const copy = await backUp();
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(sends(sandbox)).toBe(1);

  await restore(copy);
  const stale = await sandbox.card('the database was restored');
  expect(stale?.ts).toBe(card?.ts);
  await sandbox.press(BEN, card, 'change.approve').catch(() => undefined);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('The database went back');
});

test('a copy from before the card of a change draws the card as lost', async () => {
  const { sandbox, backUp, restore } = await onFile();
  const copy = await backUp();
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  await restore(copy);
  await expect
    .poll(() =>
      textOf(
        sandbox.slack.messages('db-approvals').find(({ ts }) => ts === card?.ts) ?? NO_MESSAGE,
      ),
    )
    .toContain('lost');
  await sandbox.press(BEN, card, 'change.approve').catch(() => undefined);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
});

test('a copy from before a cancellation does not run what people saw cancelled', async () => {
  const { sandbox, backUp, restore } = await onFile();
  const card = await requestChange(sandbox);
  const copy = await backUp();
  await sandbox.press(ANA, card, 'change.cancel');
  await sandbox.card('cancelled');
  await restore(copy);
  await sandbox.card('the database was restored');
  await sandbox.press(BEN, card, 'change.approve').catch(() => undefined);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});

/** Changes the database past the bot, as somebody who owns it. */
function tamper(path: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(path);
  for (const statement of [
    ...dropEventGuards('sqlite').map((each) => each.replace('trigger', 'trigger if exists')),
    ...statements,
  ]) {
    database.exec(statement);
  }
  database.close();
}

test('the last events of an executed change are deleted: the start finds the foreign marks', async () => {
  const { sandbox, path } = await onFile();
  const card = await requestChange(sandbox);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  await sandbox.down();
  const claimed = `(select seq from event where type = 'claimed')`;
  tamper(
    path,
    `delete from event where seq >= ${claimed}`,
    `update change_view set state = 'approved', is_open = 1, ended_at = null, sent_at = null`,
    `delete from job`,
    `insert into job (kind, key, due_at) select 'run', id, 0 from change_view`,
  );
  await sandbox.restart();
  await sandbox.card('the database was restored');
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
});

test('events in the middle are deleted: nothing starts', async () => {
  const { sandbox, path } = await onFile();
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
  await sandbox.down();
  tamper(path, `delete from event where type = 'claimed'`);
  const refused = await sandbox.refusedRestart();
  expect(refused?.problems[0]?.problem).toContain('The log is damaged');
  expect(refused?.lasting).toBe(true);
});

test('events are deleted under a running bot: it executes nothing more', async () => {
  const { sandbox, path } = await onFile();
  const card = await requestChange(sandbox);
  tamper(path, `delete from event where type = 'confirmed'`);
  await sandbox.press(BEN, card, 'change.approve').catch(() => undefined);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});

test.for([
  [
    'an approval without a signature',
    `insert into event select seq + 1, stream, version + 1, 'approved', at, '{"by":"${BEN}","digest":"x"}', body_hash, hash, 'forged', key, signature from event order by seq desc limit 1`,
  ],
  [
    'an older requirement',
    `update event set body = replace(body, '"count":1', '"count":0') where type = 'drafted'`,
  ],
  [
    'another configuration',
    `update event set body = replace(body, 'configuration', 'configuration2') where type = 'configured'`,
  ],
])('%s in the database is never used', async ([, statement = '']) => {
  const { sandbox, path } = await onFile();
  const card = await requestChange(sandbox);
  tamper(
    path,
    statement,
    `insert into job (kind, key, due_at) select 'run', id, 0 from change_view`,
  );
  await sandbox.press(BEN, card, 'change.approve').catch(() => undefined);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});

test('a job that is inserted runs nothing that was not approved', async () => {
  const { sandbox, path } = await onFile();
  await requestChange(sandbox);
  tamper(path, `insert into job (kind, key, due_at) select 'run', id, 0 from change_view`);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});

test('a view that says approved runs nothing', async () => {
  const { sandbox, path } = await onFile();
  await requestChange(sandbox);
  tamper(
    path,
    `update change_view set state = 'approved'`,
    `insert into job (kind, key, due_at) select 'run', id, 0 from change_view`,
  );
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});
