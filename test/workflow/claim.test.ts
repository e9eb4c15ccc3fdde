import { expect, test } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import type { Change, ChangeId } from '../../src/domain/change.ts';
import { closingPermit, lockHolder, lockTarget, writePermit } from '../../src/log/old/permits.ts';
import { runTogether } from '../../src/storage/old/together.ts';
import { execute } from '../../src/workflow/old/execute.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  ben,
  cleo,
  minutes,
  NOON,
  STAGING,
  stored,
} from '../storage/example-change.ts';
import { RULE, storedChange } from './stored-change.ts';

const REQUIRES = aChange().requires;
const seconds = (count: number) => new Date(NOON.getTime() + count * 1_000);

test('a claim records the permit, the approvers and the groups that were read, each once', async () => {
  const { run, events, sent, current } = await storedChange();
  expect(await run()).toBe('done');
  expect(sent.count).toBe(1);
  const [, claimed] = await events();
  expect(claimed).toMatchObject({ kind: 'claimed', from: 'approved', to: 'executing' });
  expect(claimed?.body).toMatchObject({
    by: 'signalbox',
    permit: 1,
    approvers: [ben, cleo],
    groups: [{ id: 'S1', size: 3 }, { id: 'S2' }],
  });
  expect(claimed?.body.groups).toHaveLength(2);
  expect((await current())?.state).toBe('succeeded');
});

test('the lease of a claim belongs to this process for two minutes', async () => {
  const seen: unknown[] = [];
  const { run, current } = await storedChange({
    command: {
      send: async () => {
        seen.push((await current())?.lease);
        return { requestId: null, reported: [], learned: null };
      },
    },
  });
  await run();
  expect(seen).toEqual([{ owner: 'tests', until: minutes(2) }]);
});

test.for<[string, Partial<Change>, 'done' | 'later']>([
  ['that is pending', { state: 'pending' }, 'done'],
  ['that expires now', { expiresAt: NOON }, 'done'],
  ['that is scheduled for later', { notBefore: seconds(1) }, 'later'],
])('a change %s is not executed', async ([, over, step]) => {
  const { run, sent, events } = await storedChange({ change: over });
  expect(await run()).toBe(step);
  expect(sent.count).toBe(0);
  expect(await events()).toHaveLength(1);
});

test('a scheduled change is executed at its time', async () => {
  const { run, sent } = await storedChange({ change: { notBefore: NOON } });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(1);
});

test('a change that does not exist is not executed', async () => {
  const { context, sent } = await storedChange();
  expect(await execute(context, 'NOSUCH' as ChangeId)).toBe('done');
  expect(sent.count).toBe(0);
});

test('a change that was cancelled during the lookups is not executed', async () => {
  const { context, change, run, sent, current } = await storedChange({
    command: {
      readBeforeSending: async () => {
        await context.database.transaction((tx) =>
          tx
            .updateTable('change')
            .set({ state: 'cancelled' })
            .where('id', '=', change.id)
            .execute(),
        );
        return change.plan.before;
      },
    },
  });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect((await current())?.state).toBe('cancelled');
});

test('while the audit trail has a problem, nothing is executed or decided', async () => {
  const { run, sent, current } = await storedChange({
    context: {
      trail: {
        problem: async () => 'event 3 was modified',
        verifyAll: async () => undefined,
        follow: async () => undefined,
        isRevertPlanned: () => false,
        writeCheckpoint: async () => undefined,
      },
    },
    users: { [ana]: 'guest' },
  });
  expect(await run()).toBe('later');
  expect(sent.count).toBe(0);
  expect((await current())?.state).toBe('approved');
});

test('a change that was modified in the database is denied', async () => {
  const { context, change, run, sent, current } = await storedChange();
  await context.database.transaction((tx) =>
    tx.updateTable('change').set({ reason: 'another' }).where('id', '=', change.id).execute(),
  );
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject({ state: 'denied', stopReason: 'audit-mismatch' });
});

test('a failed lookup of the requester or of an approver decides nothing', async () => {
  for (const user of [ana, ben]) {
    const { run, sent, current } = await storedChange({ users: { [user]: 'lookup-failed' } });
    expect(await run()).toBe('later');
    expect(sent.count).toBe(0);
    expect((await current())?.state).toBe('approved');
  }
});

test('a failed lookup of an approver whom the rule no longer needs delays nothing', async () => {
  const { run, sent, events } = await storedChange({
    context: { policy: policyOf([{ ...RULE, approvals: { from: 'approver', count: 1 } }]) },
    change: { requires: { ...REQUIRES, count: 1 } },
    users: { [ben]: 'lookup-failed' },
  });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(1);
  expect((await events())[1]?.body.groups).toMatchObject([{ id: 'S1' }, { id: 'S2' }]);
});

test('each lookup before a claim is a fresh one', async () => {
  const asked: unknown[] = [];
  const { context, run } = await storedChange();
  const { identify } = context.people;
  context.people.identify = async (id, how) => {
    asked.push([id, how.fresh]);
    return identify(id, how);
  };
  await run();
  expect(asked).toEqual([ana, ben, cleo].map((id) => [id, true]));
});

const SEEN = { fields: { minReplicaMemoryGb: 8 }, seenAt: NOON, source: 'a read' };

test('a change runs when a fresh read of its target shows the fields of the preview', async () => {
  const { run, sent } = await storedChange({ command: { readBeforeSending: async () => SEEN } });
  await run();
  expect(sent.count).toBe(1);
});

const CHANGED = { label: 'Minimum', was: '8', is: '24' };
const GONE = { label: 'On the server', was: 'present', is: 'deleted or not visible' };

test.for<[string, () => Promise<object>, difference: object]>([
  ['has another field now', async () => ({ ...SEEN, fields: { minReplicaMemoryGb: 24 } }), CHANGED],
  ['no longer exists', () => Promise.reject(apiError('refused')), GONE],
])('a change becomes stale when its target %s', async ([, readBeforeSending, difference]) => {
  const { run, sent, current } = await storedChange({
    command: { readBeforeSending, differences: () => [CHANGED] },
  });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject({
    ...{ state: 'stale', stopReason: 'target-changed' },
    stateCheck: { kind: 'differs', differences: [difference] },
  });
});

test('a change without values in its preview becomes stale when a read shows some', async () => {
  const plan = { ...aChange().plan, before: null };
  const { run, current } = await storedChange({
    change: { plan },
    command: { readBeforeSending: async () => SEEN },
  });
  await run();
  expect((await current())?.stopReason).toBe('target-changed');
});

test.for<[string, () => Error]>([
  ['gets no answer', () => apiError('unknown')],
  ['is not sent', () => apiError('not-sent')],
  ['meets an internal error', () => new TypeError('x is not a function')],
])('a change waits when the read of its target %s', async ([, error]) => {
  const failure = error();
  const { run, sent, current } = await storedChange({
    command: { readBeforeSending: () => Promise.reject(failure) },
  });
  await expect(run()).rejects.toBe(failure);
  expect(sent.count).toBe(0);
  expect((await current())?.state).toBe('approved');
});

function apiError(effect: ApiError['effect']): ApiError {
  return new ApiError({ operation: 'getAlert', effect, kind: 'answer', status: 404 });
}

test('a change waits while another change holds the lock of its target', async () => {
  const { context, run, sent, current } = await storedChange();
  const other = aChange();
  await stored(context.database, other);
  await context.database.transaction((tx) => lockTarget(tx, STAGING, other.id, NOON));
  expect(await run()).toBe('later');
  expect(sent.count).toBe(0);
  expect((await current())?.state).toBe('approved');
  expect(await lockHolder(context.database.db, STAGING)).toBe(other.id);
});

test('a change becomes stale, without a lock, after another change of its target succeeded', async () => {
  const { context, run, sent, current } = await storedChange();
  const outcome = {
    how: 'succeeded',
    at: minutes(1),
    tookMs: 5,
    requestId: null,
    reported: [],
  } as const;
  await stored(context.database, aChange({ state: 'succeeded', outcome }));
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'target-changed' });
  expect(await lockHolder(context.database.db, STAGING)).toBeNull();
});

test('a change of class post gets no second permit after an unknown outcome', async () => {
  const { context, change, run, sent } = await storedChange({ command: { callClass: 'post' } });
  await context.database.transaction(async (tx) => {
    const own = { changeId: change.id, single: true, owner: 'earlier', at: NOON };
    const n = await writePermit(tx, own);
    await runTogether(tx, [
      closingPermit(tx, { changeId: change.id, n, outcome: 'unknown', httpStatus: null }),
    ]);
  });
  await expect(run()).rejects.toThrow('already has a permit');
  expect(sent.count).toBe(0);
});

test.for(['post', 'patch', 'put'] as const)(
  'only the permit of a class that must not be repeated is the only one: %s',
  async (callClass) => {
    const { context, change, run } = await storedChange({ command: { callClass } });
    await run();
    const permits = await context.database.db.selectFrom('send_permit').selectAll().execute();
    expect(permits).toMatchObject([
      {
        n: 1,
        owner: 'tests',
        at: NOON.toISOString(),
        single: callClass === 'post' ? change.id : null,
      },
    ]);
  },
);
