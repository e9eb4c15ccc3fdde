import { expect, test } from 'vitest';
import { ApiError, Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { evolve } from '../../src/domain/fold.ts';
import { eventsOf } from '../../src/log/old/append.ts';
import { insertChange, loadChange } from '../../src/log/old/changes.ts';
import { lockHolder, lockTarget, writePermit } from '../../src/log/old/permits.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { recordMove } from '../../src/workflow/old/record.ts';
import { recover } from '../../src/workflow/old/recover.ts';
import { sendAndFinish } from '../../src/workflow/old/send.ts';
import { aChange, minutes, NOON, STAGING } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const LEASE = { owner: 'tests', until: new Date(NOON.getTime() + 120_000) };
const CLAIMED = { type: 'claimed', lease: LEASE, stateCheck: undefined } as const;
const SEND_BEFORE = new Date(NOON.getTime() + 30_000);

/** A change whose permit to send was just committed. */
async function claimed(context: WorkflowContext): Promise<{ change: Change; permit: number }> {
  const approved = aChange({ state: 'approved' });
  const change = evolve(approved, { ...CLAIMED, at: NOON });
  const permit = await context.database.transaction(async (tx) => {
    await insertChange(tx, approved);
    await lockTarget(tx, STAGING, change.id, NOON);
    const n = await writePermit(tx, {
      changeId: change.id,
      single: false,
      owner: 'tests',
      at: NOON,
    });
    await recordMove(tx, context, approved, CLAIMED, { kind: 'claimed', by: 'signalbox' });
    return n;
  });
  return { change, permit };
}

const stateOf = async (context: WorkflowContext, { id }: Change) =>
  (await loadChange(context.database.db, id))?.state;

test('a sender that paused for half a minute does not send', async () => {
  const { context, sent, clock } = await createTestContext();
  const { change, permit } = await claimed(context);
  clock.now = SEND_BEFORE;
  await sendAndFinish(context, change, permit, SEND_BEFORE);
  expect(sent.count).toBe(0);
  expect(await stateOf(context, change)).toBe('approved');
  expect(await lockHolder(context.database.db, STAGING)).toBeNull();
});

test('an answer after the lease does not overrule the unknown outcome', async () => {
  const { context, clock } = await createTestContext();
  const { change, permit } = await claimed(context);
  clock.now = new Date(NOON.getTime() + 121_000);
  await recover(context);
  expect(await stateOf(context, change)).toBe('unknown');

  await sendAndFinish(context, change, permit, minutes(10));
  expect(await stateOf(context, change)).toBe('unknown');
  expect(await lockHolder(context.database.db, STAGING)).toBe(change.id);
});

test('an outcome that was stored before is not stored for the next claim', async () => {
  const { context } = await createTestContext(() => Promise.reject(failure('not-sent')));
  const { change, permit } = await claimed(context);
  await sendAndFinish(context, change, permit, SEND_BEFORE);
  const approved = await loadChange(context.database.db, change.id);
  if (!approved) throw new Error('The change is gone');
  const again = await context.database.transaction(async (tx) => {
    await writePermit(tx, { changeId: change.id, single: false, owner: 'other', at: NOON });
    return recordMove(tx, context, approved, CLAIMED, { kind: 'claimed', by: 'signalbox' });
  });
  // The answer to the first commit was lost, so that the sender stores its outcome again.
  await sendAndFinish(context, change, permit, SEND_BEFORE);
  expect(await loadChange(context.database.db, change.id)).toMatchObject({
    state: 'executing',
    version: again.version,
  });
});

test('the password in an answer is stored for its requester', async () => {
  const secret = new Secret('pässword');
  const { context: base } = await createTestContext(async () => ({
    requestId: null,
    reported: [],
    learned: null,
    secret,
  }));
  const context = { ...base, auditKey: Buffer.alloc(32, 7) };
  const { change, permit } = await claimed(context);
  await sendAndFinish(context, change, permit, SEND_BEFORE);
  const query = context.database.db.selectFrom('sealed_secret').select(['change_id', 'requester']);
  expect(await query.execute()).toEqual([{ change_id: change.id, requester: change.requester }]);
});

test.for<[string, () => Error, string]>([
  ['a fault of ours in the middle of it', () => new TypeError('x is not a function'), 'unknown'],
  ['no answer', () => failure('unknown'), 'unknown'],
  ['a definite no', () => failure('refused'), 'failed'],
  ['a request that surely did not leave', () => failure('not-sent'), 'approved'],
])('%s leaves the change %s', async ([, fault, state]) => {
  const { context, sent } = await createTestContext(() => Promise.reject(fault()));
  const { change, permit } = await claimed(context);
  await sendAndFinish(context, change, permit, SEND_BEFORE);
  expect(await stateOf(context, change)).toBe(state);
  expect(sent.count).toBe(1);
  const kept = await lockHolder(context.database.db, STAGING);
  expect(kept).toBe(state === 'unknown' ? change.id : null);
});

function failure(effect: ApiError['effect']): ApiError {
  return new ApiError({
    operation: 'updateReplicaScaling',
    effect,
    kind: 'answer',
    status: 418,
  });
}

test('every version of a change has one event with its previous state', async () => {
  const { context } = await createTestContext();
  const { change, permit } = await claimed(context);
  await sendAndFinish(context, change, permit, SEND_BEFORE);
  const events = await eventsOf(context.database.db, change.id);
  expect(events.map(({ version, from, to }) => [version, from, to])).toEqual([
    [2, 'approved', 'executing'],
    [3, 'executing', 'succeeded'],
  ]);
});
