import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { Change } from '../../src/domain/change.ts';
import { type AuditEvent, appendEvent, auditHead } from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import { insertChange, loadVerifiable } from '../../src/log/old/changes.ts';
import { auditRefusal } from '../../src/log/old/matches-audit-trail.ts';
import { recordHash } from '../../src/log/old/record-hash.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import type { Db, Tx } from '../../src/storage/old/database.ts';
import { acceptGap } from '../storage/accept-gap.ts';
import { freshDatabase } from '../storage/engines.ts';
import { aChange, ana, ben, cleo, NOON } from '../storage/example-change.ts';
import { tamper } from '../storage/tamper.ts';

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
  /** What the event records about the row; missing: its hash. */
  readonly record?: JsonObject;
}

const DRAFTED: Step = { kind: 'drafted', by: ana, to: 'draft' };
const CONFIRMED: Step = { kind: 'confirmed', by: ana, from: 'draft', to: 'pending' };
const AGREED: Step = { kind: 'approved', by: ben, from: 'pending', to: 'approved' };

/** A stored change, and a trail with these events of it, one version after the other. */
async function trailOf(steps: readonly Step[], change = APPROVED) {
  const database = await freshDatabase('sqlite');
  onTestFinished(() => database.close());
  await database.transaction(async (tx) => {
    await insertChange(tx, change);
    const row = { record: await recordHash(tx, change.id) };
    for (const [index, step] of steps.entries()) {
      const { kind, by, from, to, version = index + 1, digest = APPROVED.digest } = step;
      const { approvers = [], key, record = row } = step;
      const move = { changeId: APPROVED.id, version, ...(from && { from }), to };
      const event = { kind, ...move, at: NOON, body: { by, digest, ...record, approvers } };
      if (!key) await appendEvent(tx, KEY, event);
      else
        await tx
          .insertInto('audit_event')
          .values(await forged(tx, key, event))
          .execute();
    }
  });
  return database;
}

async function forged(tx: Tx, key: Buffer, event: AuditEvent) {
  return linkAfter(await auditHead(tx), key, event);
}

test('a change that matches its events is accepted', async () => {
  const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
  expect(await auditRefusal(db, KEY, APPROVED)).toBeNull();
});

test.for<[string, readonly Step[]]>([
  ['the trail has no event of it', []],
  ['its last event is missing', [DRAFTED, CONFIRMED]],
  [
    'the trail has an event too many',
    [DRAFTED, CONFIRMED, AGREED, { ...AGREED, from: 'approved' }],
  ],
  ['its first version has another number', [{ ...DRAFTED, version: 0 }, CONFIRMED, AGREED]],
  [
    'its approver is only named by an event of another kind',
    [DRAFTED, CONFIRMED, { ...AGREED, by: cleo, kind: 'claimed', approvers: [ben] }],
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
  [
    'an earlier version follows a modified row',
    [DRAFTED, { ...CONFIRMED, record: { altered: true } }, AGREED],
  ],
  ['its row has another hash', [DRAFTED, CONFIRMED, { ...AGREED, record: { record: 'other' } }]],
])('a change is refused when %s', async ([, steps]) => {
  const { db } = await trailOf(steps);
  expect(await auditRefusal(db, KEY, APPROVED)).toBe('audit-mismatch');
});

test('a change is refused when one of its two approvers did not approve', async () => {
  const approvals = [cleo, ben].map((by) => ({ by, at: NOON }));
  const change = { ...APPROVED, version: 4, approvals };
  const first = { ...AGREED, by: cleo, to: 'pending' } as const;
  const both = await trailOf([DRAFTED, CONFIRMED, first, AGREED], change);
  expect(await auditRefusal(both.db, KEY, change)).toBeNull();
  const one = await trailOf([DRAFTED, CONFIRMED, { ...first, by: ben }, AGREED], change);
  expect(await auditRefusal(one.db, KEY, change)).toBe('audit-mismatch');
});

test.for([0, 1, 2])('a change is outdated when release 1.0 wrote version %i + 1', async (index) => {
  const steps = [DRAFTED, CONFIRMED, AGREED].map((step, at) =>
    at === index ? { ...step, record: {} } : step,
  );
  const { db } = await trailOf(steps);
  expect(await auditRefusal(db, KEY, APPROVED)).toBe('upgraded');
});

// A forged value for every column: a new column fails the test until it has an entry.
const FORGED: Readonly<Record<string, string | number>> = {
  command: 'service stop',
  call_class: 'post',
  target_key: 'service:other',
  plan: '',
  digest: '2:other',
  before_hash: 'other',
  requester: cleo,
  reason: 'other',
  requires: '',
  policy_hash: 'other',
  state: 'pending',
  version: 4,
  rejection: JSON.stringify({ by: ben, at: NOON, reason: 'no' }),
  cancelled_by: cleo,
  stopped: 'frozen',
  frozen_by: JSON.stringify({ until: NOON, reason: 'x', by: null }),
  ending: JSON.stringify({
    how: 'failed',
    at: NOON,
    tookMs: 1,
    requestId: null,
    status: 1,
    text: '',
  }),
  resolution: JSON.stringify({ by: ben, at: NOON, happened: true, note: 'x' }),
  broken_glass: JSON.stringify({ by: ana, at: NOON, reason: 'x' }),
  review: JSON.stringify({ by: ben, at: NOON, note: 'x' }),
  confirmed_at: '2026-01-01T00:00:00.000Z',
  back_at: '2026-01-01T00:00:00.000Z',
  parent: 'ABCDEF',
  ended_at: '2026-01-01T00:00:00.000Z',
  created_at: '2027-01-01T00:00:00.000Z',
  expires_at: '2027-01-01T00:00:00.000Z',
  not_before: '2026-01-01T00:00:00.000Z',
  origin: 'COTHER',
  state_check: JSON.stringify({ kind: 'unverified', why: 'x' }),
};

/** Columns that no event covers, with the reason why that is safe. */
const NOT_COVERED: Readonly<Record<string, string>> = {
  id: 'it selects the events',
  card_channel: 'the position of the card, which grants nothing',
  card_ts: 'the position of the card, which grants nothing',
  card_version: 'which card was drawn',
  revert_planned_at: 'the revert is not planned twice: its parent is unique',
};

const LEASE = ['lease_owner', 'lease_until'];

test('every column of a change is covered by the trail, or there is a reason', async () => {
  const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
  const row = await db.selectFrom('change').selectAll().executeTakeFirstOrThrow();
  const known = [...Object.keys(FORGED), ...Object.keys(NOT_COVERED), ...LEASE];
  expect(Object.keys(row).toSorted()).toEqual(known.toSorted());
});

const AS_STORED = { plan: ['"staging"', '"prod"'], requires: ['"count":2', '"count":0'] } as const;

/** Modifies the stored row without the key. */
async function forge(db: Db, column: string, value: string | number): Promise<void> {
  const parts = column === 'plan' || column === 'requires' ? AS_STORED[column] : null;
  const set = parts ? sql`replace(${sql.ref(column)}, ${parts[0]}, ${parts[1]})` : sql`${value}`;
  await sql`update change set ${sql.ref(column)} = ${set}`.execute(db);
}

test.for(Object.entries(FORGED))(
  'a change is refused when its column %s was modified',
  async ([column, value]) => {
    const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
    await forge(db, column, value);
    const read = await loadVerifiable(db, APPROVED.id);
    const change = read?.change ?? APPROVED;
    expect(await auditRefusal(db, KEY, change)).toBe('audit-mismatch');
    expect(await auditRefusal(db, KEY, change, read ?? undefined)).toBe('audit-mismatch');
  },
);

test('a change is refused when it was given a lease', async () => {
  const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
  await sql`update change set lease_owner = 'x', lease_until = 'y'`.execute(db);
  expect(await auditRefusal(db, KEY, APPROVED)).toBe('audit-mismatch');
});

test.for(['person', 'decision', 'digest', 'at', 'source'])(
  'a change is refused when the column %s of its approval was modified',
  async (column) => {
    const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
    const value = column === 'decision' ? 'rejected' : '2026-01-01T00:00:00.000Z';
    await sql`update approval set ${sql.ref(column)} = ${value}`.execute(db);
    const stored = await loadVerifiable(db, APPROVED.id);
    expect(await auditRefusal(db, KEY, APPROVED)).toBe('audit-mismatch');
    expect(await auditRefusal(db, KEY, APPROVED, stored ?? undefined)).toBe('audit-mismatch');
  },
);

test('a column that a later release adds keeps the hash while it is empty', async () => {
  const { db } = await trailOf([DRAFTED, CONFIRMED, AGREED]);
  await sql`alter table change add column later text`.execute(db);
  expect(await auditRefusal(db, KEY, APPROVED)).toBeNull();
  await sql`update change set later = 'x'`.execute(db);
  expect(await auditRefusal(db, KEY, APPROVED)).toBe('audit-mismatch');
});

test('a change is refused when its plan digest is not that of its plan', async () => {
  const other = { ...APPROVED, digest: '2:other' };
  const steps = [DRAFTED, CONFIRMED, AGREED].map((step) => ({ ...step, digest: other.digest }));
  const { db } = await trailOf(steps, other);
  expect(await auditRefusal(db, KEY, other)).toBe('audit-mismatch');
});

test('a revert is approved by the users of its first event', async () => {
  const planned = { kind: 'planned-return', by: 'signalbox', to: 'approved', version: 1 } as const;
  const child = { ...APPROVED, version: 1 };
  const told = async (approvers: readonly string[]) => {
    const { db } = await trailOf([{ ...planned, approvers }], child);
    return auditRefusal(db, KEY, child);
  };
  expect(await told([ben])).toBeNull();
  expect(await told([cleo])).toBe('audit-mismatch');
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
  expect(await auditRefusal(db, KEY, APPROVED)).toBe('audit-mismatch');
});

test('a change with an event in an accepted gap is still refused', async () => {
  const database = await trailOf([DRAFTED, CONFIRMED, AGREED]);
  // Any event after it, so that the gap has an end.
  const event = { kind: 'started', at: NOON, body: { by: 'signalbox' } };
  await database.transaction((tx) => appendEvent(tx, KEY, event));
  await tamper(
    database,
    `update audit_event set body = replace(body, '"by":"UBEN"', '"by":"UGUS"') where seq = 3`,
  );
  await acceptGap(database, KEY);
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: true, accepted: [{ seq: 5 }] });
  expect(await auditRefusal(database.db, KEY, APPROVED)).toBe('audit-mismatch');
});
