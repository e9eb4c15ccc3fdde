import { expect, test } from 'vitest';
import type { Change } from '../../src/changes/change.ts';
import { addDays } from '../../src/costs/calendar/day.ts';
import { microOf } from '../../src/costs/ledger/row.ts';
import { savingsLine } from '../../src/digests/savings/schedule-savings.ts';
import { row } from '../costs/rows.ts';
import { service } from '../intent/fixtures.ts';
import { aChange, newId } from '../storage/example-change.ts';

const TODAY = '2026-11-23';
const DAYS = Array.from({ length: 14 }, (_, index) => addDays('2026-10-27', index));
const { plan } = aChange();
const { id } = plan.target;

/** Six stopped hours and a quarter before the accepted start, each night. */
const CHANGES = DAYS.flatMap((day) => [
  ran('service stop', new Date(`${addDays(day, -1)}T23:45Z`)),
  ran('service start', new Date(`${day}T06:00Z`)),
]).toReversed();

function ran(command: string, at: Date, over: Partial<Change> = {}): Change {
  const outcome = { how: 'succeeded', at, tookMs: 1, requestId: null, reported: [] } as const;
  const timing = { startAt: at.toISOString(), revert: null, schedule: newId() };
  return aChange({ command, state: 'succeeded', outcome, plan: { ...plan, timing }, ...over });
}

const rows = DAYS.map((day) => {
  const metrics = { computeCredits: microOf(36) };
  return row({ day, credits: 36, metrics, entityId: id, serviceId: id });
});
const seen = { fields: { idleScaling: false }, seenAt: new Date(TODAY), source: 'reply' };
const input = {
  ...{ rows, today: TODAY, selector: {}, changes: CHANGES, completeSince: new Date(0) },
  services: [service('staging', { id, lastSeen: seen })],
};

test('a digest says what schedules saved on the last final days', () => {
  const line = 'Schedules saved 84.0 credits in the 7 final days until Mon 9 Nov.';
  expect(savingsLine(input)).toBe(line);
});

test.for<[string, Partial<typeof input>]>([
  ['the service may idle', { services: [service('staging', { id })] }],
  ['not all changes are known', { completeSince: new Date('2026-11-01') }],
  ['people stopped it', { changes: CHANGES.map((one) => ({ ...one, plan })) }],
  ['the digest is about other services', { selector: { services: ['other'] } }],
  ['there are no rows', { rows: [] }],
])('no savings are shown when %s', ([, over]) => {
  expect(savingsLine({ ...input, ...over })).toBeNull();
});
