import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { evolveHolders } from '../../src/domain/log-events.ts';
import { rowAfter } from '../../src/log/chain.ts';
import { append, appendProblem, follow, head, openLog } from '../../src/log/log.ts';
import { claimJobs, transaction } from '../../src/storage/index.ts';
import { startTcpProxy } from '../harness/tcp-proxy.ts';
import { ENGINES, emptyUrl, onEngines } from '../storage/engines.ts';
import { storeAt } from '../storage/stores.ts';
import {
  approved,
  confirmed,
  drafted,
  freshLog,
  insertion,
  installation,
  KEYS,
  rowsIn,
  stateOf,
  tamper,
  write,
} from './logs.ts';

onEngines('a change is read as it was appended', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted(2), confirmed, approved('UBEN'));
  const types: string[] = [];
  const loaded = await log.load('change/A', (count: number | null, event) => {
    types.push(event.type);
    return (count ?? 0) + event.version;
  });
  expect(types).toEqual(['drafted', 'confirmed', 'approved']);
  const last = (await rowsIn(log.store)).at(-1);
  expect(loaded).toEqual({ state: 6, version: 3, hash: last?.hash, isPruned: false });
  expect(await stateOf(log, 'A')).toBe('pending');
  await write(log, 'change/A', approved('UCLEO'));
  expect(await stateOf(log, 'A')).toBe('approved');
});

test('what two loops of a process follow at once is known once', async () => {
  const { open } = await installation('sqlite');
  const [one, other] = [await open(), await open()];
  await write(one, 'change/A', drafted());
  await follow(other);
  await write(one, 'change/A', confirmed, approved());
  await Promise.all([follow(other), follow(other), write(other, 'change/B', drafted())]);
  expect(head(other).seq).toBe(4);
});

onEngines('the second of two decisions sees what the first one appended', async (engine) => {
  const { open } = await installation(engine);
  const [one, other] = [await open(), await open()];
  await write(one, 'change/Z', drafted());
  const take = (log: typeof one, change: string) =>
    append(log, async (locked) => {
      const { state } = await locked.load('target/acme/service/S1', evolveHolders);
      const isFree = (state ?? []).length === 0;
      expect(await locked.find({ open: true }, 9)).toEqual(['Z']);
      const event = { type: 'taken', change, over: null } as const;
      const events = isFree ? [{ stream: 'target/acme/service/S1', event } as const] : [];
      return { events, result: isFree };
    });
  const taken = await Promise.all([
    take(one, 'A'),
    take(other, 'B'),
    take(one, 'C'),
    take(other, 'D'),
  ]);
  expect(taken.filter(({ result }) => result)).toHaveLength(1);
});

onEngines('a decision that fails appends nothing and leaves no gap', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted());
  let asked = 0;
  const failing = append(log, async () => {
    asked += 1;
    throw new Error('no answer');
  });
  await expect(failing).rejects.toThrow('no answer');
  expect(asked).toBe(1);
  await write(log, 'change/A', confirmed);
  expect((await rowsIn(log.store)).map(({ seq }) => seq)).toEqual([1, 2]);
});

onEngines(
  'events of several subjects and their jobs are appended together or not at all',
  async (engine) => {
    const log = await freshLog(engine);
    const claim = (fails: boolean) =>
      append(log, async () => ({
        events: [
          { stream: 'change/A', event: drafted() },
          { stream: 'target/acme/service/S1', event: { type: 'taken', change: 'A', over: null } },
          ...(fails ? [{ stream: 'change/A', event: { type: 'nonsense' } } as never] : []),
        ],
        jobs: [{ kind: 'card', key: 'A', dueAt: 1 }],
        result: 'claimed',
      }));
    const due = () =>
      transaction(log.store, (tx) =>
        claimJobs(tx, { owner: 'P', now: 1, leaseMs: 1, lanes: [{ most: 9, kinds: ['card'] }] }),
      );
    await expect(claim(true)).rejects.toThrow('nonsense is no event of the stream change/A');
    expect(await rowsIn(log.store)).toEqual([]);
    expect(await due()).toEqual([]);
    const { result, events } = await claim(false);
    expect(result).toBe('claimed');
    expect(events.map(({ stream, version }) => [stream, version])).toEqual([
      ['change/A', 1],
      ['target/acme/service/S1', 1],
    ]);
    expect(await due()).toMatchObject([{ kind: 'card', key: 'A' }]);
  },
);

test('the name of a stream has no line break', async () => {
  const log = await freshLog('sqlite');
  for (const id of ['A\nB', 'A\nb', 'A B']) {
    await expect(write(log, `change/${id}`, drafted())).rejects.toThrow(TypeError);
  }
});

test('an event of a newer release is no damage, and says what to run', async () => {
  const { open } = await installation('sqlite');
  const log = await open();
  await write(log, 'change/A', drafted());
  const draft = { stream: 'change/A', version: 2, type: 'teleported', at: 1, body: '{}' };
  await tamper(log.store, insertion(rowAfter(head(log), KEYS.current, draft)));
  await expect(stateOf(await open(), 'A')).rejects.toThrow(
    'Event 2 of the log (teleported of change/A) is unknown to this release. Run the newest one.',
  );
  expect(appendProblem(log)).toBeNull();
});

onEngines('an event has no field that its type does not have', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', { ...drafted(), password: 'x' } as never);
  expect((await rowsIn(log.store))[0]?.body).not.toContain('password');
});

onEngines('an event is neither modified nor deleted by accident', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted());
  for (const statement of [
    'delete from event',
    "update event set type = 'approved'",
    "update event set body = '{}'",
  ]) {
    await expect(sql.raw(statement).execute(log.store.root)).rejects.toThrow(/an event is never/);
  }
});

onEngines('after a commit that failed, nothing of it is known', async (engine) => {
  const log = await freshLog(engine);
  await write(log, 'change/A', drafted());
  const before = head(log);
  await tamper(
    log.store,
    'create table parent (id integer primary key)',
    'create table child (id integer references parent (id) deferrable initially deferred)',
    ...(engine === 'sqlite'
      ? ['create trigger orphan after insert on event begin insert into child values (1); end']
      : [
          'create function orphan() returns trigger language plpgsql as $$ begin insert into child values (1); return new; end $$',
          'create trigger orphan after insert on event for each row execute function orphan()',
        ]),
  );
  // On SQLite, the second one reads what the first one appended, and both share the commit that fails.
  const both = [write(log, 'change/A', confirmed), write(log, 'change/A', approved())];
  const results = await Promise.allSettled(both);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(head(log)).toEqual(before);
  await tamper(
    log.store,
    engine === 'sqlite' ? 'drop trigger orphan' : 'drop trigger orphan on event',
  );
  await follow(log);
  await write(log, 'change/A', confirmed);
  expect(await stateOf(log, 'A')).toBe('pending');
});

test.for(ENGINES.filter((engine) => engine === 'postgres'))(
  'after a commit whose answer was lost, the append rejects and nothing of it is known on %s',
  async (engine) => {
    const url = await emptyUrl(engine);
    const direct = await openLog(await storeAt(url), KEYS);
    await write(direct, 'change/A', drafted());
    // The server is slow to commit, so that the connection breaks while it does.
    await tamper(
      direct.store,
      'create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return new; end $$',
      'create constraint trigger slow after insert on event deferrable initially deferred for each row execute function slow()',
    );
    const proxy = await startTcpProxy(Number(new URL(url).port));
    const beside = { as: 'beside', onConnectionError: () => undefined } as const;
    const lossy = await openLog(await storeAt(proxy.through(url), beside), KEYS);
    const before = head(lossy);
    const lost = write(lossy, 'change/A', confirmed);
    setTimeout(() => proxy.refuse(), 250);
    await expect(lost).rejects.toThrow();
    await expect.poll(async () => (await rowsIn(direct.store)).length).toBe(2);
    expect(head(lossy)).toEqual(before);

    proxy.forwardAgain();
    await follow(lossy);
    expect(head(lossy).seq).toBe(2);
    expect(await stateOf(lossy, 'A')).toBe('pending');
  },
);
