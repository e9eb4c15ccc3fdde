import { expect, test } from 'vitest';
import {
  type ChangeStatus,
  type EventOf,
  endsStream,
  evolveFreeze,
  evolveHolders,
  evolveSchedule,
  evolveStatus,
  type LoggedSchedule,
  parseEvent,
} from '../../src/domain/log-events.ts';

type ChangeEvent = EventOf<`change/${string}`>;
const recorded = <E>(event: E, at = 7) => ({ ...event, seq: 1, version: 1, at, hash: 'h' });

const drafted = (count: number) =>
  ({
    type: 'drafted',
    requester: 'UANA',
    command: 'service stop',
    target: { organization: 'acme', kind: 'service', id: 'S1', name: 'ci' },
    reason: null,
    plan: {},
    digest: 'd',
    requirement: { count },
    expiresAt: 9,
  }) as const;
const confirmed = { type: 'confirmed', by: 'UANA', press: 'p', expiresAt: 9 } as const;
const approved = (by: string) =>
  ({ type: 'approved', by, press: 'p', digest: 'd', evidence: {} }) as const;
const claimed = {
  type: 'claimed',
  by: 'P',
  nonce: 'n',
  attempt: 1,
  until: 9,
  policy: 'c',
} as const;
const by = { by: 'UBEN', press: 'p' };
const sent = { nonce: 'n', answer: {} };

function status(...events: readonly ChangeEvent[]): ChangeStatus | null {
  return events.reduce<ChangeStatus | null>(
    (all, event) => evolveStatus(all, recorded(event)),
    null,
  );
}

const approvedEvents = [drafted(1), confirmed, approved('UBEN')];

test.for<[string, readonly ChangeEvent[], string]>([
  ['a draft', [drafted(1)], 'draft'],
  ['a confirmed draft that needs an approval', [drafted(1), confirmed], 'pending'],
  ['a confirmed draft that needs none', [drafted(0), confirmed], 'approved'],
  ['one of two approvals', [drafted(2), confirmed, approved('UBEN')], 'pending'],
  ['both approvals', [drafted(2), confirmed, approved('UBEN'), approved('UCLEO')], 'approved'],
  [
    'break-glass',
    [drafted(2), confirmed, { type: 'break-glass', ...by, reason: 'x', evidence: {} }],
    'approved',
  ],
  ['a claim', [...approvedEvents, claimed], 'executing'],
  [
    'a claim that sent nothing',
    [...approvedEvents, claimed, { type: 'not-sent', nonce: 'n', why: '429' }],
    'approved',
  ],
  ['a success', [...approvedEvents, claimed, { type: 'succeeded', ...sent }], 'succeeded'],
  ['a failure', [...approvedEvents, claimed, { type: 'failed', ...sent }], 'failed'],
  ['no answer', [...approvedEvents, claimed, { type: 'unknown', ...sent }], 'unknown'],
  [
    'a resolution',
    [
      ...approvedEvents,
      claimed,
      { type: 'unknown', ...sent },
      { type: 'resolved', ...by, as: 'failed', note: 'x' },
    ],
    'failed',
  ],
  ['a rejection', [drafted(1), confirmed, { type: 'rejected', ...by, reason: 'no' }], 'rejected'],
  ['a cancellation', [drafted(1), { type: 'cancelled', ...by, reason: null }], 'cancelled'],
  ['an expiry', [drafted(1), { type: 'expired' }], 'expired'],
  ['a denial', [...approvedEvents, { type: 'denied', why: 'frozen' }], 'denied'],
  ['a stale target', [...approvedEvents, { type: 'stale', why: 'x', foreign: [] }], 'stale'],
  [
    'a refused press',
    [drafted(1), confirmed, { type: 'refused', ...by, verb: 'approve', why: 'self' }],
    'pending',
  ],
  [
    'a revert',
    [...approvedEvents, claimed, { type: 'succeeded', ...sent }, { type: 'reverted', ...sent }],
    'succeeded',
  ],
])('the state after %s', ([, events, state]) => {
  expect(status(...events)?.state).toBe(state);
});

test('a change that used break-glass waits for its review', () => {
  const used = [
    ...approvedEvents,
    { type: 'break-glass', ...by, reason: 'x', evidence: {} } as const,
  ];
  expect(status(...approvedEvents)?.needsReview).toBe(false);
  expect(status(...used)?.needsReview).toBe(true);
  expect(status(...used, { type: 'reviewed', ...by, note: 'x' })?.needsReview).toBe(false);
});

test('lists show command, requester, target and time of a change', () => {
  expect(status(drafted(1))).toMatchObject({
    command: 'service stop',
    requester: 'UANA',
    target: 'acme/service/S1',
    createdAt: 7,
  });
});

test('the first event of a change, a freeze and a schedule creates it', () => {
  expect(() => evolveStatus(null, recorded(confirmed))).toThrow('confirmed, not drafted');
  const lifted = recorded({ type: 'lifted', change: null, by: 'U' } as const);
  expect(() => evolveFreeze(null, lifted)).toThrow('lifted, not created');
  const resumed = recorded({ type: 'resumed', by: 'U' } as const);
  expect(() => evolveSchedule(null, resumed)).toThrow('resumed, not created');
});

test('a target is held until each change that took it has released it', () => {
  const taken = (change: string, over: string | null = null) =>
    recorded({ type: 'taken', change, over } as const);
  const released = (change: string) => recorded({ type: 'released', change } as const);
  const one = evolveHolders(null, taken('A'));
  expect(one).toEqual(['A']);
  // The morning start passes the lock of its own unknown stop, which stays open.
  const both = evolveHolders(one, taken('B', 'A'));
  expect(both).toEqual(['A', 'B']);
  expect(evolveHolders(both, released('B'))).toEqual(['A']);
  expect(evolveHolders(evolveHolders(both, released('A')), released('B'))).toEqual([]);
  expect(evolveHolders(both, taken('A'))).toEqual(['B', 'A']);
});

const created = {
  type: 'created',
  change: 'A',
  by: 'U',
  service: { id: 'S', name: 's' },
  stop: null,
  start: 'weekdays 07:00',
  zone: 'UTC',
  until: 9,
} as const;
type ScheduleEvent = EventOf<`schedule/${string}`>;
const schedule = (...events: readonly ScheduleEvent[]) =>
  [created, ...events].reduce<LoggedSchedule | null>(
    (all, event) => evolveSchedule(all, recorded(event)),
    null,
  );
const run = {
  type: 'run-claimed',
  change: 'R1',
  verb: 'start',
  dueAt: 5,
  nonce: 'n',
  until: 9,
} as const;

test('a schedule is paused and resumed', () => {
  const paused = { type: 'paused', by: 'U', why: 'x' } as const;
  expect(schedule(paused)?.isPaused).toBe(true);
  expect(schedule(paused, { type: 'resumed', by: 'U' })?.isPaused).toBe(false);
});

test('a schedule has the run that has not ended', () => {
  expect(schedule(run)?.run).toEqual({ change: 'R1', verb: 'start', dueAt: 5 });
  expect(schedule(run, { type: 'run-ended', change: 'R0', outcome: 'failed' })?.run).not.toBeNull();
  expect(schedule(run, { type: 'run-ended', change: 'R1', outcome: 'succeeded' })?.run).toBeNull();
});

test.for<[string, string, boolean]>([
  ['change/A', 'succeeded', true],
  ['change/A', 'resolved', true],
  ['change/A', 'stale', true],
  ['change/A', 'unknown', false],
  ['change/A', 'approved', false],
  ['press/A/p', 'answered', true],
  ['press/A/p', 'pressed', false],
  ['freeze/A', 'lifted', true],
  ['schedule/A', 'removed', true],
  ['digest/C/d', 'missed', true],
  ['post/C', 'posted', true],
  ['post/C', 'posting', false],
  ['target/acme/service/S', 'released', false],
  ['installation', 'configured', false],
  ['unknown/A', 'posted', false],
])('%s with the last event %s has ended: %s', ([stream, type, ended]) => {
  expect(endsStream(stream, type)).toBe(ended);
});

test.for<[string, string, object, boolean]>([
  ['change/A', 'an event of another subject', { type: 'taken', change: 'A', over: null }, false],
  ['change/A', 'an unknown type', { type: 'teleported' }, false],
  ['change/A', 'a field that is missing', { type: 'confirmed', by: 'U' }, false],
  ['unknown/A', 'an unknown subject', { type: 'expired' }, false],
  ['change/A', 'its own event', { type: 'expired' }, true],
  ['installation', 'its own event', { type: 'configured', configuration: 'c', release: 'r' }, true],
  ['installation/names', 'its own event', { type: 'named', ids: { '#a': 'C1' } }, true],
])('a stream %s takes %s: %s', ([stream, , fields, isTaken]) => {
  expect(parseEvent(stream as 'installation', { ...fields }) !== null).toBe(isTaken);
});

test('fields that a type does not have are dropped', () => {
  expect(parseEvent('change/A', { type: 'expired', password: 'x' })).toEqual({ type: 'expired' });
});
