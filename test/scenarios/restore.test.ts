import { copyFileSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { listEvents } from '../../src/storage/audit/append.ts';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { announceRestore } from '../../src/storage/tables/restore-mark.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { ask, empty } from './request.ts';
import { ANA, BEN, openStage, type Stage, textOf } from './stage.ts';

const LINE = '/service stop staging in=30m for the night';

/** Makes a backup while a change waits for its scheduled time, and then executes the change. */
async function executedAfterBackup() {
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  const stage = await openStage({ databaseUrl: url });
  await stage.press(BEN, await ask(stage, ANA, LINE), 'change.approve');
  await stage.card('Stop staging: approved');
  await copyOf(path);
  pass(stage, 31);
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.count('set state')).toBe(1);
  return { stage, path };
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

function pass(stage: Stage, minutes: number): void {
  stage.clock.now = new Date(stage.clock.now.getTime() + minutes * 60_000);
  stage.wake();
}

/** Runs `work` between a stop and a start of the bot. */
async function restartWith(stage: Stage, work: () => void): Promise<void> {
  await stage.restart((file) => {
    work();
    return file;
  });
}

async function anchors(stage: Stage): Promise<readonly string[]> {
  const found = stage.slack.messages('db-audit').map(textOf).join('\n');
  return [...new Set(found.match(/audit \d+ [0-9a-f]{64}/g) ?? [])];
}

test('without any sign of the restore, a restored copy sends the change again', async () => {
  const { stage, path } = await executedAfterBackup();
  await restartWith(stage, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await expect.poll(() => stage.cloud.count('set state')).toBe(2);
});

test('a restored copy does not send its open changes, and their cards say so', async () => {
  const { stage, path } = await executedAfterBackup();
  await restartWith(stage, () => restoreCopy(path));
  const card = await stage.card('Stop staging: not tracked');
  expect(textOf(card ?? empty)).toContain('restored from an older copy');
  await expect
    .poll(() => stage.slack.messages('db-audit').map(textOf).join('\n'))
    .toContain('The database was restored from an older copy, or replaced.');
  pass(stage, 60);
  expect(stage.cloud.count('set state')).toBe(1);

  // The restore is handled once: changes requested afterwards stay open.
  await ask(stage, ANA, '/service stop staging in=30m again');
  await stage.restart();
  await stage.card('Stop staging: waiting for approval');
});

test('a restored copy is recognised by the last anchor in the audit channel', async () => {
  const { stage, path } = await executedAfterBackup();
  const first = await anchors(stage);
  pass(stage, 24 * 60);
  await stage.restart();
  await expect.poll(async () => (await anchors(stage)).length).toBeGreaterThan(first.length);

  await restartWith(stage, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await stage.card('Stop staging: not tracked');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('a restored copy does not run a revert that may have run already', async () => {
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  const stage = await openStage({ databaseUrl: url });
  const line = '/service stop staging for=30m for the night';
  await stage.press(BEN, await ask(stage, ANA, line), 'change.approve');
  await stage.card('Stop staging: accepted');
  await stage.restart();
  pass(stage, 31);
  await stage.card('Start staging: accepted');
  const sent = stage.cloud.count('set state');

  // The copy contains the revert, unless it was made right before the revert was created.
  await stage.restart((file) => file);
  await copyOf(path);
  const copy = new DatabaseSync(`${path}.copy`);
  copy.exec('pragma foreign_keys = off; delete from change where parent is not null');
  copy.close();
  await restartWith(stage, () => restoreCopy(path));
  await expect
    .poll(() => stage.slack.messages('db-approvals').map(textOf).join('\n'))
    .toContain('the database was restored from an older copy, so the revert may have run already');
  expect(stage.cloud.count('set state')).toBe(sent);
});

test('an announced restore has the same effect as a detected one', async () => {
  const { stage, path } = await executedAfterBackup();
  const copy = await openDatabase(`file:${path}.copy`);
  await copy.transaction((tx) => announceRestore(tx, stage.clock.now));
  await copy.close();
  await restartWith(stage, () => {
    restoreCopy(path);
    rmSync(`${path}.head`);
  });
  await stage.card('Stop staging: not tracked');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('each start and stop is recorded in the audit trail with its configuration', async () => {
  const url = await freshUrl('sqlite');
  const stage = await openStage({ databaseUrl: url });
  await stage.restart();
  await stage.restart((file) => ({ ...file, budgets: [] }));
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
