import { expect, test } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import { eventsOf } from '../../src/log/old/append.ts';
import { insertChange, loadChange } from '../../src/log/old/changes.ts';
import { writePermit } from '../../src/log/old/permits.ts';
import { recordMove } from '../../src/workflow/old/record.ts';
import { sendAndFinish } from '../../src/workflow/old/send.ts';
import { aChange } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

/** The seconds until the next claim, after each of the first hand-backs. */
async function waits(retryAfterMs: number | null, times: number) {
  const { context, clock } = await createTestContext(async () => {
    const answer = { kind: 'answer', status: 429, retryAfterMs } as const;
    throw new ApiError({ operation: 'updateReplicaScaling', effect: 'not-sent', ...answer });
  });
  const approved = aChange({ state: 'approved' });
  await context.database.transaction((tx) => insertChange(tx, approved));
  const found: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const before = await loadChange(context.database.db, approved.id);
    if (!before) throw new Error('The change is gone');
    const lease = { owner: 'tests', until: new Date(clock.now.getTime() + 120_000) };
    const event = { type: 'claimed', lease, stateCheck: undefined } as const;
    const { claimed, permit } = await context.database.transaction(async (tx) => {
      const own = { changeId: before.id, single: false, owner: 'tests', at: clock.now };
      return {
        claimed: await recordMove(tx, context, before, event, { kind: 'claimed', by: 'signalbox' }),
        permit: await writePermit(tx, own),
      };
    });
    await sendAndFinish(context, claimed, permit, new Date(clock.now.getTime() + 30_000));
    const { notBefore } = (await loadChange(context.database.db, approved.id)) ?? {};
    found.push(((notBefore?.getTime() ?? 0) - clock.now.getTime()) / 1_000);
    clock.now = notBefore ?? clock.now;
  }
  return { found, events: await eventsOf(context.database.db, approved.id) };
}

test('an API that accepts nothing gets the change again after 10 s, and finally every 5 minutes', async () => {
  const { found, events } = await waits(null, 8);
  expect(found).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  expect(events).toHaveLength(16);
});

test('the wait that the API requests counts if it is longer', async () => {
  expect((await waits(2_000, 3)).found).toEqual([2, 20, 40]);
  expect((await waits(60_000, 4)).found).toEqual([60, 60, 60, 80]);
  expect((await waits(600_000, 2)).found).toEqual([600, 600]);
});
