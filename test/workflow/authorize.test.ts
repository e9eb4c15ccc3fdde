import { expect, test } from 'vitest';
import type { ChangeId, State, UserId, Verb } from '../../src/domain/change.ts';
import type { People } from '../../src/domain/gate.ts';
import {
  authorizeDetails,
  authorizeForm,
  authorizeForms,
  authorizePress,
  authorizeQuery,
  authorizeRequester,
} from '../../src/workflow/authorize.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  ben,
  channel,
  cleo,
  createTestContext,
  dora,
  emil,
  eventsOf,
  minutes,
  notices,
  RULE,
  refusals,
} from './context.ts';

/** What becomes of the form of a button in its own place. */
const pressBy = (context: WorkflowContext, change: ChangeId, verb: Verb, by: UserId) =>
  authorizePress(context, { change, verb, by, place: { kind: 'own' } });

test('the refusal of a query is recorded before Slack returns the users who could act instead', async () => {
  const { context } = await createTestContext();
  const names = Promise.withResolvers<void>();
  const { someMembers } = context.people;
  const people: People = {
    ...context.people,
    someMembers: (role) => names.promise.then(() => someMembers(role)),
  };
  const query = { command: 'service list', target: null, by: emil };
  const answer = authorizeQuery({ ...context, people }, query);
  const recorded = async () => (await refusals(context)).map(({ tried, why }) => [tried, why]);
  await expect.poll(recorded).toEqual([['service list', 'not-a-requester']]);
  names.resolve();
  const who = { users: [ana], more: false };
  const denial = { refusal: 'not-a-requester', role: 'operator', rule: 1, who };
  expect(await answer).toMatchObject({ ok: false, denial });
});

test('a query of a foreign button is refused, and the operators read of it', async () => {
  const { context } = await createTestContext();
  const query = { command: 'service list', target: null, by: ana };
  expect(await authorizeQuery(context, { ...query, place: { kind: 'own' } })).toEqual({ ok: true });
  const foreign = authorizeQuery(context, { ...query, place: { kind: 'unknown' } });
  expect(await foreign).toMatchObject({ ok: false, denial: { refusal: 'foreign-place' } });
  expect(await refusals(context)).toMatchObject([{ by: ana, why: 'foreign-place' }]);
  expect(await notices(context)).toMatchObject([{ to: null }]);
});

test('a user sees the forms of the commands to which a rule admits them', async () => {
  const { context } = await createTestContext();
  const names = ['service stop', 'alert edit'];
  expect(await authorizeForms(context, ana, names)).toMatchObject({ commands: ['service stop'] });
  expect(await authorizeForms(context, emil, names)).toMatchObject({ commands: [] });
  const form = { commands: ['service stop'], by: emil, record: false };
  const denial = { refusal: 'not-a-requester', who: { users: [ana] } };
  expect(await authorizeForm(context, form)).toMatchObject({ denial });
  expect(await refusals(context)).toEqual([]);
  await authorizeForm(context, { ...form, record: true });
  expect(await refusals(context)).toMatchObject([{ by: emil, tried: 'service stop' }]);
});

test('a user who may not press a button reads who may, and the refusal stands with the change', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  expect(await pressBy(context, id, 'approve', ben)).toMatchObject({ ok: true, change: { id } });
  expect(await pressBy(context, id, 'reject', dora)).toMatchObject({
    denial: { refusal: 'not-an-approver', role: 'approver', who: { users: [ben, cleo] } },
  });
  const found = await context.events.loadAll(`refusal/${id}`, (_, event) => event);
  expect([...found.values()].map(({ state }) => state)).toMatchObject([
    { by: dora, tried: 'reject', why: 'not-an-approver', target: 'staging' },
  ]);
});

test('the form of a button in a foreign message does not open, and the operators read of it', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  const at = { channel: channel('COTHER'), ts: '9.9' };
  const place = { kind: 'message', at, thread: null } as const;
  expect(
    await authorizePress(context, { change: id, verb: 'reject', by: ben, place }),
  ).toMatchObject({ denial: { refusal: 'foreign-place' } });
  expect(await notices(context)).toMatchObject([{ to: null }]);
});

test('the requester is not named among those who could approve instead', async () => {
  const { context, roles } = await createTestContext();
  roles.set(ana, ['operator', 'approver']);
  const { id } = await aChange(context);
  const denial = { refusal: 'self-approval', who: { users: [ben, cleo] } };
  expect(await pressBy(context, id, 'approve', ana)).toMatchObject({ denial });
});

test('after its wait, the escalation role is named as well', async () => {
  const rule = {
    ...RULE,
    approvals: { ...RULE.approvals, escalate: { to: 'viewer', after: '1h' } },
  };
  const { context, clock } = await createTestContext({ policy: policyOf([rule]) });
  const escalation = { to: 'viewer', afterMs: 3_600_000 };
  const { id } = await aChange(context, { requires: { escalation } });
  const whoMay = async () => {
    const answer = await pressBy(context, id, 'approve', emil);
    return answer.ok ? null : answer.denial.who?.users;
  };
  expect(await whoMay()).toEqual([ben, cleo]);
  clock.now = minutes(61);
  expect(await whoMay()).toEqual([ben, cleo, dora]);
});

test('a requester who is a guest now gets neither the draft nor its password', async () => {
  const { context, roles } = await createTestContext();
  const { id } = await aChange(context, { state: 'draft' });
  expect(await authorizeRequester(context, id, ana)).toMatchObject({ ok: true });
  roles.set(ana, 'guest');
  expect(await authorizeRequester(context, id, ana)).toMatchObject({
    ok: false,
    denial: { refusal: 'guest' },
  });
  expect(await eventsOf(context, `change/${id}`)).toHaveLength(1);
});

test.for<[string, State, UserId, readonly string[], object]>([
  ['the requester', 'draft', ana, [], { ok: true, isFull: true }],
  ['an approver', 'pending', ben, ['approver'], { ok: true, isFull: true }],
  ['an escalation role', 'pending', ben, ['lead'], { ok: true, isFull: true }],
  ['a role that lists changes', 'pending', ben, ['viewer'], { ok: true, isFull: false }],
  ['another role', 'pending', ben, ['guest'], { denial: { refusal: 'not-an-approver' } }],
  ['an approver', 'draft', ben, ['approver'], { denial: { refusal: 'not-found' } }],
])(
  '%s may see the request of a %s change as the policy says',
  async ([, state, by, held, seen]) => {
    const { rules, ...base } = policyOf([{ allow: ['cost'], to: 'viewer' }]);
    const policy = {
      ...base,
      rules: rules.map((rule) => ({ ...rule, commands: ['change show'] })),
    };
    const { context, roles } = await createTestContext({ policy });
    const escalation = { to: 'lead', afterMs: 1 };
    const { id } = await aChange(context, { state, requires: { escalation } });
    roles.set(by, held);
    expect(await authorizeDetails(context, id, by)).toMatchObject(seen);
  },
);
