import { expect, test } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import { type CommandContext, commands } from '../../src/commands/index.ts';
import type { Plan } from '../../src/domain/change.ts';
import { listChanges, loadChange } from '../../src/log/index.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import { jobKinds } from '../../src/workflow/background.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { rebuildAll } from '../../src/workflow/rebuild.ts';
import { planRevert } from '../../src/workflow/reverts.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import { aChange, createTestContext, eventsOf, loaded, minutes, STAGING } from './context.ts';
import { jobsFor, runDue } from './due.ts';

const timing = {
  startAt: null,
  revert: {
    afterMs: 3_600_000,
    label: 'Restore the previous size',
    line: `service scale ${STAGING.id} min=8`,
  },
};
const SIZED: Partial<Plan> = { sends: 'PATCH scaling', body: { minReplicaMemoryGb: 16 }, timing };
const SEEN: SendResult = { requestId: null, reported: [], learned: null };

/** A context whose one service can be looked at again, with whatever that look brings. */
async function createRevertContext(look: () => Promise<SendResult | null> = async () => SEEN) {
  const scale = commands.find(({ name }) => name === 'service scale');
  if (scale?.kind !== 'change') throw new Error('There is no such command');
  const services = [{ ...STAGING }];
  const around = { services, organizations: [{ plan: 'paid', tier: 'scale' }], reads: READS_OFF };
  const test = await createTestContext({
    commands: new Map([[scale.name, { ...scale, verifyOutcome: look }]]),
    // The clients are not reached: the command's own look stands in for them.
    commandContext: () => around as unknown as CommandContext,
  });
  const { context } = test;
  /** A change that succeeded at noon, to be reverted an hour later. */
  const parent = (plan: Partial<Plan> = {}) =>
    aChange(context, {
      ...{ command: 'service scale', state: 'succeeded', answeredAt: minutes(0) },
      plan: { ...SIZED, ...plan },
    });
  const plan = (as: WorkflowContext = context) => runDue(as, { revert: jobKinds(as).revert });
  return { ...test, around, parent, plan };
}

/** A change that succeeded at noon and is to be reverted, in such a context. */
async function toRevert(...look: Parameters<typeof createRevertContext>) {
  const all = await createRevertContext(...look);
  const parent = await all.parent();
  return { ...all, parent, id: parent.id, current: () => loaded(all.context, parent.id) };
}

const childrenIn = async ({ events }: WorkflowContext) =>
  (await listChanges(events, { limit: 9 })).filter(({ parent }) => parent);

test('the revert of a timed change is approved with it and waits for its scheduled time', async () => {
  const { context, parent, plan } = await toRevert();
  expect(await plan()).toBe(0);
  const [revert] = await childrenIn(context);
  if (!revert) throw new Error('There is no revert');
  expect(revert).toMatchObject({
    ...{ state: 'approved', parent: parent.id, requester: parent.requester, revertAt: null },
    ...{ approvals: parent.approvals, requires: parent.requires },
    ...{ notBefore: minutes(60), expiresAt: minutes(60 + 24 * 60) },
    plan: { body: { minReplicaMemoryGb: 8 }, timing: { revert: null } },
  });
  expect(revert.digest).not.toBe(parent.digest);
  expect(await jobsFor(context, revert.id)).toEqual(['card', 'run', 'expire']);
  const child = { id: revert.id, state: 'approved' };
  expect(await loadChange(context.events, parent.id)).toMatchObject({ child });
  // One append: of the two events, there is never one alone.
  const [marked] = (await eventsOf(context, `change/${parent.id}`)).slice(-1);
  const [drafted] = await eventsOf(context, `change/${revert.id}`);
  expect(marked).toMatchObject({ type: 'revert-planned', child: revert.id });
  expect(drafted?.seq).toBe((marked?.seq ?? 0) + 1);
});

test('a revert of the day before is kept by a rebuild, and expires a day from now', async () => {
  const { context, clock, plan } = await toRevert();
  clock.now = minutes(1_480);
  await rebuildAll(context.events);
  await plan();
  expect(await childrenIn(context)).toMatchObject([
    { notBefore: minutes(60), expiresAt: minutes(1_480 + 24 * 60) },
  ]);
});

test('two processes that plan a revert at the same time plan it once', async () => {
  const { context, id } = await toRevert();
  const planOnce = () => planRevert(context, id);
  // The second one finds the revert planned, which counts as success.
  expect(await Promise.all([planOnce(), planOnce()])).toEqual(['done', 'done']);
  expect(await childrenIn(context)).toHaveLength(1);
});

test('a revert that another process has planned meanwhile is not reported as stopped', async () => {
  let isFirst = true;
  const all: Awaited<ReturnType<typeof toRevert>> = await toRevert(async () => {
    if (!isFirst) return SEEN;
    isFirst = false;
    await planRevert(all.context, all.id);
    return null;
  });
  expect(await all.plan()).toBe(0);
  expect((await all.current()).revertAt).toEqual(minutes(60));
  expect(await jobsFor(all.context, all.id)).not.toContainEqual(
    expect.stringContaining('revert-stopped'),
  );
});

test('while the API is down, a revert is planned again after a pause, and none is lost', async () => {
  let tries = 0;
  const { context, clock, parent, plan } = await createRevertContext(async () => {
    tries += 1;
    if (tries < 3) throw new Error('The API is down');
    return SEEN;
  });
  await parent();
  expect(await plan()).toBe(1);
  expect(await plan()).toBe(0);
  expect(tries).toBe(1);
  for (const minute of [1, 2]) {
    clock.now = minutes(minute);
    await plan();
  }
  expect(tries).toBe(3);
  expect(await childrenIn(context)).toHaveLength(1);
});

const REFUSED = { operation: 'get alert', effect: 'refused' } as const;
const notFound = new ApiError({ ...REFUSED, kind: 'answer', status: 404 });

test.for<[string, string, () => Promise<SendResult | null>, number, boolean]>([
  ['was changed since', 'moved', async () => null, 1, true],
  ['no longer exists', 'gone', () => Promise.reject(notFound), 1, true],
  ['is no longer in the directory', 'unclear', async () => SEEN, 1, false],
  ['was unreachable for a day', 'late', async () => SEEN, 60 + 24 * 60 + 1, true],
])(
  'a target that %s is not reverted, and users are notified once',
  async ([, why, look, minute, isKnown]) => {
    const { context, clock, around, parent, id, current, plan } = await toRevert(look);
    const { version } = parent;
    if (!isKnown) around.services.length = 0;
    clock.now = minutes(minute);
    await plan();
    await plan();
    expect(await childrenIn(context)).toEqual([]);
    const kept = await current();
    expect(kept).toMatchObject({ state: 'succeeded', revertAt: null, version: version + 1 });
    const last = (await eventsOf(context, `change/${id}`)).at(-1);
    expect(last).toMatchObject({ type: 'revert-kept', why });
    expect(await jobsFor(context, id)).toContain(`revert-stopped/${version + 1}`);
    expect(await jobsFor(context, id)).not.toContain('revert');
  },
);

test('a target that another change has changed since is not reverted', async () => {
  const { context, id, clock, plan } = await toRevert();
  clock.now = minutes(1);
  const other = { command: 'service scale', plan: { body: {} }, state: 'succeeded' } as const;
  await aChange(context, { ...other, answeredAt: minutes(1) });
  await plan();
  expect(await childrenIn(context)).toEqual([]);
  expect((await eventsOf(context, `change/${id}`)).at(-1)).toMatchObject({ why: 'moved' });
});

test.for([
  ['a refused read', { kind: 'answer', status: 403 }],
  ['the 404 page of a wrong address', { kind: 'wrong-address', status: 404 }],
] as const)('%s does not stop a revert', async ([, failure]) => {
  const refused = new ApiError({ ...REFUSED, ...failure });
  const { context, id, current, plan } = await toRevert(() => Promise.reject(refused));
  expect(await plan()).toBe(1);
  expect((await current()).revertAt).toEqual(minutes(60));
  expect(await jobsFor(context, id)).toContain('revert');
});

test('a revert that was stopped is not planned by a late process', async () => {
  const { context, id, current, plan } = await toRevert(async () => null);
  await plan();
  await planRevert(context, id);
  expect(await childrenIn(context)).toEqual([]);
  expect((await current()).outcome).toMatchObject({ how: 'succeeded' });
});
