import { expect, test } from 'vitest';
import { foldOf } from '../../src/domain/fold.ts';
import { Damaged, type EventRow, rowAfter } from '../../src/log/chain.ts';
import { evidenceOf, exportLog, publicKeyPem } from '../../src/log/evidence.ts';
import { eventsBefore } from '../../src/log/history.ts';
import { appendProblem, follow, head, type Log } from '../../src/log/log.ts';
import { prune, verifyAll } from '../../src/log/upkeep.ts';
import { ENGINES } from '../storage/engines.ts';
import {
  approved,
  approvedChange,
  confirmed,
  drafted,
  freshLog,
  idOf,
  installation,
  KEYS,
  key,
  readSigned,
  replaceRow,
  rowsIn,
  tamper,
  user,
  write,
} from './logs.ts';

async function page(log: Log, before: number | null, limit: number, until: Date | null = null) {
  const { events, next } = await eventsBefore(log, { before, until, limit });
  return { found: events.map(({ stream, event }) => `${stream} ${event.type}`), next };
}

test.for(ENGINES)(
  'events of all streams are read page by page on %s, the newest first',
  async (engine) => {
    const log = await freshLog(engine);
    await approvedChange(log, 'A');
    await write(log, 'change/B', drafted(), confirmed);
    expect(await page(log, null, 3)).toEqual({
      found: ['change/B confirmed', 'change/B drafted', 'change/A approved'],
      next: 3,
    });
    expect(await page(log, 3, 3)).toEqual({
      found: ['change/A confirmed', 'change/A drafted'],
      next: null,
    });
  },
);

test('a log without events has no page', async () => {
  const log = await freshLog('sqlite');
  expect(await page(log, null, 3)).toEqual({ found: [], next: null });
  expect(appendProblem(log)).toBeNull();
});

test('a page may end before a time', async () => {
  const clock = { now: 1_000 };
  const log = await (await installation('sqlite')).open(KEYS, { now: () => clock.now });
  await write(log, 'change/A', drafted());
  clock.now = 2_000;
  await write(log, 'change/B', drafted());
  expect((await page(log, null, 9, new Date(2_000))).found).toEqual(['change/A drafted']);
  expect((await page(log, null, 9, new Date(2_001))).found).toHaveLength(2);
});

/** What an attacker makes of the second of three events, the page that is asked for, and what is noticed. */
test.for<readonly [string, string, (row: EventRow) => Partial<EventRow> | null, number | null]>([
  ['another body', 'its body was modified', () => ({ body: '{"by":"UEVE"}' }), null],
  ['no body', 'its body is missing', () => ({ body: null }), null],
  ['another time', 'it was modified', ({ at }) => ({ at: at - 1 }), null],
  ['no event', 'it is missing', () => null, null],
  ['no event before the next page', 'it is missing', () => null, 3],
  [
    'a whole event of another key',
    'its signature is not valid',
    ({ seq, prev, body, ...row }) => {
      const draft = { ...row, body: body ?? '', at: 1 };
      return rowAfter({ seq: seq - 1, hash: prev }, { ...key(9), id: KEYS.current.id }, draft);
    },
    3,
  ],
])('%s in the place of an event is never shown: %s', async ([, problem, forge, before]) => {
  const log = await freshLog('sqlite');
  await approvedChange(log, 'A');
  const row = (await rowsIn(log.store))[1] as EventRow;
  const forged = forge(row);
  if (forged) await replaceRow(log.store, { ...row, ...forged });
  else await tamper(log.store, 'delete from event where seq = 2');
  await expect(page(log, before, 9)).rejects.toThrow(`damaged at event 2: ${problem}`);
  expect(appendProblem(log)).toBeInstanceOf(Damaged);
});

test('events whose bodies were pruned are left out', async () => {
  const clock = { now: 1_000 };
  const log = await (await installation('sqlite')).open(KEYS, { now: () => clock.now });
  await write(log, 'change/A', drafted(), confirmed, {
    type: 'rejected',
    by: user('UBEN'),
    reason: 'no',
  });
  clock.now = 2_000;
  await write(log, 'change/B', drafted());
  await prune(log, { before: 1_500, export: 'e1' });
  expect((await page(log, null, 9)).found).toEqual([
    'installation/pruned pruned',
    'change/B drafted',
  ]);
  // A body that is put back in its place is shown only where it is the one that was pruned.
  await tamper(log.store, `update event set body = '{"by":"UEVE"}' where seq = 2`);
  await expect(page(log, null, 9)).rejects.toThrow('event 2: its body was modified');
  await expect(log.load('change/A', foldOf(idOf('A')))).rejects.toThrow('its body was modified');
  expect(await verifyAll(log)).toMatchObject({ ok: false, problem: { seq: 2 } });
});

const NEW = { current: key(2), previous: [key(1)] };
const pressed = {
  ...({ type: 'pressed', verb: 'approve' } as const),
  ...{ by: user('UBEN'), text: '', place: { card: 'C1' }, seen: null },
};

test('evidence is the change, its presses and the changes of the key, signed by the current key', async () => {
  const { open } = await installation('sqlite');
  const old = await open();
  await write(old, 'change/OTHER', drafted());
  await write(old, 'change/A', drafted(), confirmed);
  await write(old, 'press/A/p2', pressed);
  const log = await open(NEW);
  await write(log, 'installation', { type: 'started', release: '2.0.0', instance: 'P1' });
  await write(log, 'change/A', approved());
  await write(log, 'press/A/p2', { type: 'answered', what: 'approve', refusal: null });
  await write(log, 'change/OTHER', confirmed);
  const file = readSigned((await evidenceOf(log, 'A')) ?? '', publicKeyPem(NEW));
  const { seq, hash } = head(log);
  expect(file).toMatchObject({ isSigned: true, columns: 'seq,stream,version,type,at,body' });
  expect(file.header).toEqual({
    ...{ format: 'signalbox evidence 1', subject: 'change/A', key: NEW.current.id },
    ...{ head: { seq, hash }, streams: { 'change/A': 3, 'press/A/p2': 2 } },
  });
  const rows = await rowsIn(log.store);
  expect(file.rows).toEqual(rows.filter((row) => [2, 3, 4, 5, 7, 8].includes(row.seq)));
  expect(await evidenceOf(log, 'UNKNOWN')).toBeNull();
  await follow(old);
  for (const sign of [() => evidenceOf(old, 'A'), () => exportLog(old, () => undefined)]) {
    await expect(sign()).rejects.toThrow('was replaced by a newer one');
  }
});

test('the evidence of a pruned change is in the export that was made before', async () => {
  const { open } = await installation('sqlite');
  const [log, other] = [await open(), await open()];
  await write(log, 'press/A/p1', pressed);
  await write(log, 'change/A', drafted(), { type: 'expired' });
  const { seq, hash } = head(log);
  const before = await rowsIn(log.store);
  let text = '';
  const digest = await exportLog(log, async (line) => {
    // What is appended after the header belongs to the next export.
    if (text === '') await write(other, 'change/B', drafted());
    text += line;
  });
  const { header, ...file } = readSigned(text, publicKeyPem(KEYS));
  expect(file).toMatchObject({ rows: before, digest, isSigned: true });
  expect(header).toEqual({
    ...{ format: 'signalbox export 1', from: 1, key: KEYS.current.id, head: { seq, hash } },
  });
  await prune(log, { before: 9_999_999_999_999, export: digest });
  await expect(evidenceOf(log, 'A')).rejects.toThrow(
    'The events of change A were pruned: use the export that was made before',
  );
});
