import { expect } from 'vitest';
import { hasEvents, listChanges, loadChange } from '../../src/log/changes.ts';
import { type ChangeQuery, countChanges } from '../../src/log/views.ts';
import { onEngines } from '../storage/engines.ts';
import {
  approved,
  approvedChange,
  confirmed,
  drafted,
  idOf,
  installation,
  KEYS,
  rowsIn,
  user,
  write,
} from './logs.ts';

const AT = new Date('2026-11-20T12:00:00.000Z');
const TARGET = 'acme/service/2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
const finn = { requester: user('UFINN'), command: 'service start' };
const call = { nonce: 'n', answeredAt: AT, tookMs: 1, requestId: null };

onEngines('changes are listed by what is asked for', async (engine) => {
  let now = AT.getTime();
  const log = await (await installation(engine)).open(KEYS, { now: () => now });
  await approvedChange(log, 'A');
  await write(log, 'change/B', { ...drafted(), ...finn } as never);
  now += 60_000;
  await write(
    log,
    'change/C',
    drafted(),
    confirmed,
    { type: 'card-posted', channel: 'C1' as never, ts: '1.2' },
    { type: 'break-glass', by: user('UANA'), reason: 'x' },
    { type: 'claimed', by: 'P', nonce: 'n', attempt: 1, until: AT },
    { type: 'succeeded', ...call, reported: [] },
  );
  const list = async (query: ChangeQuery) => {
    const found = await listChanges(log, { limit: 9, ...query });
    expect(await countChanges(log, query)).toBe(found.length);
    return found.map(({ id }) => String(id)).toSorted();
  };
  expect(await list({})).toEqual(['A', 'B', 'C']);
  expect(await list({ states: ['draft'] })).toEqual(['B']);
  expect(await list({ states: [] })).toEqual([]);
  expect(await list({ toReview: true })).toEqual(['C']);
  expect(await list({ requester: 'UFINN', commands: ['service start'] })).toEqual(['B']);
  expect(await list({ targets: [TARGET] })).toEqual(['A', 'B', 'C']);
  expect(await list({ targets: ['acme/service/other'] })).toEqual([]);
  expect(await list({ open: true })).toEqual(['A', 'B']);
  expect(await list({ open: false })).toEqual(['C']);
  expect(await list({ confirmed: true })).toEqual(['A', 'C']);
  expect(await list({ privateTo: 'UANA' })).toEqual(['A', 'C']);
  expect(await list({ privateTo: 'UFINN' })).toEqual(['A', 'B', 'C']);
  expect(await list({ sent: true })).toEqual(['C']);
  expect(await list({ endedSince: AT })).toEqual(['C']);
  expect(await list({ endedSince: new Date(AT.getTime() + 1) })).toEqual([]);
  expect(await listChanges(log, { limit: 1 })).toHaveLength(1);
  await write(log, 'change/C', { type: 'reviewed', by: user('UBEN'), note: 'fine' });
  expect(await list({ toReview: true })).toEqual([]);
});

onEngines('a change shows the state of its revert', async (engine) => {
  const log = await (await installation(engine)).open();
  expect(await loadChange(log, idOf('A'))).toBeNull();
  await approvedChange(log, 'A');
  await write(log, 'change/A', { type: 'revert-planned', child: idOf('B') });
  expect((await loadChange(log, idOf('A')))?.child).toEqual({ id: 'B', state: 'approved' });
  await write(log, 'change/B', drafted(), confirmed, approved(), { type: 'expired' });
  expect((await loadChange(log, idOf('A')))?.child).toEqual({ id: 'B', state: 'expired' });
});

onEngines('hashes that are no events of the log are distinguished', async (engine) => {
  const log = await (await installation(engine)).open();
  await approvedChange(log, 'A');
  const [first] = await rowsIn(log.store);
  const known = await hasEvents(log, [first?.hash ?? '', 'other']);
  expect([...known]).toEqual([first?.hash]);
  expect(await hasEvents(log, [])).toEqual(new Set());
});
