import { expect, test } from 'vitest';
import { execute } from '../../src/workflow/old/execute.ts';
import { createReadPatience } from '../../src/workflow/old/read-target.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { aChange, ana, ben, cleo, minutes, NOON } from '../storage/example-change.ts';
import { RULE, SERVICE, storedChange } from './stored-change.ts';

const REQUIRES = aChange().requires;

test.for<[string, Parameters<typeof storedChange>[0], object]>([
  [
    'its requester is a guest now',
    { users: { [ana]: 'guest' } },
    { state: 'denied', stopReason: 'guest' },
  ],
  [
    'its requester has lost the role',
    { users: { [ana]: [] } },
    { state: 'denied', stopReason: 'not-a-requester' },
  ],
  [
    'an approver has lost the role',
    { users: { [cleo]: ['operator'] } },
    { state: 'denied', stopReason: 'approvals-missing' },
  ],
  [
    'an approver was deactivated',
    { users: { [cleo]: 'deactivated' } },
    { state: 'denied', stopReason: 'approvals-missing' },
  ],
  [
    'the current rule requires more approvals',
    { context: { policy: policyOf([{ ...RULE, approvals: { from: 'approver', count: 3 } }]) } },
    { state: 'denied', stopReason: 'approvals-missing' },
  ],
  [
    'the rule of the request required more approvals',
    { change: { requires: { ...REQUIRES, count: 3 } } },
    { state: 'denied', stopReason: 'approvals-missing' },
  ],
  [
    'no rule allows its command now',
    { context: { policy: policyOf([{ ...RULE, allow: ['service stop'] }]) } },
    { state: 'denied', stopReason: 'no-rule' },
  ],
  [
    'the rule requires a reason now, and the change has none',
    {
      context: { policy: policyOf([{ ...RULE, reason: 'required' }]) },
      change: { reason: null },
    },
    { state: 'denied', stopReason: 'reason-required' },
  ],
  [
    'a freeze covers its target',
    {
      context: {
        policy: policyOf(
          [RULE],
          [{ from: minutes(-1).toISOString(), until: minutes(9).toISOString(), reason: 'launch' }],
        ),
      },
    },
    { state: 'denied', stopReason: 'frozen', frozenBy: { reason: 'launch', until: minutes(9) } },
  ],
])('a change is denied when %s', async ([, circumstances, expected]) => {
  const { run, sent, current } = await storedChange(circumstances);
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject(expected);
});

test('a refusal without a freeze names none', async () => {
  const { run, current, events } = await storedChange({
    context: {
      policy: policyOf(
        [RULE],
        [{ from: minutes(-1).toISOString(), until: minutes(9).toISOString(), reason: 'launch' }],
      ),
    },
    users: { [ana]: [] },
  });
  await run();
  expect((await current())?.frozenBy).toBeUndefined();
  expect((await events()).at(-1)?.body).not.toHaveProperty('freeze');
});

/** A rule for services with this tag, which requires two approvals of operators. */
const strictFor = (tag: string) =>
  policyOf([{ ...RULE, on: { tags: [tag] }, approvals: { from: 'operator', count: 2 } }, RULE]);

test('a change whose target has a tag with a stricter rule now becomes stale', async () => {
  const services = () => [{ ...SERVICE, tags: ['prod'] }];
  const { run, sent, current } = await storedChange({
    context: { services, policy: strictFor('prod') },
  });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'tags-changed' });
});

test('a freeze of a target with other tags is named as the reason', async () => {
  const freeze = {
    from: minutes(-1).toISOString(),
    until: minutes(9).toISOString(),
    reason: 'launch',
    on: { tags: ['prod'] },
  };
  const services = () => [{ ...SERVICE, tags: ['prod'] }];
  const { run, current } = await storedChange({
    context: { services, policy: policyOf([RULE], [freeze]) },
  });
  await run();
  expect(await current()).toMatchObject({ state: 'denied', stopReason: 'frozen' });
});

test('a failed lookup for a target with other tags decides nothing', async () => {
  const services = () => [{ ...SERVICE, tags: ['prod'] }];
  const { run, current } = await storedChange({
    context: { services },
    users: { [ben]: 'lookup-failed' },
  });
  expect(await run()).toBe('later');
  expect((await current())?.state).toBe('approved');
});

test('a change whose target has other tags and the same rule is executed', async () => {
  const services = () => [{ ...SERVICE, tags: ['eu'] }];
  const { run, sent } = await storedChange({ context: { services, policy: strictFor('prod') } });
  await run();
  expect(sent.count).toBe(1);
});

const BREAK_GLASS = { ...RULE, breakGlass: { to: 'operator' } };

/** A change that runs by break-glass, without approvals. */
function breakGlassChange(
  role: string | null,
  rule: object,
  users: NonNullable<Parameters<typeof storedChange>[0]>['users'] = {},
) {
  const requires = { ...REQUIRES, breakGlass: role };
  const breakGlass = { by: ana, at: NOON, reason: 'outage' };
  return storedChange({
    change: { requires, breakGlass, approvals: [] },
    context: { policy: policyOf([rule]) },
    users,
  });
}

test('a break-glass change runs without approvals', async () => {
  const { run, sent } = await breakGlassChange('operator', BREAK_GLASS);
  await run();
  expect(sent.count).toBe(1);
});

test.for<[string, string | null, object, readonly string[], string]>([
  ['the current rule has no break-glass', 'operator', RULE, ['operator'], 'no-break-glass'],
  ['the rule of the request had no break-glass', null, BREAK_GLASS, ['operator'], 'no-break-glass'],
  [
    'its requester lacks the role of the current rule',
    'operator',
    { ...RULE, breakGlass: { to: 'approver' } },
    ['operator'],
    'may-not-break-glass',
  ],
  [
    'its requester has lost the role of the rule of the request',
    'approver',
    BREAK_GLASS,
    ['operator'],
    'may-not-break-glass',
  ],
])('a break-glass change is denied when %s', async ([, role, rule, roles, stopReason]) => {
  const { run, sent, current } = await breakGlassChange(role, rule, { [ana]: roles });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject({ state: 'denied', stopReason });
});

const CHECK = { label: 'State', was: 'running', is: 'stopped' };

test('a change whose service differs from its preview becomes stale, with the difference', async () => {
  const state = { kind: 'differs', differences: [CHECK] };
  const { run, sent, current } = await storedChange({
    command: { compareBeforeSending: async () => state },
  });
  expect(await run()).toBe('done');
  expect(sent.count).toBe(0);
  expect(await current()).toMatchObject({
    ...{ state: 'stale', stopReason: 'target-changed' },
    stateCheck: { kind: 'differs', differences: [CHECK] },
  });
});

test.for([
  ['can be repeated', false, 'later', 0],
  ['the configuration switched off', true, 'done', 1],
] as const)('after a read that %s, a change waits or is sent unverified', async (row) => {
  const [, isOff, step, count] = row;
  const { run, sent, current, events } = await storedChange({
    command: { compareBeforeSending: async () => ({ kind: 'unread', why: 'no reply', isOff }) },
  });
  expect(await run()).toBe(step);
  expect(sent.count).toBe(count);
  if (count === 0) return;
  expect((await current())?.stateCheck).toEqual({ kind: 'unverified', why: 'no reply' });
  expect((await events()).map(({ body }) => body)).toContainEqual(
    expect.objectContaining({ unverified: 'no reply' }),
  );
});

test('a change that waits for its read is sent two minutes after the first attempt', async () => {
  const { context, clock, change, sent } = await storedChange({
    command: { compareBeforeSending: async () => ({ kind: 'unread', why: 'w', isOff: false }) },
  });
  const patience = createReadPatience();
  for (const seconds of [0, 60, 119]) {
    clock.now = new Date(NOON.getTime() + seconds * 1_000);
    expect(await execute(context, change.id, patience)).toBe('later');
  }
  expect(sent.count).toBe(0);
  clock.now = minutes(2);
  expect(await execute(context, change.id, patience)).toBe('done');
  expect(sent.count).toBe(1);
});
