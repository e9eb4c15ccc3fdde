import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { foldOf } from '../../src/domain/fold.ts';
import { chapterRow, Damaged, WentBack } from '../../src/log/chain.ts';
import { exportLog, publicKeyPem } from '../../src/log/evidence.ts';
import { eventsBefore } from '../../src/log/history.ts';
import { append, appendProblem, follow, head, type Log } from '../../src/log/log.ts';
import { closeChapter, lastEventAt, prune, rebuild, verifyAll } from '../../src/log/upkeep.ts';
import { addJobs, type StoreReader, transaction } from '../../src/storage/index.ts';
import { onEngines } from '../storage/engines.ts';
import {
  approved,
  approvedChange,
  confirmed,
  drafted,
  freshLog,
  idOf,
  insertion,
  installation,
  KEYS,
  key,
  putOutside,
  readSigned,
  rowsIn,
  stateOf,
  tamper,
  user,
  write,
} from './logs.ts';

const LATER = 9_999_999_999_999;
const pruning = { before: LATER, export: 'digest-of-the-export' };
const expired = { type: 'expired' } as const;

async function table(log: Log, name: string): Promise<readonly unknown[]> {
  return (await sql.raw(`select * from ${name}`).execute(log.store.root)).rows;
}

async function closed(log: Log) {
  let file = '';
  const report = await closeChapter(log.store, KEYS, (line) => {
    file += line;
  });
  return { report, file };
}

async function bodies(log: Log): Promise<readonly boolean[]> {
  return (await rowsIn(log.store)).map(({ body }) => body !== null);
}

onEngines('lists of changes are made again from the log', async (engine) => {
  const log = await freshLog(engine);
  await approvedChange(log, 'A');
  await write(log, 'change/B', drafted(), expired);
  await write(log, 'change/C', drafted(), confirmed, {
    type: 'break-glass',
    by: user('UANA'),
    press: 'p',
    reason: 'outage',
  });
  const before = await table(log, 'change_view');
  await sql`delete from change_view where id = 'A'`.execute(log.store.root);
  await sql`update change_view set state = 'succeeded'`.execute(log.store.root);
  await rebuild(log, async () => []);
  expect(await table(log, 'change_view')).toEqual(before);
});

onEngines('jobs are made again from what is open', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), expired);
  await write(log, 'change/B', drafted());
  await transaction(log.store, (tx) => addJobs(tx, { kind: 'card', key: 'A', dueAt: 1 }));
  await rebuild(log, async (locked, streams) => {
    expect((await locked.load('change/B', foldOf(idOf('B')))).state?.state).toBe('draft');
    const open = streams.filter(({ endedAt }) => endedAt === null);
    return open.map(({ stream }) => ({ kind: 'expire', key: stream, dueAt: 5 }));
  });
  expect(await table(log, 'job')).toMatchObject([{ kind: 'expire', key: 'change/B' }]);
});

onEngines('the bodies of ended subjects are pruned, and the log still verifies', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted(), expired);
  await write(log, 'change/B', drafted());
  const before = await log.load('change/A', foldOf(idOf('A')));
  expect(await prune(log, pruning)).toBe(1);
  expect(await bodies(log)).toEqual([false, false, true, true]);
  expect(await log.load('change/A', foldOf(idOf('A')))).toEqual({
    ...before,
    state: null,
    isPruned: true,
  });
  expect(await stateOf(log, 'B')).toBe('draft');
  expect(await verifyAll(log)).toMatchObject({ ok: true });
  expect(await verifyAll(await open())).toMatchObject({ ok: true });
  expect(await prune(log, pruning)).toBe(0);
});

onEngines('a process that reads while another one prunes sees no damage', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted(), expired);
  const other = await open();
  await prune(log, pruning);
  expect((await other.load('change/A', foldOf(idOf('A')))).isPruned).toBe(true);
});

const DAY = 24 * 3_600_000;

test('nothing younger than the limit is pruned, and what may be due is 31 days old at most', async () => {
  let now = 0;
  const log = await (await installation('sqlite')).open(KEYS, { now: () => now });
  expect(await lastEventAt(log)).toBe(0);
  for (const id of ['A', 'B']) {
    now += DAY;
    await write(log, `change/${id}`, drafted(), expired);
  }
  await write(log, 'change/C', drafted());
  now += DAY;
  await write(log, 'installation', { type: 'started', release: '2.0.0', instance: 'P1' });
  await write(log, 'installation/names', { type: 'named', ids: {} });
  expect(await lastEventAt(log)).toBe(2 * DAY);
  expect(await prune(log, { ...pruning, before: DAY })).toBe(0);
  expect((await rowsIn(log.store)).map(({ type }) => type)).not.toContain('pruned');
  now = 32 * DAY;
  await rebuild(log, async (_, streams) => {
    expect(streams).toEqual([
      { stream: 'change/B', endedAt: 2 * DAY },
      { stream: 'change/C', endedAt: null },
      { stream: 'installation', endedAt: null },
      { stream: 'installation/names', endedAt: null },
    ]);
    return [];
  });
});

test('the whole log is verified against what a process knows, and a fault is not a finding', async () => {
  const { open } = await installation('sqlite');
  const log = await open();
  expect(await verifyAll(log)).toMatchObject({ ok: true, end: { seq: 0 } });
  await write(log, 'change/A', drafted());
  // Another history of the same length.
  await tamper(log.store, 'delete from event');
  await write(await open(), 'change/B', drafted());
  expect(await verifyAll(log)).toMatchObject({ ok: false, problem: { name: 'WentBack' } });
  expect(appendProblem(log)).toBeNull();
  const other = await open();
  await tamper(log.store, `update event set body = '{}'`);
  expect(await verifyAll(other)).toMatchObject({ ok: false, problem: { name: 'Damaged' } });
  expect(appendProblem(other)).toBeInstanceOf(Damaged);
  await tamper(log.store, 'drop table event');
  await expect(verifyAll(log)).rejects.toThrow('no such table');
});

onEngines('a body that was modified is noticed before it is pruned', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), expired);
  await tamper(log.store, `update event set body = '{}' where seq = 1`);
  await expect(prune(log, pruning)).rejects.toBeInstanceOf(Damaged);
  expect(await bodies(log)).toEqual([true, true]);
});

onEngines('a row outside of the chain is not named as pruned', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), expired);
  const [, last] = await rowsIn(log.store);
  if (last) await putOutside(log.store, { ...last, stream: 'change/B', hash: 'x' });
  expect(await prune(log, pruning)).toBe(1);
  const named = (await rowsIn(log.store)).find(({ type }) => type === 'pruned');
  expect(JSON.parse(named?.body ?? '{}').streams).toEqual([{ stream: 'change/A', upTo: 2 }]);
});

onEngines('an event after the pruning keeps its body', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), expired);
  await prune(log, pruning);
  await write(log, 'change/A', { type: 'restored', why: 'marks', foreign: [] });
  await tamper(log.store, 'update event set body = null where seq = 4');
  await expect(log.load('change/A', foldOf(idOf('A')))).rejects.toThrow('its body is missing');
  expect(await verifyAll(log)).toMatchObject({ ok: false });
});

onEngines(
  'a damaged log is closed, and a new chapter begins that accepts nothing of it',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await approvedChange(log, 'A');
    await write(log, 'change/B', drafted(), expired);
    await write(log, 'target/acme/service/S1', { type: 'taken', change: 'A', over: null });
    for (const stream of ['installation', 'installation/processes'] as const) {
      await write(log, stream, { type: 'started', release: '2.0.0', instance: 'P1' });
    }
    const rows = await rowsIn(log.store);
    await tamper(log.store, 'delete from event where seq = 2');
    await expect(open()).rejects.toBeInstanceOf(Damaged);

    const { report, file } = await closed(log);
    const damage = 'The log is damaged at event 2: it is missing';
    const from = { seq: 8, hash: rows[7]?.hash };
    expect(report).toEqual({ from, damage, ended: ['change/A'] });
    const read = readSigned(file, publicKeyPem(KEYS));
    expect(read).toMatchObject({ isSigned: true, rows: rows.toSpliced(1, 1) });
    expect(read.header).toEqual({ format: 'signalbox closed log 1', damage });
    const later = await open();
    expect(head(later).seq).toBe(9);
    expect(JSON.parse((await rowsIn(log.store))[0]?.body ?? '')).toEqual({
      ...{ from, damage, export: read.digest },
      ended: [{ stream: 'change/A', version: 3, hash: rows[2]?.hash }],
    });
    const unknown = { state: null, version: 0, hash: null, isPruned: false };
    expect(await later.load('change/A', foldOf(idOf('A')))).toEqual(unknown);
    expect(await table(later, 'change_view')).toEqual([]);
    expect(await table(later, 'event_until_8')).toHaveLength(7);
    await write(later, 'change/A', drafted());
    expect(await verifyAll(later)).toMatchObject({ ok: true, end: { seq: 10 } });
    const { next } = await eventsBefore(later, { before: null, until: null, limit: 9 });
    expect(next).toBeNull();
    await expect(sql`delete from event`.execute(later.store.root)).rejects.toThrow('never');
  },
);

onEngines('a running process goes on with the new chapter', async (engine) => {
  const { open } = await installation(engine);
  const [log, other, third] = [await open(), await open(), await open()];
  await approvedChange(log, 'A');
  await Promise.all([follow(other), follow(third)]);
  await tamper(log.store, 'delete from event where seq = 2');
  await closed(log);
  expect(await verifyAll(other)).toMatchObject({ ok: true });
  await follow(other);
  expect(head(other).seq).toBe(4);
  await write(third, 'change/B', drafted());
  expect(head(third).seq).toBe(5);
});

onEngines('a chapter that the key did not sign is not believed', async (engine) => {
  const { open } = await installation(engine);
  const [log, other] = [await open(), await open()];
  await approvedChange(log, 'A');
  await follow(other);
  await tamper(log.store, 'delete from event where seq = 2');
  const others = { current: key(9), previous: [] };
  await expect(closeChapter(log.store, others, () => undefined)).rejects.toThrow('does not have');
  await tamper(
    log.store,
    'delete from event',
    "insert into event select 4, 'installation', 1, 'chapter', 1, '{}', 'x', 'genesis', 'x', 'x', 'x'",
  );
  await expect(follow(other)).rejects.toThrow();
  expect(head(other).seq).toBe(3);
});

onEngines('an intact log is not closed', async (engine) => {
  const log = await freshLog(engine);
  await approvedChange(log, 'A');
  await expect(closed(log)).rejects.toThrow('The log is intact');
  await append(log, async () => ({
    events: [{ stream: 'change/A', event: approved() }],
    result: null,
  }));
});

onEngines('a chapter that is gone when it is read again hides no lost event', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await approvedChange(log, 'A');
  const forged = { stream: 'installation', version: 1, type: 'chapter', at: 1, body: '{}' };
  const chapter = insertion(chapterRow(3, key(66), forged));
  await tamper(log.store, 'delete from event where seq > 1', chapter);
  // An attacker who deletes the row right after it was seen.
  const connection = () => ({
    execute: async (read: (reader: StoreReader) => Promise<unknown>) => {
      const result = await read(log.store.root);
      await sql`delete from event where seq = 4`.execute(log.store.root);
      return result;
    },
  });
  const root = Object.create(log.store.root, { connection: { value: connection } });
  await expect(follow({ ...log, store: { ...log.store, root } })).rejects.toBeInstanceOf(WentBack);
  expect(head(log).seq).toBe(3);
});

test('a log of more events than one reading takes is followed, verified, exported and pruned', async () => {
  const { open } = await installation('sqlite');
  const [log, other, third] = [await open(), await open(), await open()];
  await write(log, 'change/A', drafted());
  await follow(other);
  const posts = Array.from({ length: 2_001 }, (_, n) => `post/${n}` as const);
  const event = { type: 'missed', why: 'archived' } as const;
  await append(log, async () => ({
    events: posts.map((stream) => ({ stream, event })),
    result: null,
  }));
  await follow(other);
  expect(head(other).seq).toBe(2_002);
  const lines: string[] = [];
  await exportLog(third, (line) => void lines.push(line));
  expect(lines).toHaveLength(2_004);
  expect(await prune(await open(), pruning)).toBe(1_000);
  await tamper(log.store, 'delete from event where seq = 2');
  expect((await closed(log)).file.split('\n')).toHaveLength(2_005);
});
