import { expect } from 'vitest';
import { hasEvents, listChanges, loadChange, withoutCard } from '../../src/log/changes.ts';
import { prune } from '../../src/log/upkeep.ts';
import {
  type ChangeQuery,
  countChanges,
  lastSent,
  requestedCommands,
} from '../../src/log/views.ts';
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
const after = (minutes: number) => new Date(AT.getTime() + minutes * 60_000);
const at = (minutes: number) => ({ at: after(minutes) }) as never;
const answered = (minutes: number) => ({
  ...{ nonce: 'n', answeredAt: after(minutes), tookMs: 1, requestId: null },
});
const claimed = { type: 'claimed', by: 'P', nonce: 'n', attempt: 1, until: AT };
const urgent = { type: 'break-glass', by: 'UANA', reason: 'x' };
const card = { type: 'card-posted', channel: 'C1', ts: '1.2' };
const unknown = (minutes: number) => [
  ...[claimed, { type: 'unknown', ...answered(minutes), status: null, text: '' }],
];

/** One a minute: approved, a draft, four that ended, and those of an agent and of a revert. */
const CHANGES: Readonly<Record<string, readonly object[]>> = {
  A: [drafted(), confirmed, approved()],
  B: [{ ...drafted(), requester: 'UFINN', command: 'service start' }],
  C: [
    ...[drafted(), confirmed, card, urgent, claimed],
    { type: 'succeeded', ...answered(9), reported: [] },
  ],
  D: [{ ...drafted(), command: 'service rename' }, { type: 'expired' }],
  E: [
    ...[{ ...drafted(), via: { agent: 'ci', subject: 's', for: 'itself' } }, confirmed, approved()],
    ...unknown(7),
  ],
  F: [
    ...[{ ...drafted(), command: 'service undo', parent: 'C' }, confirmed, urgent],
    { type: 'expired' },
  ],
  G: [
    ...[drafted(), confirmed, card, { type: 'card-lost' }, approved(), ...unknown(5)],
    { type: 'resolved', by: 'UBEN', as: 'succeeded', note: 'seen' },
  ],
  H: [drafted(), confirmed, { type: 'rejected', by: 'UBEN', reason: 'no' }],
};

const before = (id: string, createdAt: number, ended: object = {}) => ({
  before: { id: idOf(id), createdAt: after(createdAt), outcome: null, resolution: null, ...ended },
});

/** The ids of the changes, in the order of the list. */
const LISTS: readonly (readonly [string, ChangeQuery])[] = [
  ['HGFEDCBA', {}],
  ['B', { states: ['draft'] }],
  ['', { states: [] }],
  ['B', { requester: 'UFINN' }],
  ['E', { agent: 'ci' }],
  ['DB', { commands: ['service start', 'service rename'] }],
  ['HGFEDCBA', { targets: [TARGET] }],
  ['', { targets: ['acme/service/other'] }],
  ['EBA', { open: true }],
  ['HGFC', { open: false }],
  ['HGF', { since: after(5) }],
  ['HGFEBA', { openOrSince: after(5) }],
  ['CG', { endedSince: AT }],
  ['C', { endedSince: after(7) }],
  ['CEG', { sent: true }],
  ['HGFECA', { confirmed: true }],
  ['C', { toReview: true }],
  ['HGFEDCA', { privateTo: 'UANA' }],
  ['HGFECBA', { privateTo: 'UFINN' }],
  ['HGFEDBA', { except: idOf('C') }],
  ['HGEDCBA', { requested: true }],
  ['BA', before('C', 2)],
  ['CBA', before('D', 2)],
  ['G', { sent: true, ...before('E', 0, { outcome: at(7) }) }],
  ['EG', { sent: true, ...before('F', 0, { outcome: at(7) }) }],
  ['G', { endedSince: AT, ...before('C', 0, { outcome: at(9) }) }],
  ['G', { endedSince: AT, ...before('H', 0, { outcome: at(1), resolution: at(6) }) }],
  ['G', { endedSince: AT, ...before('H', 8) }],
];

onEngines('changes are listed by what is asked for', async (engine) => {
  let now = 0;
  const clock = { now: () => after(now).getTime() };
  const log = await (await installation(engine)).open(KEYS, clock);
  for (const [id, events] of Object.entries(CHANGES)) {
    await write(log, `change/${id}`, ...(events as never[]));
    now += 1;
  }
  const list = async (query: ChangeQuery, limit = 9) =>
    (await listChanges(log, { limit, ...query })).map(({ id }) => String(id)).join('');
  for (const [ids, query] of LISTS) {
    expect([await list(query), query]).toEqual([ids, query]);
    expect(await countChanges(log, query)).toBe(ids.length);
  }
  expect(await list({}, 1)).toBe('H');
  expect(await requestedCommands(log, 'UANA', 9)).toEqual(['service stop', 'service rename']);
  expect(await requestedCommands(log, 'UANA', 1)).toEqual(['service stop']);
  const commands = ['service stop'];
  expect(await lastSent(log, { commands, since: after(9) })).toEqual(new Map([[TARGET, after(9)]]));
  expect(await lastSent(log, { commands, since: after(10) })).toEqual(new Map());
  expect(await lastSent(log, { commands: [], since: AT })).toEqual(new Map());
  expect(await withoutCard(log, ['A', 'C', 'G'].map(idOf))).toEqual(['A', 'G']);
  await write(log, 'change/C', { type: 'reviewed', by: user('UBEN'), note: 'fine' });
  expect(await list({ toReview: true })).toBe('');
  await prune(log, { before: after(9).getTime(), export: 'digest' });
  expect(await list({})).toBe('EBA');
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
