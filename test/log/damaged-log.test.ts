import { expect, test } from 'vitest';
import { foldOf } from '../../src/domain/fold.ts';
import { evolveHolders } from '../../src/domain/log-events.ts';
import { Damaged, type EventRow, hashText, rowAfter, WentBack } from '../../src/log/chain.ts';
import { type SigningKey, signText } from '../../src/log/keys.ts';
import { append, appendProblem, follow, head, type Log } from '../../src/log/log.ts';
import { prune, verifyAll } from '../../src/log/upkeep.ts';
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
  replaceRow,
  rowsIn,
  tamper,
  user,
  write,
} from './logs.ts';

const load = (log: Log, id = 'A') => log.load(`change/${id}`, foldOf(idOf(id)));
const EVIL = key(66);
const signedBy = (signer: SigningKey, row: EventRow) =>
  rowAfter({ seq: 1, hash: row.prev }, signer, { ...row, at: 1, body: row.body ?? '' });

const BODY = 'event 2: its body was modified';
const MISSING = 'event 2: its body is missing';
const MODIFIED = 'event 2: it was modified';
const UNSIGNED = 'event 2: its signature is not valid';
const FOREIGN = 'event 2: its key was not in force';

type Forge = (row: EventRow, first: EventRow) => Partial<EventRow>;

/**
 * What an attacker without the key writes instead of the second event, with every other column put right. What a running
 * process says if it is not the last event, and what one says that starts, if it is, where that differs.
 */
test.for<readonly [string, Forge, string, string?]>([
  ['an edited body', () => ({ body: '{"by":"UEVE","press":"p1"}' }), BODY],
  ['an edited body with its hash', () => ({ body: '{}', body_hash: hashText('{}') }), MODIFIED],
  ['another type', () => ({ type: 'approved' }), MODIFIED],
  ['another time', ({ at }) => ({ at: at - 1 }), MODIFIED],
  ['another version', () => ({ version: 7 }), 'event 3: change/A has no version 2', MODIFIED],
  [
    'another stream',
    () => ({ stream: 'change/B' }),
    'event 3: change/A has no version 2',
    MODIFIED,
  ],
  ['a body that is missing', () => ({ body: null }), MISSING],
  ['the signature of another event', (_, { signature }) => ({ signature }), UNSIGNED],
  ['another spelling', ({ signature }) => ({ signature: `${signature}=` }), UNSIGNED],
  ['a foreign signature', ({ hash }) => ({ signature: signText(EVIL, hash) }), UNSIGNED],
  ['a foreign event', (row) => signedBy(EVIL, row), FOREIGN],
  ['a foreign event in our name', (row) => signedBy({ ...EVIL, id: row.key }, row), UNSIGNED],
])(
  '%s is refused by a process that runs and by one that starts',
  async ([, forge, running, starting = running]) => {
    for (const isLast of [true, false]) {
      const { open } = await installation('sqlite');
      const log = await open();
      await write(log, 'change/A', drafted(), confirmed, ...(isLast ? [] : [approved()]));
      const rows = await rowsIn(log.store);
      const [first, row] = rows as [EventRow, EventRow];
      await replaceRow(log.store, { ...row, ...forge(row, first) });
      // A last event with a hash of its own looks like another history, until it is followed from its beginning.
      const refused = { name: expect.stringMatching(isLast ? /^(Damaged|WentBack)$/ : 'Damaged') };
      await expect(load(log)).rejects.toMatchObject(refused);
      await expect(write(log, 'change/A', approved())).rejects.toMatchObject(refused);
      if (!isLast) expect(appendProblem(log)?.message).toContain(running);
      expect(await rowsIn(log.store)).toHaveLength(rows.length);
      if (!isLast) continue;
      const started = async () => {
        const check = await verifyAll(await open());
        if (!check.ok) throw check.problem;
      };
      await expect(started()).rejects.toThrow(starting);
    }
  },
);

onEngines('two events in another order are refused', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await approvedChange(log, 'A');
  await tamper(
    log.store,
    'update event set version = 9 where seq = 2',
    'update event set version = 2 where seq = 3',
    'update event set version = 3 where seq = 2',
  );
  await expect(load(log)).rejects.toBeInstanceOf(Damaged);
  await expect(open()).rejects.toThrow('event 2: it was modified');
});

onEngines('an event in the middle that was deleted is noticed by every process', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await approvedChange(log, 'A');
  await tamper(log.store, 'delete from event where seq = 2');
  await expect(load(log)).rejects.toThrow('change/A has no version 2');
  await expect(open()).rejects.toThrow('event 2: it is missing');
});

onEngines(
  'the last event of a change that was deleted from the middle is noticed',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    const cancelled = { type: 'cancelled', by: user('UANA'), press: 'p' } as const;
    await write(log, 'change/A', drafted(2), confirmed, approved(), cancelled);
    await write(log, 'change/B', drafted());
    await tamper(log.store, 'delete from event where seq = 4');
    // The end of the log is as it was, so that following notices nothing.
    await follow(log);
    await expect(load(log)).rejects.toThrow('event 3: change/A lost its version 4');
    await expect(open()).rejects.toThrow('event 4: it is missing');
  },
);

onEngines('a whole subject that was deleted is noticed among others', async (engine) => {
  const log = await freshLog(engine);
  const place = { kind: 'card' };
  const pressed = {
    type: 'pressed',
    verb: 'cancel',
    by: user('UANA'),
    text: '',
    place,
    seen: null,
  } as const;
  await write(log, 'press/A/p1', pressed);
  await write(log, 'press/A/p2', pressed);
  await write(log, 'change/B', drafted());
  const count = (n: number | null) => (n ?? 0) + 1;
  expect((await log.loadAll('press/A', count)).size).toBe(2);
  await tamper(log.store, 'delete from event where seq = 2');
  await expect(log.loadAll('press/A', count)).rejects.toThrow('press/A/p2 lost its version 1');
});

onEngines(
  'the lock of a target that was deleted is noticed under the lock of the log',
  async (engine) => {
    const log = await freshLog(engine);
    await write(log, 'target/acme/service/S1', { type: 'taken', change: 'A', over: null });
    await write(log, 'change/B', drafted());
    await tamper(log.store, 'delete from event where seq = 1');
    const taking = append(log, async (locked) => {
      const { state } = await locked.load('target/acme/service/S1', evolveHolders);
      return { events: [], result: state };
    });
    await expect(taking).rejects.toBeInstanceOf(Damaged);
  },
);

onEngines(
  'an event that was put in without the key is refused before anything is appended',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await write(log, 'change/A', drafted(), confirmed);
    const other = await open();
    const [, second] = await rowsIn(log.store);
    if (!second) throw new Error('the log is empty');
    const body = JSON.stringify({ by: user('UEVE'), press: 'p', digest: 'digest-1', evidence: {} });
    const draft = { stream: 'change/A', version: 3, type: 'approved', at: second.at, body };
    const forged = rowAfter(second, { ...EVIL, id: KEYS.current.id }, draft);
    await tamper(log.store, insertion(forged));
    await expect(write(other, 'change/B', drafted())).rejects.toThrow(
      'event 3: its signature is not valid',
    );
    await expect(load(log)).rejects.toThrow('event 3: its signature is not valid');
    await expect(write(log, 'change/B', drafted())).rejects.toThrow('event 3');
    expect(await rowsIn(log.store)).toHaveLength(3);
  },
);

onEngines(
  'after a damage, nothing is appended until the whole log verifies again',
  async (engine) => {
    const log = await freshLog(engine);
    await approvedChange(log, 'A');
    const [, row] = await rowsIn(log.store);
    if (!row) throw new Error('the log is empty');
    await replaceRow(log.store, { ...row, at: 1 });
    await expect(load(log)).rejects.toBeInstanceOf(Damaged);
    expect(appendProblem(log)).toBeInstanceOf(Damaged);
    await expect(write(log, 'change/B', drafted())).rejects.toBeInstanceOf(Damaged);
    expect(await verifyAll(log)).toMatchObject({ ok: false, problem: { seq: 2 } });

    await replaceRow(log.store, row);
    await expect(write(log, 'change/B', drafted())).rejects.toBeInstanceOf(Damaged);
    expect(await verifyAll(log)).toMatchObject({ ok: true, end: { seq: 3 } });
    await write(log, 'change/B', drafted());
    expect(appendProblem(log)).toBeNull();
  },
);

onEngines('an end that was cut off is noticed by a running process', async (engine) => {
  const log = await freshLog(engine);
  await approvedChange(log, 'A');
  await tamper(log.store, 'delete from event where seq = 3');
  await expect(follow(log)).rejects.toBeInstanceOf(WentBack);
  await expect(load(log)).rejects.toBeInstanceOf(WentBack);
  await expect(write(log, 'change/B', drafted())).rejects.toBeInstanceOf(WentBack);
  expect(await verifyAll(log)).toMatchObject({ ok: false, problem: { name: 'WentBack' } });
});

onEngines(
  'an event of a history that was lost does not come back among the current ones',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await write(log, 'change/A', drafted(), {
      type: 'cancelled',
      by: user('UANA'),
      press: 'p',
    });
    const [, lost] = await rowsIn(log.store);
    await tamper(log.store, 'delete from event where seq = 2');
    const other = await open();
    await write(other, 'change/A', confirmed, approved());
    if (!lost) throw new Error('the log is empty');
    // Both histories are signed with the key: only the chain shows it.
    await replaceRow(other.store, lost);
    await expect(open()).rejects.toThrow('event 3: it does not follow the one before');
  },
);

onEngines('a signature that is modified after it was verified is noticed', async (engine) => {
  const log = await freshLog(engine);
  await approvedChange(log, 'A');
  await load(log);
  await tamper(log.store, `update event set signature = '${signText(EVIL, 'x')}' where seq = 2`);
  await expect(load(log)).rejects.toThrow('event 2: its signature is not valid');
});

onEngines(
  'an event with a number that its subject does not have is refused, although it is signed',
  async (engine) => {
    const { open } = await installation(engine);
    const log = await open();
    await write(log, 'change/A', drafted());
    const draft = { stream: 'change/A', version: 3, type: 'expired', at: 1, body: '{}' };
    await tamper(log.store, insertion(rowAfter(head(log), KEYS.current, draft)));
    await expect(open()).rejects.toThrow('event 2: change/A has no version 2');
  },
);

onEngines('a list of pruned subjects that was edited is refused', async (engine) => {
  const { open } = await installation(engine);
  const log = await open();
  await write(log, 'change/A', drafted(), { type: 'expired' });
  await write(log, 'change/B', drafted());
  await prune(log, { before: 9_999_999_999_999, export: 'digest' });
  const [, , , pruned] = await rowsIn(log.store);
  if (!pruned) throw new Error('nothing was pruned');
  await replaceRow(log.store, {
    ...pruned,
    body: pruned.body?.replace('change/A', 'change/B') ?? '',
  });
  await expect(open()).rejects.toThrow('event 4: its body was modified');
  await replaceRow(log.store, { ...pruned, body: null });
  await expect(open()).rejects.toThrow('event 4: its body is missing');
  for (const body of ['{}', 'no JSON']) {
    const end = { seq: 3, hash: pruned.prev };
    await replaceRow(log.store, rowAfter(end, KEYS.current, { ...pruned, body }));
    await expect(open()).rejects.toThrow('event 4: its body cannot be read');
  }
});

onEngines('a last event that was edited is damage, not an older copy', async (engine) => {
  const log = await freshLog(engine);
  await approvedChange(log, 'A');
  await tamper(log.store, 'update event set at = 1 where seq = 3');
  await expect(follow(log)).rejects.toThrow('event 3: it was modified');
});

onEngines(
  'the last event that a process knows, deleted below newer ones, is damage',
  async (engine) => {
    const { open } = await installation(engine);
    const [log, other] = [await open(), await open()];
    await approvedChange(log, 'A');
    await write(other, 'change/B', drafted());
    await tamper(log.store, 'delete from event where seq = 3');
    await expect(follow(log)).rejects.toThrow('event 3: it is missing');
  },
);

onEngines('a group has the subjects directly under its name', async (engine) => {
  const log = await freshLog(engine);
  const taken = { type: 'taken', change: 'A', over: null } as const;
  await write(log, 'target/acme/service/S1', taken);
  await write(log, 'target/acme/service/S2', taken);
  await write(log, 'target/acme/alert/S3', taken);
  const inGroup = await log.loadAll('target/acme/service', evolveHolders);
  expect([...inGroup.keys()]).toEqual(['target/acme/service/S1', 'target/acme/service/S2']);
  expect(await log.loadAll('target', evolveHolders)).toEqual(new Map());
});
