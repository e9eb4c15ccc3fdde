import { expect, test } from 'vitest';
import { foldOf } from '../../src/domain/fold.ts';
import {
  absorb,
  addRow,
  type EventRow,
  type Extension,
  extend,
  rowAfter,
  WentBack,
} from '../../src/log/chain.ts';
import { hasEvents } from '../../src/log/changes.ts';
import { append, follow, head, type Log, recordRestore } from '../../src/log/log.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { type Engine, onEngines } from '../storage/engines.ts';
import {
  approved,
  approvedChange,
  drafted,
  idOf,
  insertion,
  installation,
  KEYS,
  putOutside,
  rowsIn,
  stateOf,
  tamper,
  write,
} from './logs.ts';

/** A database that lost everything after this event, as a restored copy or a failover does. */
async function cutAfter(log: Log, seq: number): Promise<readonly EventRow[]> {
  const rows = (await rowsIn(log.store)).filter((row) => row.seq > seq);
  await tamper(log.store, `delete from event where seq > ${seq}`);
  return rows;
}

async function twoProcesses(engine: Engine) {
  const { open } = await installation(engine);
  const log = await open();
  await approvedChange(log, 'A');
  await write(log, 'change/B', drafted());
  return { open, log, other: await open() };
}

const stale = (log: Log) =>
  recordRestore(log, 2, async (lost) =>
    lost
      .filter(({ stream }) => stream === 'change/A')
      .map(({ stream, version, hash }) => ({
        stream: 'change/A' as const,
        event: { type: 'stale', why: 'restored', foreign: [{ stream, version, hash }] } as const,
      })),
  );

onEngines('a log that went back is noticed before anything is decided', async (engine) => {
  const { log } = await twoProcesses(engine);
  await cutAfter(log, 3);
  let isAsked = false;
  const deciding = append(log, async () => {
    isAsked = true;
    return { events: [], result: null };
  });
  await expect(deciding).rejects.toBeInstanceOf(WentBack);
  expect(isAsked).toBe(false);
});

onEngines('a log that went back and continued otherwise is noticed', async (engine) => {
  const { open, log } = await twoProcesses(engine);
  await cutAfter(log, 3);
  const fresh = await open();
  for (const id of ['C', 'D', 'E']) await write(fresh, `change/${id}`, drafted());
  await write(fresh, 'change/A', approved('UGUS'));
  await expect(follow(log)).rejects.toThrow(
    'The database does not contain event 4, which this process knows',
  );
  await expect(stateOf(log, 'B')).rejects.toBeInstanceOf(WentBack);
  // What the other history continued is not lost.
  expect((await stale(log)).map(({ stream }) => stream)).toEqual(['change/B']);
});

function add(to: Extension, id: string): void {
  const draft = { stream: `change/${id}`, version: 1, type: 'drafted', body: '{}', at: 1 };
  addRow(to, rowAfter(to.end, KEYS.current, draft));
}

test('what two readers of the same events have learned is known, in any order of the answers', async () => {
  const { log } = await twoProcesses('sqlite');
  const [short, long] = [extend(log.memory.chain, []), extend(log.memory.chain, [])];
  add(short, 'C');
  for (const id of ['C', 'D']) add(long, id);
  absorb(short);
  absorb(long);
  absorb(short);
  expect(head(log)).toEqual(long.end);
});

test('what a late answer adds does not hide what is lost', async () => {
  const { log } = await twoProcesses('sqlite');
  const [late, next] = [extend(log.memory.chain, []), extend(log.memory.chain, [])];
  add(late, 'C');
  // The database has lost what the first one appended, and took two others.
  for (const id of ['D', 'E']) add(next, id);
  absorb(late);
  absorb(next);
  expect(head(log)).toEqual(late.end);
  await expect(follow(log)).rejects.toBeInstanceOf(WentBack);
});

onEngines('what is lost is recorded and answered in one transaction', async (engine) => {
  const { log } = await twoProcesses(engine);
  const end = head(log);
  const [third, fourth] = await cutAfter(log, 2);
  const lost = await stale(log);
  expect(lost).toEqual([
    { stream: 'change/A', version: 3, hash: third?.hash },
    { stream: 'change/B', version: 1, hash: fourth?.hash },
  ]);
  const rows = await rowsIn(log.store);
  expect(rows.map(({ type }) => type)).toEqual(['drafted', 'confirmed', 'restored', 'stale']);
  expect(JSON.parse(rows[2]?.body ?? '')).toEqual({ from: end, lost, timeline: 2 });
  // The process goes on with what the log has now.
  expect(await stateOf(log, 'A')).toBe('stale');
  await write(log, 'change/B', drafted());
  expect(await verifyAll(log)).toMatchObject({ ok: true, end: { seq: 5 } });
});

onEngines('two loops of one process record it once', async (engine) => {
  const { log } = await twoProcesses(engine);
  await cutAfter(log, 2);
  const [one, other] = await Promise.all([stale(log), stale(log)]);
  expect(one).toEqual(other);
  expect(await stale(log)).toEqual([]);
  expect((await rowsIn(log.store)).filter(({ type }) => type === 'restored')).toHaveLength(1);
});

onEngines(
  'a replica that knew more than the first one records what that one did not know',
  async (engine) => {
    const { log, other } = await twoProcesses(engine);
    await write(other, 'change/C', drafted());
    await cutAfter(log, 3);
    expect((await stale(log)).map(({ stream }) => stream)).toEqual(['change/B']);
    await expect(follow(other)).rejects.toBeInstanceOf(WentBack);
    expect((await stale(other)).map(({ stream }) => stream)).toEqual(['change/B', 'change/C']);
    await follow(log);
    expect(await verifyAll(other)).toMatchObject({ ok: true });
  },
);

onEngines('a lost event that is kept as a row outside of the chain is lost', async (engine) => {
  const { open, log } = await twoProcesses(engine);
  const rows = await cutAfter(log, 3);
  await putOutside(log.store, ...rows);
  const hashes = rows.map(({ hash }) => hash);
  expect(await hasEvents(await open(), hashes)).toEqual(new Set());
  expect((await stale(log)).map(({ stream }) => stream)).toEqual(['change/B']);
});

onEngines('an event that came back under another number is not lost', async (engine) => {
  const { log } = await twoProcesses(engine);
  const lost = await cutAfter(log, 3);
  await tamper(log.store, ...lost.map(insertion));
  await follow(log);
  expect(await stale(log)).toEqual([]);
  expect(await rowsIn(log.store)).toHaveLength(4);
});

onEngines('an honest run of two processes sees no alarm', async (engine) => {
  const { log, other } = await twoProcesses(engine);
  const work = [log, other].flatMap((each) =>
    Array.from({ length: 12 }, async (_, n) => {
      await write(each, `change/${n % 3}`, n < 3 ? drafted() : approved(`U${n}`));
      await each.load('change/A', foldOf(idOf('A')));
      await each.loadAll('change', (count: number | null) => (count ?? 0) + 1);
      await follow(each);
    }),
  );
  await Promise.all(work);
  expect(await verifyAll(log)).toMatchObject({ ok: true, end: { seq: 28 } });
});

onEngines('an event in whose place the log has another one is lost', async (engine) => {
  const { open, log } = await twoProcesses(engine);
  await cutAfter(log, 2);
  const other = await open();
  await write(other, 'change/A', approved('UEVE'), approved('UFINN'));
  await write(other, 'change/B', drafted());
  await write(other, 'change/B', { type: 'expired' });
  const lost = await stale(log);
  expect(lost.map(({ stream, version }) => [stream, version])).toEqual([
    ['change/A', 3],
    ['change/B', 1],
  ]);
});
