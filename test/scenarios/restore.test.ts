import { copyFileSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { listEvents } from '../../src/log/old/append.ts';
import { announceRestore } from '../../src/log/old/restore-mark.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { NO_MESSAGE, requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';

const LINE = '/service stop staging in=30m for the night';

/** Makes a backup while a change waits for its scheduled time, and then executes the change. */
async function executedAfterBackup() {
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  const sandbox = await startTestSandbox({ databaseUrl: url });
  await sandbox.press(BEN, await requestChange(sandbox, ANA, LINE), 'change.approve');
  await sandbox.card('Stop staging: approved');
  await copyOf(path);
  pass(sandbox, 31);
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
  return { sandbox, path };
}

async function copyOf(path: string): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  await backup(source, `${path}.copy`);
  source.close();
}

function restoreCopy(path: string): void {
  for (const beside of ['-wal', '-shm']) rmSync(`${path}${beside}`, { force: true });
  copyFileSync(`${path}.copy`, path);
}

function pass(sandbox: TestSandbox, minutes: number): void {
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + minutes * 60_000);
  sandbox.wake();
}

/** Runs `work` between a stop and a start of the bot. */
async function restartWith(sandbox: TestSandbox, work: () => void): Promise<void> {
  await sandbox.restart((file) => {
    work();
    return file;
  });
}

async function anchors(sandbox: TestSandbox): Promise<readonly string[]> {
  const found = sandbox.slack.messages('db-audit').map(textOf).join('\n');
  return [...new Set(found.match(/audit \d+ [0-9a-f]{64} [0-9a-f]{16} [0-9a-f]{64}/g) ?? [])];
}

test('without any sign of the restore, a restored copy sends the change again', async () => {
  const { sandbox, path } = await executedAfterBackup();
  await restartWith(sandbox, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await expect.poll(() => sandbox.cloud.count('set state')).toBe(2);
});

test('a restored copy does not send its open changes, and their cards say so', async () => {
  const { sandbox, path } = await executedAfterBackup();
  await restartWith(sandbox, () => restoreCopy(path));
  const card = await sandbox.card('Stop staging: not tracked');
  expect(textOf(card ?? NO_MESSAGE)).toContain('restored from an older copy');
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('The database was restored from an older copy, or replaced.');
  pass(sandbox, 60);
  expect(sandbox.cloud.count('set state')).toBe(1);

  // The restore is handled once: changes requested afterwards stay open.
  await requestChange(sandbox, ANA, '/service stop staging in=30m again');
  await sandbox.restart();
  await sandbox.card('requests: stop staging');
});

test.for([
  ['a copy', ''],
  ['a copy from before installations had an id', "delete from meta where key = 'installation'"],
] as const)('%s is recognised by the last anchor in the audit channel', async ([, edit]) => {
  const { sandbox, path } = await executedAfterBackup();
  const copy = new DatabaseSync(`${path}.copy`);
  copy.exec(edit);
  copy.close();
  const first = await anchors(sandbox);
  pass(sandbox, 24 * 60);
  await sandbox.restart();
  await expect.poll(async () => (await anchors(sandbox)).length).toBeGreaterThan(first.length);

  await restartWith(sandbox, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await sandbox.card('Stop staging: not tracked');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

/** Restarts a day later, which posts an anchor. */
async function anchorNextDay(sandbox: TestSandbox): Promise<void> {
  const { length } = await anchors(sandbox);
  pass(sandbox, 24 * 60);
  await sandbox.restart();
  await expect.poll(async () => (await anchors(sandbox)).length).toBeGreaterThan(length);
}

/** A restore that was handled, after which the channel has a higher anchor than the trail. */
async function handledRestore() {
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  const sandbox = await startTestSandbox({ databaseUrl: url });
  await expect.poll(() => anchors(sandbox)).not.toEqual([]);
  await copyOf(path);
  for (const name of ['analytics-prod', 'staging', 'analytics-prod', 'staging']) {
    await sandbox.press(
      ANA,
      await requestChange(sandbox, ANA, `/service stop ${name} now`),
      'change.cancel',
    );
    await sandbox.card('cancelled');
  }
  for (let starts = 0; starts < 8; starts += 1) await sandbox.restart();
  await anchorNextDay(sandbox);
  await restartWith(sandbox, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('The database was restored from an older copy');
  return { sandbox, path };
}

test('a second restore is recognised while the channel has a higher anchor of the first one', async () => {
  const { sandbox, path } = await handledRestore();
  await sandbox.press(BEN, await requestChange(sandbox, ANA, LINE), 'change.approve');
  await sandbox.card('Stop staging: approved');
  await copyOf(path);
  pass(sandbox, 31);
  await sandbox.card('staging is stopping');
  await anchorNextDay(sandbox);
  const numbers = (await anchors(sandbox)).map((line) => Number(line.split(' ')[1]));
  expect(numbers.at(-1)).toBeLessThan(Math.max(...numbers));

  pass(sandbox, -24 * 60);
  await restartWith(sandbox, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await sandbox.card('Stop staging: not tracked');
  expect(sandbox.cloud.count('set state')).toBe(1);

  // Both restores are handled: no anchor of an abandoned timeline is a sign again.
  const card = await requestChange(sandbox, ANA, '/service stop staging in=30m again');
  await sandbox.restart();
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('Stop staging: approved');
});

test('a second installation with the same audit channel is refused, and the first continues', async () => {
  const [first, second] = [await freshUrl('sqlite'), await freshUrl('sqlite')];
  const sandbox = await startTestSandbox({ databaseUrl: first });
  await requestChange(sandbox, ANA, LINE);
  sandbox.setEnv({ DATABASE_URL: second });
  const refused = await sandbox.refusedRestart();
  expect(refused).toMatchObject({ lasting: true, problems: [{ where: 'channels.audit' }] });
  expect(refused?.problems[0]?.hint).toContain('its own SIGNALBOX_KEY or its own audit channel');

  sandbox.setEnv({ DATABASE_URL: first });
  await sandbox.restart();
  await sandbox.card('requests: stop staging');

  // With its own key the second installation starts.
  const key = Buffer.alloc(32, 9).toString('base64');
  sandbox.setEnv({ DATABASE_URL: second, SIGNALBOX_KEY: key });
  await sandbox.restart();
});

test('a second installation whose start cannot read the audit channel executes and anchors nothing', async () => {
  const [first, second] = [await freshUrl('sqlite'), await freshUrl('sqlite')];
  const sandbox = await startTestSandbox({ databaseUrl: first });
  const before = await anchors(sandbox);
  sandbox.setEnv({ DATABASE_URL: second });
  pass(sandbox, 24 * 60);
  sandbox.slack.failNext({ method: 'conversations.list', times: 1, how: 'rate-limited' });
  expect(await sandbox.refusedRestart()).toBeNull();
  await sandbox.press(BEN, await requestChange(sandbox, ANA, LINE), 'change.approve');
  await sandbox.card('Stop staging: approved');
  pass(sandbox, 31);
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('this channel has audit anchors of another Signalbox installation');
  pass(sandbox, 1);
  await sandbox.restart().catch(() => undefined);
  expect(sandbox.cloud.count('set state')).toBe(0);
  expect(await anchors(sandbox)).toEqual(before);
  expect(await sandbox.refusedRestart()).toMatchObject({ lasting: true });
});

test('a first installation executes changes after its audit channel was read again', async () => {
  const databaseUrl = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ yaml: withoutAudit });
  sandbox.slack.failNext({ method: 'conversations.list', times: 1, how: 'rate-limited' });
  sandbox.setEnv({ DATABASE_URL: databaseUrl });
  await sandbox.restart((file) => file);
  const line = '/service stop staging for the night';
  await sandbox.press(BEN, await requestChange(sandbox, ANA, line), 'change.approve');
  await sandbox.card('Stop staging: approved');
  expect(sandbox.cloud.count('set state')).toBe(0);
  // The channel is read again a minute after the failed attempt is recorded.
  const passOn = timeInSteps(sandbox, 12_000);
  const sent = () => {
    passOn();
    return sandbox.cloud.count('set state');
  };
  await expect.poll(sent).toBe(1);
  await sandbox.card('staging is stopping');
});

function withoutAudit(file: object): object {
  return { ...file, channels: { approvals: '#db-approvals' } };
}

test('a reload does not move an installation into the audit channel of another one', async () => {
  const [first, second] = [await freshUrl('sqlite'), await freshUrl('sqlite')];
  const sandbox = await startTestSandbox({ databaseUrl: first });
  sandbox.setEnv({ DATABASE_URL: second });
  await sandbox.restart((file) => ({ ...file, channels: { approvals: '#db-approvals' } }));
  const reloaded = await sandbox.reload();
  expect(reloaded).toMatchObject({ ok: false, problems: [{ where: 'channels.audit' }] });
});

test('a database that an operator announced as a replacement starts, and again later', async () => {
  const [first, url] = [await freshUrl('sqlite'), await freshUrl('sqlite')];
  const sandbox = await startTestSandbox({ databaseUrl: first });
  const replacement = await openDatabase(url);
  await replacement.transaction((tx) => announceRestore(tx, sandbox.clock.now));
  await replacement.close();
  sandbox.setEnv({ DATABASE_URL: url });
  await sandbox.restart();
  await sandbox.restart();
});

test('a forged anchor in a reason is not taken for a restore', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await freshUrl('sqlite') });
  const anchor = `Audit trail on 2026-11-20\naudit 99999 ${'ab'.repeat(32)}`;
  await sandbox.slack.command(ANA, 'ops', '/service stop analytics-prod again');
  const preview = await sandbox.privateMessage(ANA, 'Stop analytics-prod?');
  await sandbox.press(ANA, preview, 'change.break-glass');
  const reason = { reason: { type: 'plain_text_input', value: `x\n${anchor}\n` } };
  await sandbox.slack.submit(ANA, await sandbox.modal(ANA, 'change.break-glass'), { reason });
  await sandbox.card('analytics-prod is stopping');
  await expect
    .poll(() => sandbox.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('audit 99999');

  await requestChange(sandbox, ANA, '/service stop staging in=30m again');
  await sandbox.restart();
  await sandbox.press(BEN, await sandbox.card('requests: stop staging'), 'change.approve');
  await sandbox.card('Stop staging: approved');
});

test('a restored copy does not run a revert that may have run already', async () => {
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  const sandbox = await startTestSandbox({ databaseUrl: url });
  const line = '/service stop staging for=30m for the night';
  await sandbox.press(BEN, await requestChange(sandbox, ANA, line), 'change.approve');
  await sandbox.card('staging is stopping');
  await sandbox.restart();
  pass(sandbox, 31);
  await sandbox.card('staging is starting');
  const sent = sandbox.cloud.count('set state');

  // The copy contains the revert, unless it was made right before the revert was created.
  await sandbox.restart((file) => file);
  await copyOf(path);
  const copy = new DatabaseSync(`${path}.copy`);
  copy.exec('pragma foreign_keys = off; delete from change where parent is not null');
  copy.exec('update change set revert_planned_at = null');
  copy.close();
  await restartWith(sandbox, () => restoreCopy(path));
  await expect
    .poll(() => sandbox.slack.messages('db-approvals').map(textOf).join('\n'))
    .toContain('the database was restored from an older copy, so the revert may have run already');
  expect(sandbox.cloud.count('set state')).toBe(sent);
});

test('an announced restore has the same effect as a detected one', async () => {
  const { sandbox, path } = await executedAfterBackup();
  const copy = await openDatabase(`file:${path}.copy`);
  await copy.transaction((tx) => announceRestore(tx, sandbox.clock.now));
  await copy.close();
  await restartWith(sandbox, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await sandbox.card('Stop staging: not tracked');
  expect(sandbox.cloud.count('set state')).toBe(1);
});

test('each start and stop is recorded in the audit trail with its configuration', async () => {
  const url = await freshUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl: url });
  await sandbox.restart();
  await sandbox.restart((file) => ({ ...file, budgets: [] }));
  const path = url.slice('file:'.length);
  await copyOf(path);
  const { db } = await openForTest(`file:${path}.copy`);
  const told = await listEvents(db, { afterSeq: 0, limit: 100 });
  const life = told.filter(({ kind }) => ['started', 'stopped'].includes(kind));
  expect(life.map(({ kind }) => kind)).toEqual([
    ...['started', 'stopped', 'started', 'stopped', 'started'],
  ]);
  const [first, , second, , third] = life.map(({ body }) => body.config);
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});
