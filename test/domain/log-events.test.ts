import { expect, test } from 'vitest';
import type { ChangeId, UserId } from '../../src/domain/change.ts';
import { foldOf } from '../../src/domain/fold.ts';
import { LONGEST_FREEZE_MS } from '../../src/domain/freezes.ts';
import {
  endsStream,
  evolveElsewhere,
  evolveFreeze,
  evolveHolders,
  evolveIncident,
  evolvePost,
  evolvePress,
  evolveSchedule,
  evolveSubscription,
  parseEvent,
} from '../../src/domain/log-events.ts';

const recorded = <E>(event: E, at = 7) => ({ ...event, seq: 1, version: 1, at, hash: 'h' });
const user = (id: string) => id as UserId;

test('the first event of a change, a freeze and a schedule creates it', () => {
  const confirmed = recorded({ type: 'confirmed', by: user('U') } as const);
  expect(() => foldOf('A' as ChangeId)(null, confirmed)).toThrow('confirmed, not drafted');
  const lifted = recorded({ type: 'lifted', change: null, by: 'U' } as const);
  expect(() => evolveFreeze(null, lifted)).toThrow('is lifted');
  const resumed = recorded({ type: 'resumed', by: 'U' } as const);
  expect(() => evolveSchedule(null, resumed)).toThrow('is resumed');
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

const AT = { channel: 'C', ts: '1.2' };
const run = { change: 'R', verb: 'start', occurrence: new Date(5), missed: 0 };
const FREEZE = { change: 'A', scope: { tag: 'prod' }, from: new Date(1), until: new Date(99) };
/** What an event says, by its type or another name. */
const FACTS: Readonly<Record<string, object>> = {
  ...{ created: { change: 'A', stop: null, start: 'weekdays 07:00' }, run },
  ...{ skipped: { ...run, why: 'frozen' }, removed: { why: 'x' } },
  ...{ frozen: { type: 'created', ...FREEZE }, found: { foreign: [{ hash: 'x' }], card: AT } },
  again: { type: 'found', change: 'A', foreign: [{ hash: 'y' }], card: null },
  ...{ announced: { channel: 'C', answer: { title: 't' } }, posting: { nonce: 'n', until: 99 } },
  ...{ posted: AT, shown: { type: 'posted', shows: 2 }, expected: { line: 'l' } },
  ...{ listed: { type: 'found', id: 'i' }, added: AT, pressed: { verb: 'approve' } },
  answered: { refusal: 'frozen' },
};
const FIRST = { ...FACTS.announced, at: 7, version: 1 };
const POST = { announced: FIRST, shows: null, state: 'waiting', posting: null, at: null };
const LISTED = { id: 'i', at: 8 };
const OPEN = { isPaused: false, isRemoved: false };
const ADDED = { ...AT, ...OPEN, since: new Date(7) };
const SCHEDULE = { ...FACTS.created, ...OPEN, endedWhy: null, last: null, createdAt: new Date(7) };
const LAST = { verb: 'start', occurrence: new Date(5), change: 'R', skipped: null };
const LOST = {
  ...{ change: 'A', by: null, scope: { everything: true }, from: new Date(8), isLifted: false },
  reason: 'the database has lost this freeze; its card shows what it covers',
  until: new Date(8 + LONGEST_FREEZE_MS),
  lost: { foundAt: new Date(8), answered: ['x', 'y'], card: AT },
};
type Evolve = (state: never, event: never) => unknown;

test.for<[string, Evolve, object]>([
  ['created', evolveSchedule, { ...SCHEDULE, since: new Date(7) }],
  ['created paused', evolveSchedule, { ...SCHEDULE, isPaused: true, since: new Date(7) }],
  // What was due while it was paused does not run.
  ['created paused resumed', evolveSchedule, { ...SCHEDULE, since: new Date(9) }],
  ['created run', evolveSchedule, { since: new Date(5), last: LAST }],
  ['created skipped', evolveSchedule, { last: { ...LAST, change: null, skipped: 'frozen' } }],
  ['created removed', evolveSchedule, { isRemoved: true, endedWhy: 'x' }],
  ['frozen', evolveFreeze, { ...FREEZE, isLifted: false, lost: null }],
  ['frozen lifted', evolveFreeze, { ...FREEZE, isLifted: true }],
  ['found again', evolveFreeze, LOST],
  ['announced', evolvePost, POST],
  ['announced posting not-posted', evolvePost, POST],
  ['announced posting posted', evolvePost, { ...POST, shows: 1, state: 'posted', at: AT }],
  ['announced announced posted', evolvePost, { shows: null }],
  ['posting posted', evolvePost, { announced: null, shows: null }],
  ['shown', evolvePost, { shows: 2 }],
  ['announced posting', evolvePost, { state: 'posting', posting: { nonce: 'n', until: 99 } }],
  ['posting announced', evolvePost, { state: 'posting', announced: { version: 2 } }],
  ['missed', evolvePost, { state: 'missed', announced: null }],
  ['left-out', evolvePost, { state: 'left-out' }],
  ['expected', evolveIncident, { line: 'l' }],
  ['begun', evolveElsewhere, { since: 7, found: [] }],
  ['begun listed', evolveElsewhere, { since: 7, found: [LISTED] }],
  ['begun listed ended', evolveElsewhere, { since: null, found: [LISTED] }],
  ['added', evolveSubscription, ADDED],
  ['added paused', evolveSubscription, { ...ADDED, isPaused: true, since: new Date(8) }],
  ['added removed', evolveSubscription, { ...ADDED, isRemoved: true }],
  ['pressed', evolvePress, { pressedAt: new Date(7), isAnswered: false, refusal: null }],
  ['pressed answered', evolvePress, { isAnswered: true, refusal: 'frozen', verb: 'approve' }],
])('what the events “%s” make of a subject', ([types, evolve, expected]) => {
  const after = types.split(' ').reduce<unknown>((state, type, index) => {
    const event = recorded({ type, ...FACTS[type] }, 7 + index);
    return evolve(state as never, { ...event, version: 1 + index } as never);
  }, null);
  expect(after).toMatchObject(expected);
  expect(after).not.toHaveProperty('hash');
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
  ['change/A', 'a field that is missing', { type: 'confirmed' }, false],
  ['change/A', 'an empty user', { type: 'confirmed', by: '' }, false],
  ['change/A', 'a number for a user', { type: 'confirmed', by: 7 }, false],
  ['change/A', 'its own event with evidence', { type: 'expired', evidence: {} }, true],
  ['change/A', 'a list for evidence', { type: 'expired', evidence: [] }, false],
  ['change/A', 'null for evidence', { type: 'expired', evidence: null }, false],
  ['change/A', 'a text for evidence', { type: 'expired', evidence: 'x' }, false],
  ['change/A', 'an end by Signalbox', { type: 'revoked', by: 'signalbox' }, true],
  ['change/A', 'an end by nobody', { type: 'revoked', by: '' }, false],
  ['change/A', 'an end by a number', { type: 'revoked', by: 7 }, false],
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
