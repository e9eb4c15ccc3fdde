import { expect, test } from 'vitest';
import type { Change, UserId, Verb } from '../../src/domain/change.ts';
import { aChange, ana, ben, minutes } from '../storage/example-change.ts';
import { clickable, DRAFT, PENDING, REQUIRES } from '../workflow/clickable.ts';
import { RULE, SERVICE } from '../workflow/stored-change.ts';
import { policyOf } from './policy-fixtures.ts';

/** Clicks that permit an execution, and the change that each is pressed on. */
const PERMITTING: readonly [Verb, Partial<Change>, UserId][] = [
  ['confirm', DRAFT, ana],
  ['approve', PENDING, ben],
  ['break-glass', { ...PENDING, requires: { ...REQUIRES, breakGlass: 'operator' } }, ana],
];
const PROD = () => [{ ...SERVICE, tags: ['prod'] }];
const strict = policyOf([
  { ...RULE, on: { tags: ['prod'] }, approvals: { from: 'approver', count: 2 } },
  RULE,
]);

test.for(PERMITTING)('%s ends a change that was modified in the database', async (row) => {
  const [verb, over, by] = row;
  const { context, change, press, current, isHandled } = await clickable({ change: over });
  await context.database.transaction((tx) =>
    tx.updateTable('change').set({ reason: 'another' }).where('id', '=', change.id).execute(),
  );
  expect(await press(verb, by, 'outage')).toMatchObject({
    ok: false,
    denial: { refusal: 'audit-mismatch' },
  });
  expect(await current()).toMatchObject({ stopReason: 'audit-mismatch' });
  expect(await isHandled()).toBe(true);
});

test('the rejection or cancellation of a modified change is marked in the audit trail', async () => {
  for (const [verb, by] of [
    ['reject', ben],
    ['cancel', ana],
  ] as const) {
    const { context, change, press, events } = await clickable({ change: PENDING });
    await context.database.transaction((tx) =>
      tx.updateTable('change').set({ reason: 'another' }).where('id', '=', change.id).execute(),
    );
    expect(await press(verb, by, 'wrong')).toMatchObject({ ok: true });
    expect((await events()).at(-1)?.body).toMatchObject({ altered: true });
  }
});

test.for(PERMITTING)('%s ends a change whose target has a stricter rule now', async (row) => {
  const [verb, over, by] = row;
  const circumstances = { change: over, context: { services: PROD, policy: strict } };
  const { press, current, events } = await clickable(circumstances);
  expect(await press(verb, by, 'outage')).toMatchObject({
    ok: false,
    denial: { refusal: 'tags-changed', change: { state: 'stale' } },
  });
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'tags-changed' });
  const stale = (await events()).find(({ kind }) => kind === 'stale');
  expect(stale?.body).toMatchObject({ tags: ['prod'], warehouse: 'main' });
});

test('a change whose target has other tags and a rule that is no stricter is approved', async () => {
  const policy = policyOf([{ ...RULE, approvals: { from: 'approver', count: 1 } }]);
  const circumstances = { change: PENDING, context: { services: PROD, policy } };
  expect(await (await clickable(circumstances)).press('approve', ben)).toMatchObject({ ok: true });
});

test('a change whose target has the same tags is approved by the rule of its request', async () => {
  const policy = policyOf([{ ...RULE, approvals: { from: 'approver', count: 3 } }]);
  const { press } = await clickable({ change: PENDING, context: { policy } });
  expect(await press('approve', ben)).toMatchObject({ ok: true });
});

test('a change whose target has other tags ends when no rule or a freeze refuses it', async () => {
  const freeze = {
    from: minutes(-1).toISOString(),
    until: minutes(9).toISOString(),
    reason: 'launch',
    on: { tags: ['prod'] },
  };
  const one = { ...RULE, approvals: { from: 'approver', count: 1 } };
  for (const policy of [policyOf([{ ...one, on: { tags: ['eu'] } }]), policyOf([one], [freeze])]) {
    const { press } = await clickable({ change: PENDING, context: { services: PROD, policy } });
    expect(await press('approve', ben)).toMatchObject({ denial: { refusal: 'tags-changed' } });
  }
});

test('a freeze that ends before the start of a timed change does not end it', async () => {
  const freeze = {
    from: minutes(-1).toISOString(),
    until: minutes(9).toISOString(),
    reason: 'launch',
    on: { tags: ['prod'] },
  };
  const timing = { startAt: minutes(60).toISOString(), revert: null };
  const plan = { ...aChange().plan, timing };
  const policy = policyOf([{ ...RULE, approvals: { from: 'approver', count: 1 } }], [freeze]);
  const circumstances = { change: { ...PENDING, plan }, context: { services: PROD, policy } };
  expect(await (await clickable(circumstances)).press('approve', ben)).toMatchObject({ ok: true });
});

test('a change of a command that this release lacks is approved by the rule of its name', async () => {
  const policy = policyOf([{ ...RULE, approvals: { from: 'approver', count: 1 } }]);
  const change = { ...PENDING, command: 'service upgrade' };
  const circumstances = { change, context: { services: PROD, policy, commands: new Map() } };
  expect(await (await clickable(circumstances)).press('approve', ben)).toMatchObject({ ok: true });
});
