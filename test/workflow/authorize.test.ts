import { expect, test } from 'vitest';
import type { Change, UserId } from '../../src/domain/change.ts';
import type { People } from '../../src/domain/gate.ts';
import { insertChange } from '../../src/log/old/changes.ts';
import { authorizeQuery, authorizeRequester } from '../../src/workflow/old/authorize.ts';
import { authorizeDetails } from '../../src/workflow/old/authorize-details.ts';
import { requestChange } from '../../src/workflow/old/request.ts';
import { REQUIRES } from '../domain/changes-fixtures.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { aChange, storedWithTrail } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const outsider = (id: UserId) =>
  ({ ok: true, actor: { id, roles: [] }, evidence: { groups: [] } }) as const;

test('a refusal is recorded before Slack returns the users who could act instead', async () => {
  const { context } = await createTestContext();
  const names = Promise.withResolvers<null>();
  const people: People = {
    ...context.people,
    identify: async (id) => outsider(id),
    someMembers: () => names.promise,
  };
  const query = { command: 'service list', target: null, by: 'UDORA' as UserId };
  const answer = authorizeQuery({ ...context, people }, query);
  const kinds = async () => {
    const rows = await context.database.db.selectFrom('audit_event').select('kind').execute();
    return rows.map(({ kind }) => kind);
  };
  await expect.poll(kinds).toEqual(['refused']);
  names.resolve(null);
  expect(await answer).toMatchObject({
    ok: false,
    denial: { refusal: 'not-a-requester', who: null },
  });
});

test('the target of a user without a role is not read', async () => {
  const { context } = await createTestContext();
  const scale = context.commands.get('service scale');
  if (!scale) throw new Error('There is no such command');
  const reads: unknown[] = [];
  const observe = async (args: unknown) => {
    reads.push(args);
    return { before: null };
  };
  const command = { ...scale, observe };
  const people: People = { ...context.people, identify: async (id) => outsider(id) };
  const request = {
    command,
    args: { service: { id: 's-1', name: 'staging', tags: [], warehouse: null } },
    given: { service: 'staging' },
    reason: null,
    requester: 'UDORA' as UserId,
    origin: null,
    edits: null,
    key: 'k-1',
  };
  const outcome = await requestChange({ ...context, people }, request);
  expect(outcome).toMatchObject({ denial: { refusal: 'not-a-requester', target: 'staging' } });
  expect(reads).toEqual([]);
});

test('a requester who is a guest now gets neither the draft nor its password', async () => {
  const { context } = await createTestContext();
  const change = aChange();
  await context.database.transaction((tx) => insertChange(tx, change));
  const people: People = {
    ...context.people,
    identify: async () => ({ ok: false, refusal: 'guest' }),
  };
  const authorized = await authorizeRequester({ ...context, people }, change.id, change.requester);
  expect(authorized).toMatchObject({ ok: false, denial: { refusal: 'guest' } });
});

test.for<[string, Change['state'], string, readonly string[], object]>([
  ['the requester', 'draft', 'UANA', [], { ok: true, isFull: true }],
  ['an approver', 'pending', 'UBEN', ['approver'], { ok: true, isFull: true }],
  ['an escalation role', 'pending', 'UBEN', ['lead'], { ok: true, isFull: true }],
  ['a role that lists changes', 'pending', 'UBEN', ['viewer'], { ok: true, isFull: false }],
  ['another role', 'pending', 'UBEN', ['guest'], { denial: { refusal: 'not-an-approver' } }],
  ['an approver', 'draft', 'UBEN', ['approver'], { denial: { refusal: 'not-found' } }],
])(
  '%s may see the request of a %s change as the policy says',
  async ([, state, by, roles, seen]) => {
    const { context } = await createTestContext();
    const escalation = { to: 'lead', afterMs: 1 };
    const change = aChange({ state, requires: { ...REQUIRES, escalation } });
    await storedWithTrail(context.database, change);
    const identify: People['identify'] = async (id) => ({
      ...outsider(id),
      actor: { id, roles },
    });
    const { rules, ...base } = policyOf([{ allow: ['cost'], to: 'viewer' }]);
    const policy = {
      ...base,
      rules: rules.map((rule) => ({ ...rule, commands: ['change show'] })),
    };
    const reader = { ...context, policy, people: { ...context.people, identify } };
    expect(await authorizeDetails(reader, change.id, by as UserId)).toMatchObject(seen);
  },
);
