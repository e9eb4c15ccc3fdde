import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Change } from '../../../src/changes/change.ts';
import { appendEvent } from '../../../src/storage/audit/append.ts';
import { matchesAuditTrail } from '../../../src/storage/audit/matches-audit-trail.ts';
import { freshDatabase } from '../engines.ts';
import { aChange, ana, ben, cleo, NOON } from '../example-change.ts';

const KEY = Buffer.alloc(32, 7);

const APPROVED = aChange({
  state: 'approved',
  version: 3,
  approvals: [{ by: ben, at: NOON }],
});

interface Step {
  readonly kind: string;
  readonly by: string;
  readonly from?: Change['state'];
  readonly to: Change['state'];
  readonly version?: number;
  readonly approvers?: readonly string[];
  readonly digest?: string;
  readonly key?: Buffer;
}

const DRAFTED: Step = { kind: 'drafted', by: ana, to: 'draft' };
const CONFIRMED: Step = { kind: 'confirmed', by: ana, from: 'draft', to: 'pending' };
const AGREED: Step = { kind: 'approved', by: ben, from: 'pending', to: 'approved' };

/** A trail with these events of the change, one version after the other. */
async function trailOf(steps: readonly Step[]) {
  const database = await freshDatabase('sqlite');
  onTestFinished(() => database.close());
  await database.transaction(async (tx) => {
    for (const [index, step] of steps.entries()) {
      const { kind, by, from, to, version = index + 1, digest = APPROVED.digest } = step;
      const { approvers = [], key = KEY } = step;
      const move = { changeId: APPROVED.id, version, ...(from && { from }), to };
      const event = { kind, ...move, at: NOON, body: { by, digest, approvers } };
      await appendEvent(tx, key, event);
    }
  });
  return database;
}

test('a change that matches its events is accepted', async () => {
  const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
  expect(await matchesAuditTrail(db, KEY, APPROVED)).toBe(true);
});

test.for<[string, readonly Step[]]>([
  ['the trail has no event of it', []],
  ['its last event is missing', [DRAFTED, CONFIRMED]],
  [
    'the trail has an event too many',
    [DRAFTED, CONFIRMED, AGREED, { ...AGREED, from: 'approved' }],
  ],
  ['a version is missing', [DRAFTED, CONFIRMED, { ...AGREED, version: 4 }]],
  ['an event begins in a wrong state', [DRAFTED, { ...AGREED, by: ana }, AGREED]],
  ['its last event has another state', [DRAFTED, CONFIRMED, { ...AGREED, to: 'pending' }]],
  ['the trail has another requester', [{ ...DRAFTED, by: cleo }, CONFIRMED, AGREED]],
  ['the trail has another approver', [DRAFTED, CONFIRMED, { ...AGREED, by: cleo }]],
  ['its approver did not approve', [DRAFTED, CONFIRMED, { ...AGREED, kind: 'confirmed' }]],
  ['an event has another plan digest', [DRAFTED, CONFIRMED, { ...AGREED, digest: 'other' }]],
  [
    'an event was signed with another key',
    [DRAFTED, CONFIRMED, { ...AGREED, key: Buffer.alloc(32, 8) }],
  ],
])('a change is refused when %s', async ([, steps]) => {
  const { db } = await trailOf(steps);
  expect(await matchesAuditTrail(db, KEY, APPROVED)).toBe(false);
});

test('a revert is approved by the users of its first event', async () => {
  const planned = { kind: 'planned-return', by: 'signalbox', to: 'approved', version: 1 } as const;
  const child = { ...APPROVED, version: 1 };
  const told = async (approvers: readonly string[]) => {
    const { db } = await trailOf([{ ...planned, approvers }]);
    return matchesAuditTrail(db, KEY, child);
  };
  expect(await told([ben])).toBe(true);
  expect(await told([cleo])).toBe(false);
});

test('an overwritten event is refused', async () => {
  const { db } = await trailOf([DRAFTED, CONFIRMED, { ...AGREED, by: cleo }]);
  const { body } = await db
    .selectFrom('audit_event')
    .select('body')
    .where('version', '=', 3)
    .executeTakeFirstOrThrow();
  const forged = body.replace(cleo, ben);
  // The owner of the database can do that without the key.
  await sql`drop trigger audit_event_no_update`.execute(db);
  await db.updateTable('audit_event').set({ body: forged }).where('version', '=', 3).execute();
  expect(await matchesAuditTrail(db, KEY, APPROVED)).toBe(false);
});
