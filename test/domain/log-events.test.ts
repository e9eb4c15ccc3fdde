import { expect, test } from 'vitest';
import type { ChangeId, UserId } from '../../src/domain/change.ts';
import { foldOf } from '../../src/domain/fold.ts';
import {
  type EventOf,
  endsStream,
  evolveFreeze,
  evolveHolders,
  evolveSchedule,
  type LoggedSchedule,
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

const created: ScheduleEvent = {
  type: 'created',
  change: 'A' as ChangeId,
  by: user('U'),
  service: { id: 'S', name: 's' },
  stop: null,
  start: 'weekdays 07:00',
  zone: 'UTC',
  until: new Date(9),
};
type ScheduleEvent = EventOf<`schedule/${string}`>;
const schedule = (...events: readonly ScheduleEvent[]) =>
  [created, ...events].reduce<LoggedSchedule | null>(
    (all, event, index) => evolveSchedule(all, recorded(event, 7 + index)),
    null,
  );
const occurrence = new Date(5);

test('what was due while a schedule was paused does not run', () => {
  const paused = { type: 'paused', by: 'U', why: 'x' } as const;
  expect(schedule(paused)).toMatchObject({ isPaused: true });
  const resumed = schedule(paused, { type: 'resumed', by: 'U' });
  expect(resumed).toMatchObject({ isPaused: false, since: new Date(9) });
});

test('a schedule has its last occurrence', () => {
  const own = { verb: 'start', occurrence, missed: 0 };
  const run: ScheduleEvent = { type: 'run', change: 'R1' as ChangeId, ...own };
  expect(schedule(run)).toMatchObject({ since: occurrence, last: { change: 'R1', skipped: null } });
  const skipped: ScheduleEvent = { type: 'skipped', why: 'frozen', ...own };
  expect(schedule(run, skipped)?.last).toMatchObject({ change: null, skipped: 'frozen' });
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
