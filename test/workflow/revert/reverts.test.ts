import { expect, test } from 'vitest';
import type { Change, CostEffect } from '../../../src/changes/change.ts';
import { ApiError } from '../../../src/errors.ts';
import type { SendResult } from '../../../src/intent/define.ts';
import type { CommandContext } from '../../../src/intent/ports/command-context.ts';
import { listChanges } from '../../../src/storage/tables/changes/change-lists.ts';
import { loadChange } from '../../../src/storage/tables/changes/changes.ts';
import { claimDueMessages } from '../../../src/storage/tables/queues/outbox.ts';
import type { WorkflowContext } from '../../../src/workflow/ports.ts';
import { createRevertPlanner } from '../../../src/workflow/revert/reverts.ts';
import { service } from '../../intent/fixtures.ts';
import { aChange, ben, minutes, newId, stored } from '../../storage/example-change.ts';
import { aWorld } from '../context.ts';

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
async function theWorld(look: () => Promise<SendResult | null> = async () => SEEN) {
  const { context, clock } = await aWorld();
  const [[name, scale] = []] = [...context.commands];
  if (!name || !scale) throw new Error('There is no such command');
  const services = [service('staging', { id: plan.target.id })];
  const organization = { plan: 'paid', tier: 'scale' };
  const around = { services, organization };
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
  const { context } = await theWorld();
  const parent = parentOf();
  await stored(context.database, parent);
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
  expect(await messagesIn(context)).toEqual(['card', 'card:anew']);
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
  const { context } = await theWorld();
  const parent = parentOf({ plan: { ...plan, timing, cost } });
  await stored(context.database, parent);
  await createRevertPlanner(context)();
  const [revert] = await childrenIn(context);
  expect(revert?.plan.cost).toMatchObject(back);
  if (cost.perDay) expect(revert?.plan.cost?.text).toContain(`as before ${parent.id}`);
});

test('a revert that is already due expires a day from now', async () => {
  const { context, clock } = await theWorld();
  clock.now = minutes(600);
  await stored(context.database, parentOf());
  await createRevertPlanner(context)();
  expect(await childrenIn(context)).toMatchObject([
    { notBefore: minutes(60), expiresAt: minutes(600 + 24 * 60) },
  ]);
});

test('two replicas that plan a revert at the same time plan it once', async () => {
  const { context } = await theWorld();
  await stored(context.database, parentOf());
  const [one, other] = [createRevertPlanner(context), createRevertPlanner(context)];
  // The second replica finds the revert planned, which counts as success.
  expect(await Promise.all([one(), other()])).toEqual([1, 1]);
  expect(await childrenIn(context)).toHaveLength(1);
});

test('a revert that another replica has planned meanwhile is not reported as stopped', async () => {
  const parent = parentOf();
  const { context } = await theWorld(async () => {
    await stored(context.database, aChange({ state: 'approved', parent: parent.id }));
    return null;
  });
  await stored(context.database, parent);
  expect(await createRevertPlanner(context)()).toBe(1);
  expect((await loadChange(context.database.db, parent.id))?.revertAt).toEqual(minutes(60));
  expect(await messagesIn(context)).toEqual([]);
});

test('while the API is down, a revert is planned again after a pause, and none is lost', async () => {
  let tries = 0;
  const { context, clock } = await theWorld(async () => {
    tries += 1;
    if (tries < 3) throw new Error('The API is down');
    return SEEN;
  });
  await stored(context.database, parentOf());
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
    const { context, clock, around } = await theWorld(look);
    if (!isKnown) around.services.length = 0;
    clock.now = minutes(minute);
    const parent = parentOf();
    await stored(context.database, parent);
    const plan = createRevertPlanner(context);
    expect([await plan(), await plan()]).toEqual([1, 0]);
    expect(await childrenIn(context)).toEqual([]);
    const kept = await loadChange(context.database.db, parent.id);
    expect(kept).toMatchObject({ state: 'succeeded', revertAt: null });
    expect(await messagesIn(context)).toEqual(['card', `kept ${why}`]);
  },
);

test('a refused read does not stop a revert', async () => {
  const refused = new ApiError({
    operation: 'get alert',
    effect: 'refused',
    kind: 'answer',
    status: 403,
  });
  const { context } = await theWorld(() => Promise.reject(refused));
  await stored(context.database, parentOf());
  expect(await createRevertPlanner(context)()).toBe(0);
  expect(await messagesIn(context)).toEqual([]);
});

test('reverts that cannot be planned now do not delay the others', async () => {
  const { context } = await theWorld();
  const parents = Array.from({ length: 21 }, (_, n) => parentOf({ createdAt: minutes(n - 60) }));
  await stored(context.database, ...parents);
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
