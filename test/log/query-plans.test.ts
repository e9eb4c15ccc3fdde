import { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { type ChangeId, targetKey, type UserId } from '../../src/domain/change.ts';
import {
  dueClaims,
  dueExpiries,
  dueReverts,
  expiredLeases,
  markedReverts,
  openChangeIds,
} from '../../src/log/old/change-due.ts';
import {
  changesRequestedSince,
  changesToReview,
  countChanges,
  listChanges,
  openChangesOfTarget,
} from '../../src/log/old/change-lists.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { lastOutcomes } from '../../src/log/old/last-outcomes.ts';
import { lastSentChanges } from '../../src/log/old/last-sent.ts';
import { manualChangeSince } from '../../src/log/old/schedules.ts';
import { readGauges } from '../../src/ops/index.ts';
import { openPostgres } from '../../src/storage/old/postgres.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { openSqliteReader, sqlitePath } from '../../src/storage/sqlite.ts';
import { ENGINES, freshUrl, openForTest } from '../storage/engines.ts';
import { aChange, minutes, NOON } from '../storage/example-change.ts';
import { databaseOfManyChanges } from '../storage/many-changes.ts';
import { type Query, readPlan, record, rowsRead } from '../storage/recorded-plans.ts';

const viewer = 'U7' as UserId;
const example = aChange();
const ofTarget = {
  ...example,
  plan: { ...example.plan, target: { ...example.plan.target, id: '7' } },
};

const SIZE_COMMANDS = ['service start', 'service stop', 'service scale'];
const failedByViewer = { states: ['failed'], privateTo: viewer, requester: viewer } as const;

/** Each query, and the index with which SQLite reads the changes. */
const QUERIES: readonly [name: string, index: RegExp, query: Query][] = [
  ['due expiries', /change_by_state /, (db) => dueExpiries(db, NOON, 50)],
  ['due executions', /change_by_state /, (db) => dueClaims(db, NOON, { limit: 40, except: [] })],
  ['due reverts', /change_revert_due/, (db) => dueReverts(db, { limit: 20, except: [] })],
  ['marked reverts', /change_to_take_back/, (db) => markedReverts(db, minutes(-4_320))],
  ['expired leases', /change_by_state/, (db) => expiredLeases(db, NOON, 50)],
  ['open changes', /change_by_state|change_open/, (db) => openChangeIds(db, { limit: 100 })],
  ['gauges', /change_by_state|change_open/, (db) => readGauges(db, NOON, 'c1')],
  [
    'manual changes of a service',
    /change_by_target|change_by_state/,
    (db) => manualChangeSince(db, targetKey(ofTarget.plan.target), minutes(-1_440)),
  ],
  ['one change', /sqlite_autoindex_change_1/, (db) => loadChange(db, 'T-7' as ChangeId)],
  [
    'pending changes',
    /change_by_state/,
    (db) => listChanges(db, { open: true, states: ['pending'], limit: 200 }),
  ],
  [
    'own open changes',
    /change_by_requester|change_open/,
    (db) => listChanges(db, { open: true, requester: viewer, limit: 200 }),
  ],
  ['recent changes', /change_by_age/, (db) => listChanges(db, { open: false, limit: 50 })],
  [
    'failed changes',
    /change_by_state_and_age/,
    (db) => listChanges(db, { states: ['failed'], limit: 20 }),
  ],
  [
    'executed changes',
    /change_by_state_and_age/,
    (db) => listChanges(db, { states: ['succeeded'], limit: 200 }),
  ],
  [
    'changes that ended today',
    /change_by_end/,
    (db) => listChanges(db, { endedSince: minutes(-1_440), limit: 200 }),
  ],
  [
    'changes of some targets that ended this month',
    /change_by_target /,
    (db) => {
      const filter = { targets: ['service:7', 'service:8'], endedSince: minutes(-43_200) };
      return listChanges(db, { ...filter, states: ['succeeded'], limit: 200 });
    },
  ],
  [
    'the last scales of a service',
    /change_by_target |change_sent_by_target/,
    (db) => {
      const filter = { targets: ['service:7'], endedSince: minutes(-100_800) };
      return listChanges(db, {
        ...filter,
        states: ['succeeded'],
        commands: SIZE_COMMANDS,
        limit: 20,
      });
    },
  ],
  [
    'the last sent changes of each service',
    /change_by_target/,
    (db) =>
      lastSentChanges(db, { kind: 'service', commands: SIZE_COMMANDS, since: minutes(-100_800) }),
  ],
  [
    'all changes for a viewer',
    /change_by_age/,
    (db) => listChanges(db, { privateTo: viewer, limit: 20 }),
  ],
  ['own changes', /change_by_requester/, (db) => listChanges(db, { requester: viewer, limit: 20 })],
  ['the count of all changes', /change_by_age/, (db) => countChanges(db, { privateTo: viewer })],
  [
    'the count of own changes',
    /change_by_requester/,
    (db) => countChanges(db, { requester: viewer }),
  ],
  [
    'own changes without drafts',
    /change_by_requester/,
    (db) => listChanges(db, { requester: viewer, confirmed: true, limit: 20 }),
  ],
  [
    'changes since yesterday',
    /change_by_age/,
    (db) => listChanges(db, { confirmed: true, since: minutes(-2_880), limit: 20 }),
  ],
  [
    'changes of a service',
    /change_by_target_and_age/,
    (db) => listChanges(db, { confirmed: true, targets: ['service:7'], limit: 20 }),
  ],
  [
    'changes of a service by one user',
    /change_by_target_and_age|change_by_requester/,
    (db) =>
      listChanges(db, {
        ...{ confirmed: true, targets: ['service:7'], requester: viewer },
        ...{ since: minutes(-43_200), limit: 20 },
      }),
  ],
  [
    'failed changes of a user since a week',
    /change_by_state_and_age|change_by_requester/,
    (db) => listChanges(db, { ...failedByViewer, since: minutes(-10_080), limit: 20 }),
  ],
  [
    'the count of changes without drafts',
    /change_by_age/,
    (db) => countChanges(db, { confirmed: true }),
  ],
  [
    'the count of failed changes of a user',
    /change_by_state_and_age|change_by_requester/,
    (db) => countChanges(db, failedByViewer),
  ],
  [
    'the count of failed changes of a service',
    /change_by_target/,
    (db) => countChanges(db, { states: ['failed'], privateTo: viewer, targets: ['service:7'] }),
  ],
  [
    'the drafts of a user',
    /change_by_state|change_by_requester/,
    (db) => countChanges(db, { states: ['draft'], requester: viewer }),
  ],
  ['the last outcomes', /change_by_end/, (db) => lastOutcomes(db)],
  ['changes to review', /change_to_review/, (db) => changesToReview(db, 200)],
  [
    'open changes of a target',
    /change_by_target/,
    (db) => runTogether(db, [openChangesOfTarget(db, 'service:7')]),
  ],
  [
    'changes of a target since',
    /change_by_target_and_age/,
    (db) => runTogether(db, [changesRequestedSince(db, ofTarget, minutes(-60))]),
  ],
];

/** A list of one page with its approvals; the largest query reads four rows for each of 300 services. */
const ROWS_MAX = 1_500;

// SQLite keeps no statistics, so that its plans do not depend on the rows.
test('on SQLite, each query of changes uses an index that fits', async () => {
  const url = await freshUrl('sqlite');
  await openForTest(url);
  const { db, queriesOf } = record(openSqliteReader(sqlitePath(url)));
  for (const [name, index, query] of QUERIES) {
    const plan: string[] = [];
    for (const { sql, parameters } of await queriesOf(query)) {
      const explain = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
      const { rows } = await db.executeQuery<{ detail: string }>(explain);
      plan.push(...rows.map(({ detail }) => detail));
    }
    expect
      .soft(
        // One change is read without a list of ids.
        plan.find((step) => / change /.test(step)) ?? plan[0],
        name,
      )
      .toMatch(index);
  }
});

test.runIf(ENGINES.includes('postgres'))(
  'on PostgreSQL with 200,000 changes, each query reads few rows',
  async () => {
    const url = await freshUrl('postgres');
    await databaseOfManyChanges('postgres', url);
    const { db, queriesOf } = record(openPostgres(url, { onError: () => undefined }));
    for (const [name, , query] of QUERIES) {
      for (const { sql, parameters } of await queriesOf(query)) {
        const read = (await readPlan(db, sql, parameters)).map((plan) => rowsRead(plan, 'change'));
        expect.soft(Math.max(...read), name).toBeLessThan(ROWS_MAX);
      }
    }
  },
);
