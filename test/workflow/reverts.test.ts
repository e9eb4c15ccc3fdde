import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import type { CommandContext } from '../../src/commands/index.ts';
import type { Change, CostEffect } from '../../src/domain/change.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { dueReverts } from '../../src/log/old/change-due.ts';
import { listChanges } from '../../src/log/old/change-lists.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import { claimDueMessages } from '../../src/storage/old/outbox.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { createRevertPlanner } from '../../src/workflow/old/reverts.ts';
import { service } from '../commands/fixtures.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import {
  aChange,
  ben,
  minutes,
  NOON,
  newId,
  stored,
  storedWithTrail,
} from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const LINE = 'service scale 11111111-1111-4111-8111-111111111111 min=8';
const timing = {
  startAt: null,
  revert: { afterMs: 3_600_000, label: 'Restore the previous size', line: LINE },
};
const { plan } = aChange();

/** Succeeded at noon, to be taken back an hour later. */
function parentOf(over: Partial<Change> = {}): Change {
  return aChange({
    state: 'succeeded',
    plan: { ...plan, timing },
    approvals: [{ by: ben, at: minutes(-1) }],
    outcome: { how: 'succeeded', at: minutes(0), tookMs: 1, requestId: null, reported: [] },
    createdAt: minutes(-5),
    revertAt: minutes(60),
    ...over,
  });
}

/** A context whose one service can be looked at again, with whatever that look brings. */
async function createRevertContext(look: () => Promise<SendResult | null> = async () => SEEN) {
  const { context, clock } = await createTestContext();
  const [[name, scale] = []] = [...context.commands];
  if (!name || !scale) throw new Error('There is no such command');
  const services = [service('staging', { id: plan.target.id })];
  const organization = { plan: 'paid', tier: 'scale' };
  const around = { services, organization, reads: READS_OFF };
  const own: WorkflowContext = {
    ...context,
    newId,
    commands: new Map([[name, { ...scale, verifyOutcome: look }]]),
    // The clients are not reached: the command's own look stands in for them.
    commandContext: () => around as unknown as CommandContext,
  };
  return { context: own, clock, around };
}

const SEEN: SendResult = { requestId: null, reported: [], learned: null };
const all = (context: WorkflowContext) => listChanges(context.database.db, { limit: 9 });
const childrenIn = async (context: WorkflowContext) =>
  (await all(context)).filter(({ parent }) => parent);

async function messagesIn(context: WorkflowContext): Promise<readonly string[]> {
  const lease = { owner: 'test', now: minutes(5_000), leaseMs: 1, limit: 99 };
  const due = await context.database.transaction((tx) => claimDueMessages(tx, lease));
  return due.map(({ kind, message }) =>
    message?.kind === 'revert-stopped' ? `${kind} ${message.why}` : kind,
  );
}

test('the revert of a timed change is approved with it and waits for its scheduled time', async () => {
  const { context } = await createRevertContext();
  const parent = parentOf();
  await storedWithTrail(context.database, parent);
  expect(await createRevertPlanner(context)()).toBe(1);
  const [revert] = await childrenIn(context);
  expect(revert).toMatchObject({
    state: 'approved',
    parent: parent.id,
    requester: parent.requester,
    approvals: parent.approvals,
    requires: parent.requires,
    notBefore: minutes(60),
    expiresAt: minutes(60 + 24 * 60),
    revertAt: null,
    plan: { body: { minReplicaMemoryGb: 8 }, timing: { revert: null } },
  });
  expect(revert?.digest).not.toBe(parent.digest);
  expect(await messagesIn(context)).toEqual(['card', 'card-repost']);
});

test.for<[string, CostEffect, Partial<CostEffect>]>([
  [
    'halves the cost',
    { text: '−5.0 credits per day', perDay: -5, share: -0.5 },
    { perDay: 5, share: 1 },
  ],
  ['stops the service', { text: '−5.0 credits per day', perDay: -5, share: -1 }, { share: null }],
  ['starts the service', { text: '+5.0 credits per day', perDay: 5, share: null }, { perDay: -5 }],
  [
    'has no known cost',
    { text: 'unknown: x', perDay: null, share: null },
    { text: 'unknown: x', perDay: null },
  ],
])('a revert has the opposite cost estimate of a change that %s', async ([, cost, back]) => {
  const { context } = await createRevertContext();
  const parent = parentOf({ plan: { ...plan, timing, cost } });
  await storedWithTrail(context.database, parent);
  await createRevertPlanner(context)();
  const [revert] = await childrenIn(context);
  expect(revert?.plan.cost).toMatchObject(back);
  if (cost.perDay) expect(revert?.plan.cost?.text).toContain(`as before ${parent.id}`);
});

test('a revert that is already due expires a day from now', async () => {
  const { context, clock } = await createRevertContext();
  clock.now = minutes(600);
  await storedWithTrail(context.database, parentOf());
  await createRevertPlanner(context)();
  expect(await childrenIn(context)).toMatchObject([
    { notBefore: minutes(60), expiresAt: minutes(600 + 24 * 60) },
  ]);
});

test('an unreadable change does not stop the reverts of others', async () => {
  const { context } = await createRevertContext();
  const elsewhere = { ...plan, timing, target: { ...plan.target, id: newId() } };
  const damaged = parentOf({ id: newId(), plan: elsewhere });
  const other = parentOf({ id: newId() });
  await storedWithTrail(context.database, damaged, other);
  await context.database.transaction((tx) =>
    tx.updateTable('change').set({ plan: '{' }).where('id', '=', damaged.id).execute(),
  );
  expect(await createRevertPlanner(context)()).toBe(1);
  expect((await loadChange(context.database.db, other.id))?.child?.state).toBe('approved');
});

test('a revert that a release without the mark planned is not due again', async () => {
  const { context } = await createRevertContext();
  const parent = parentOf();
  await storedWithTrail(
    context.database,
    parent,
    parentOf({ id: newId(), parent: parent.id, revertAt: null }),
  );
  await createRevertPlanner(context)();
  expect(await dueReverts(context.database.db, { limit: 9 })).toEqual([]);
  expect(await childrenIn(context)).toHaveLength(1);
});

test('two replicas that plan a revert at the same time plan it once', async () => {
  const { context } = await createRevertContext();
  await storedWithTrail(context.database, parentOf());
  const [one, other] = [createRevertPlanner(context), createRevertPlanner(context)];
  // The second replica finds the revert planned, which counts as success.
  expect(await Promise.all([one(), other()])).toEqual([1, 1]);
  expect(await childrenIn(context)).toHaveLength(1);
});

test('a revert that another replica has planned meanwhile is not reported as stopped', async () => {
  const parent = parentOf();
  const { context } = await createRevertContext(async () => {
    await stored(context.database, aChange({ state: 'approved', parent: parent.id }));
    return null;
  });
  await storedWithTrail(context.database, parent);
  expect(await createRevertPlanner(context)()).toBe(1);
  expect((await loadChange(context.database.db, parent.id))?.revertAt).toEqual(minutes(60));
  expect(await messagesIn(context)).toEqual([]);
});

test('while the API is down, a revert is planned again after a pause, and none is lost', async () => {
  let tries = 0;
  const { context, clock } = await createRevertContext(async () => {
    tries += 1;
    if (tries < 3) throw new Error('The API is down');
    return SEEN;
  });
  await storedWithTrail(context.database, parentOf());
  const plan = createRevertPlanner(context);
  expect(await plan()).toBe(0);
  expect(await plan()).toBe(0);
  expect(tries).toBe(1);
  for (const minute of [1, 2]) {
    clock.now = minutes(minute);
    await plan();
  }
  expect(tries).toBe(3);
  expect(await childrenIn(context)).toHaveLength(1);
});

const notFound = new ApiError({
  operation: 'get alert',
  effect: 'refused',
  kind: 'answer',
  status: 404,
});

test.for<[string, string, () => Promise<SendResult | null>, number, boolean]>([
  ['was changed since', 'moved', async () => null, 1, true],
  ['no longer exists', 'gone', () => Promise.reject(notFound), 1, true],
  ['is no longer in the directory', 'unclear', async () => SEEN, 1, false],
  ['was unreachable for a day', 'late', async () => SEEN, 60 + 24 * 60 + 1, true],
])(
  'a target that %s is not reverted, and users are notified once',
  async ([, why, look, minute, isKnown]) => {
    const { context, clock, around } = await createRevertContext(look);
    if (!isKnown) around.services.length = 0;
    clock.now = minutes(minute);
    const parent = parentOf();
    await storedWithTrail(context.database, parent);
    const plan = createRevertPlanner(context);
    expect([await plan(), await plan()]).toEqual([1, 0]);
    expect(await childrenIn(context)).toEqual([]);
    const kept = await loadChange(context.database.db, parent.id);
    expect(kept).toMatchObject({ state: 'succeeded', revertAt: null });
    expect(await messagesIn(context)).toEqual(['card', `revert-stopped ${why}`]);
  },
);

test.for([
  ['a refused read', { kind: 'answer', status: 403 }],
  ['the 404 page of a wrong address', { kind: 'wrong-address', status: 404 }],
] as const)('%s does not stop a revert', async ([, failure]) => {
  const refused = new ApiError({ operation: 'get alert', effect: 'refused', ...failure });
  const { context } = await createRevertContext(() => Promise.reject(refused));
  await storedWithTrail(context.database, parentOf());
  expect(await createRevertPlanner(context)()).toBe(0);
  expect(await messagesIn(context)).toEqual([]);
});

test('reverts that cannot be planned now do not delay the others', async () => {
  const { context } = await createRevertContext();
  const parents = Array.from({ length: 21 }, (_, n) => parentOf({ createdAt: minutes(n - 60) }));
  await storedWithTrail(context.database, ...parents);
  let attempts = 0;
  const commandContext = () => {
    attempts += 1;
    throw new Error('The API is down');
  };
  const plan = createRevertPlanner({ ...context, commandContext });
  await plan();
  expect(attempts).toBe(20);
  await plan();
  expect(attempts).toBe(21);
});

test.for([
  ['requirement', sql`requires = replace(requires, '"count":2', '"count":1')`],
  ['time of the revert', sql`back_at = '2026-08-14T13:00:00.000Z'`],
] as const)('a change whose %s was modified in the database is not reverted', async ([, set]) => {
  const { context } = await createRevertContext();
  await storedWithTrail(context.database, parentOf({ revertAt: minutes(61) }));
  await sql`update change set ${set}`.execute(context.database.db);
  expect(await createRevertPlanner(context)()).toBe(1);
  expect(await childrenIn(context)).toEqual([]);
  expect(await messagesIn(context)).toEqual(['card', 'revert-stopped audit-mismatch']);
});

test('a revert whose row and events were deleted is not planned again', async () => {
  const { context } = await createRevertContext();
  await storedWithTrail(context.database, parentOf());
  const trail = { ...context.trail, isRevertPlanned: () => true };
  expect(await createRevertPlanner({ ...context, trail })()).toBe(1);
  expect(await childrenIn(context)).toEqual([]);
  expect(await messagesIn(context)).toEqual(['card', 'revert-stopped audit-mismatch']);
});

test('while the audit trail has a problem, no revert is planned', async () => {
  const { context } = await createRevertContext();
  await storedWithTrail(context.database, parentOf());
  const trail = { ...context.trail, problem: async () => 'event 3 was modified' };
  expect(await createRevertPlanner({ ...context, trail })()).toBe(0);
  expect(await messagesIn(context)).toEqual([]);
});

test('a revert is not planned from a row that was modified only until it was verified', async () => {
  const swap = (from: string, to: string) =>
    sql`update change set plan = replace(plan, ${from}, ${to}) where parent is null`;
  const { context } = await createRevertContext(async () => {
    await swap('min=12', 'min=8').execute(context.database.db);
    return SEEN;
  });
  await storedWithTrail(context.database, parentOf());
  await swap('min=8', 'min=12').execute(context.database.db);
  expect(await createRevertPlanner(context)()).toBe(1);
  expect(await childrenIn(context)).toEqual([]);
  expect(await messagesIn(context)).toEqual(['card', 'revert-stopped audit-mismatch']);
});

test('a change that release 1.0 executed is not reverted automatically', async () => {
  const { context } = await createRevertContext();
  const parent = parentOf();
  await stored(context.database, parent);
  const { id: changeId, version, state: to, digest } = parent;
  const body = { by: 'signalbox', digest, approvers: [ben] };
  await context.database.transaction((tx) =>
    appendEvent(tx, null, { kind: 'planned-return', changeId, version, to, at: NOON, body }),
  );
  expect(await createRevertPlanner(context)()).toBe(1);
  expect(await childrenIn(context)).toEqual([]);
  expect(await messagesIn(context)).toEqual(['card', 'revert-stopped upgraded']);
});
