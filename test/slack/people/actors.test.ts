import type { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import type { UserId } from '../../../src/changes/change.ts';
import { createActors } from '../../../src/slack/people/actors.ts';
import { policyOf } from '../../policy/fixtures.ts';

const ANA = 'UANA' as UserId;
const WHOLE = {
  id: ANA,
  team_id: 'T0US',
  deleted: false,
  is_bot: false,
  is_restricted: false,
  is_ultra_restricted: false,
};

/** Slack as far as it is asked who somebody is. */
function actors(user: object | null, members: readonly string[] = [ANA]) {
  const lookups = {
    users: { info: async () => ({ ok: true, ...(user ? { user } : {}) }) },
    usergroups: { users: { list: async () => ({ ok: true, users: members }) } },
  };
  return actorsBy(lookups);
}

function actorsBy(lookups: object) {
  return createActors({
    // Only the two calls above are made; a third would fail the test, as it should.
    lookups: lookups as unknown as WebClient,
    policy: policyOf([{ allow: ['service stop'], to: 'approver' }]),
    groups: new Map([['approver', [{ id: 'S0LEADS', handle: 'db-leads' }]]]),
    home: { teamId: 'T0US', enterpriseId: 'E0US' },
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    warn: () => undefined,
  });
}

test('a full member of the workspace is known with the roles of their groups', async () => {
  const identity = await actors(WHOLE).identify(ANA, { fresh: true });
  expect(identity).toMatchObject({ ok: true, actor: { id: ANA, roles: ['approver'] } });
});

test.for([
  ['was deactivated', { ...WHOLE, deleted: true }, 'deactivated'],
  ['is a guest', { ...WHOLE, is_restricted: true }, 'guest'],
  ['is a guest of one channel', { ...WHOLE, is_ultra_restricted: true }, 'guest'],
  ['is a bot', { ...WHOLE, is_bot: true }, 'bot'],
  ['is of another workspace', { ...WHOLE, team_id: 'T0THEM' }, 'other-workspace'],
  ['has is_stranger set', { ...WHOLE, is_stranger: true }, 'other-workspace'],
  [
    'is of another enterprise',
    { ...WHOLE, team_id: 'T0X', enterprise_user: { enterprise_id: 'E0X' } },
    'other-workspace',
  ],
  ['has another id than requested', { ...WHOLE, id: 'UBEN' }, 'lookup-failed'],
  ['is not said to be no bot', { ...WHOLE, is_bot: undefined }, 'bot'],
  ['is not said to be no guest', { ...WHOLE, is_restricted: undefined }, 'guest'],
  ['is not said to be active', { ...WHOLE, deleted: undefined }, 'deactivated'],
  ['is missing from the answer', null, 'lookup-failed'],
] as const)('a user who %s has no permission', async ([, user, refusal]) => {
  expect(await actors(user).identify(ANA, { fresh: true })).toEqual({ ok: false, refusal });
});

test('a user of the same enterprise is a member', async () => {
  const user = { ...WHOLE, team_id: 'T0SISTER', enterprise_user: { enterprise_id: 'E0US' } };
  expect(await actors(user).identify(ANA, { fresh: true })).toMatchObject({ ok: true });
});

test('a user in no group has no role', async () => {
  const identity = await actors(WHOLE, ['UBEN']).identify(ANA, { fresh: true });
  expect(identity).toMatchObject({ ok: true, actor: { roles: [] } });
});

test('of a large group only as many are asked for as are needed', async () => {
  const asked: string[] = [];
  const lookups = {
    users: {
      info: async ({ user }: { user: string }) => {
        asked.push(user);
        return { ok: true, user: { ...WHOLE, id: user, deleted: user === 'U1' } };
      },
    },
    usergroups: {
      users: {
        list: async () => ({ ok: true, users: Array.from({ length: 5_000 }, (_, n) => `U${n}`) }),
      },
    },
  };
  const { someOf, membersOf } = actorsBy(lookups);
  expect(await someOf('approver', 3)).toEqual(['U0', 'U2', 'U3', 'U4', 'U5']);
  expect(asked).toHaveLength(6);
  expect(await membersOf('approver')).toHaveLength(4_999);
});
