import { sql } from 'kysely';
import { expect } from 'vitest';
import { foldOf } from '../../src/domain/fold.ts';
import { chapterRow, Damaged, WentBack } from '../../src/log/chain.ts';
import { append, follow, head, type Log } from '../../src/log/log.ts';
import { closeChapter, prune, rebuild, verifyAll } from '../../src/log/upkeep.ts';
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

onEngines('nothing younger than the limit is pruned', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), expired);
  expect(await prune(log, { ...pruning, before: 1 })).toBe(0);
});

onEngines('a body that was modified is noticed before it is pruned', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(), expired);
  await tamper(log.store, `update event set body = '{}' where seq = 1`);
  await expect(prune(log, pruning)).rejects.toBeInstanceOf(Damaged);
  expect(await bodies(log)).toEqual([true, true]);
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

async function closed(log: Log) {
  let file = '';
  const report = await closeChapter(log.store, KEYS, (line) => {
    file += line;
  });
  return { report, file };
}

onEngines(
  'a damaged log is closed, and a new chapter begins that accepts nothing of it',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await approvedChange(log, 'A');
    await write(log, 'change/B', drafted(), expired);
    const rows = await rowsIn(log.store);
    await tamper(log.store, 'delete from event where seq = 2');
    await expect(open()).rejects.toBeInstanceOf(Damaged);

    const { report, file } = await closed(log);
    expect(report).toEqual({
      from: { seq: 5, hash: rows[4]?.hash },
      damage: 'The log is damaged at event 2: it is missing',
      ended: ['change/A'],
    });
    expect(file.split('\n')).toHaveLength(7);
    const later = await open();
    expect(head(later).seq).toBe(6);
    const unknown = { state: null, version: 0, hash: null, isPruned: false };
    expect(await later.load('change/A', foldOf(idOf('A')))).toEqual(unknown);
    expect(await table(later, 'change_view')).toEqual([]);
    expect(await table(later, 'event_until_5')).toHaveLength(4);
    await write(later, 'change/A', drafted());
    expect(await verifyAll(later)).toMatchObject({ ok: true, end: { seq: 7 } });
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
