import type { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { agentId, type UserId } from '../../src/domain/change.ts';
import { cachedAccounts, whyForeign } from '../../src/slack/accounts.ts';
import { createActors } from '../../src/slack/actors.ts';
import { policyOf } from '../domain/policy-fixtures.ts';

const ANA = 'UANA' as UserId;
const WHOLE = {
  ...{ id: ANA, team_id: 'T0US', deleted: false, is_bot: false },
  ...{ is_restricted: false, is_ultra_restricted: false },
};

/** Slack as far as it is asked who somebody is. */
function actors(user: object | null, members: readonly string[] = [ANA]) {
  const lookups = {
    users: { info: async () => ({ ok: true, ...(user ? { user } : {}) }) },
    usergroups: listing(members),
  };
  return actorsBy(lookups);
}

function listing(users: readonly string[]) {
  return { list: async () => ({ ok: true, usergroups: [{ id: 'S0LEADS', users }] }) };
}

interface Given {
  readonly workspaces?: readonly string[];
  readonly timeoutMs?: number | undefined;
  readonly onUnknown?: (user: string) => void;
}

function actorsBy(
  lookups: object,
  { timeoutMs = 60_000, onUnknown = () => undefined, workspaces }: Given = {},
) {
  // Only the two calls above are made; a third would fail the test, as it should.
  const client = lookups as unknown as WebClient;
  const home = { teamId: 'T0US', enterpriseId: 'E0US', workspaces: workspaces ?? null };
  const now = () => new Date('2026-11-20T12:00:00.000Z');
  // Time passes between two looks, as on a real clock.
  let ms = 0;
  const passing = () => {
    ms += 0.01;
    return ms;
  };
  const clock = { ...systemClock, now: passing, timeout: () => AbortSignal.timeout(timeoutMs) };
  const around = { lookups: client, home, now, clock };
  return createActors({
    ...around,
    policy: {
      ...policyOf([{ allow: ['service stop'], to: 'approver' }]),
      agents: new Map([['ci', ['operator']]]),
    },
    groups: new Map([['approver', [{ id: 'S0LEADS', handle: 'db-leads', team: 'T0US' }]]]),
    accounts: cachedAccounts({ ...around, onUnknown }),
    warn: () => undefined,
    onAnswer: () => undefined,
  });
}

const SISTER = { team_id: 'T0SISTER', enterprise_user: { enterprise_id: 'E0US' } };

test.for([
  ['of the workspace', WHOLE, [ANA], ['approver']],
  ['of the same enterprise', { ...WHOLE, ...SISTER }, [ANA], ['approver']],
  ['in no group', WHOLE, ['UBEN'], []],
] as const)('a full member %s is known with the roles of the groups', async (row) => {
  const [, user, members, roles] = row;
  const identity = await actors(user, members).identify(ANA, { fresh: true });
  expect(identity).toMatchObject({ ok: true, actor: { id: ANA, roles } });
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
  ['is not said to be no bot', { ...WHOLE, is_bot: undefined }, 'lookup-failed'],
  ['is not said to be no guest', { ...WHOLE, is_restricted: undefined }, 'lookup-failed'],
  ['is not said to be active', { ...WHOLE, deleted: undefined }, 'lookup-failed'],
  ['has flags of another type', { ...WHOLE, deleted: null, is_bot: 'false' }, 'lookup-failed'],
  ['has no workspace', { ...WHOLE, team_id: null }, 'lookup-failed'],
  ['is missing from the answer', null, 'lookup-failed'],
] as const)('a user who %s has no permission', async ([, user, refusal]) => {
  expect(await actors(user).identify(ANA, { fresh: true })).toEqual({ ok: false, refusal });
});

test.for([
  ['an incomplete answer', { ok: true, user: { id: 'UODD' } }],
  ['an answer without a user', { ok: true }],
  ['no answer', null],
] as const)('%s about one member leaves the others of the role', async ([, answer]) => {
  const info = async ({ user }: { user: string }) => {
    if (user !== 'UODD') return { ok: true, user: { ...WHOLE, id: user } };
    if (!answer) throw new Error('ECONNRESET');
    return answer;
  };
  const { someOf } = actorsBy({ users: { info }, usergroups: listing(['UODD', ANA]) });
  expect(await someOf('approver', 2)).toEqual([ANA]);
});

test.for(['user_not_found', 'user_not_visible'])(
  'a user for whom Slack answers %s is no member, and is named once',
  async (error) => {
    const refusal = Object.assign(new Error(error), {
      code: 'slack_webapi_platform_error',
      data: { ok: false, error },
    });
    const lookups = {
      users: { info: () => Promise.reject(refusal) },
      usergroups: listing(['', 'UHIDDEN']),
    };
    const named: string[] = [];
    const { someOf, identify } = actorsBy(lookups, { onUnknown: (user) => named.push(user) });
    expect(await someOf('approver', 3)).toEqual([]);
    const identity = await identify('UHIDDEN' as UserId, { fresh: true });
    expect(identity).toEqual({ ok: false, refusal: 'other-workspace' });
    expect(named).toEqual(['UHIDDEN']);
  },
);

/** A role of 5,000 users of whom the second is deactivated, and the users who were looked up. */
function largeRole(info?: (user: string) => Promise<object>, timeoutMs?: number) {
  const asked: string[] = [];
  const found = async (user: string) => ({
    ok: true,
    user: { ...WHOLE, id: user, deleted: user === 'U1' },
  });
  const lookups = {
    users: {
      info: ({ user }: { user: string }) => {
        asked.push(user);
        return (info ?? found)(user);
      },
    },
    usergroups: listing(Array.from({ length: 5_000 }, (_, n) => `U${n}`)),
  };
  return { ...actorsBy(lookups, { timeoutMs }), asked };
}

test('of a large group only as many are asked for as are needed', async () => {
  const { someOf, asked } = largeRole();
  expect(await someOf('approver', 3)).toEqual(['U0', 'U2', 'U3', 'U4', 'U5']);
  expect(asked).toHaveLength(6);
});

test('an agent has the roles of the file and no time zone, and Slack is not asked', async () => {
  const { identify, zoneOf } = actors(null);
  const how = { fresh: true };
  const roles = ['operator'];
  expect(await identify(agentId('ci'), how)).toMatchObject({ ok: true, actor: { roles } });
  const refusal = 'agent-not-admitted';
  expect(await identify(agentId('gone'), how)).toEqual({ ok: false, refusal });
  expect(await zoneOf(agentId('ci'))).toBe('UTC');
});

test.for([
  ['America/Los_Angeles', 'America/Los_Angeles'],
  // Intl knows it, and no local time can be found in it.
  ['PST', null],
])('the zone %s of an account is %s', async ([tz, zone]) => {
  expect(await actors({ ...WHOLE, tz }).zoneOf(ANA)).toBe(zone);
});

test('to name users, at most six are looked up, and the cache comes first', async () => {
  const { someMembers, identify, asked } = largeRole();
  await identify('U9' as UserId, { fresh: true });
  const users = ['U0', 'U2', 'U3', 'U4', 'U9'];
  expect(await someMembers('approver')).toEqual({ users, more: true });
  expect(asked).toEqual(['U9', 'U0', 'U1', 'U2', 'U3', 'U4']);
  expect((await someMembers('approver'))?.users).toContain('U5');
  expect(asked).toHaveLength(7);
});

test('lookups for names have a request budget of their own', async () => {
  const { someMembers, identify, asked } = largeRole(async (user) => ({
    ok: true,
    user: { ...WHOLE, id: user, is_restricted: true },
  }));
  for (let n = 0; n < 10; n += 1) await someMembers('approver');
  expect(asked).toHaveLength(12);
  await identify('U99' as UserId, { fresh: true });
  expect(asked).toHaveLength(13);
});

test('names are left out when Slack does not answer or refuses', async () => {
  const silent = largeRole(() => new Promise(() => undefined), 20);
  expect(await silent.someMembers('approver')).toEqual({ users: [], more: true });
  const refusing = largeRole(() => Promise.reject(new Error('no answer')));
  expect(await refusing.someMembers('approver')).toEqual({ users: [], more: true });
});

test.for([
  ['no groups', { usergroups: undefined }],
  ['a group without members', { usergroups: [{ id: 'S0LEADS' }] }],
] as const)('an answer with %s is a failed lookup', async ([, answer]) => {
  const lookups = {
    users: { info: async () => ({ ok: true, user: WHOLE }) },
    usergroups: { list: async () => ({ ok: true, ...answer }) },
  };
  const identity = await actorsBy(lookups).identify(ANA, { fresh: true });
  expect(identity).toEqual({ ok: false, refusal: 'lookup-failed' });
});

const SECOND = 'W0ANA' as UserId;
const DOUBLE = {
  ...WHOLE,
  enterprise_user: { id: SECOND, enterprise_id: 'E0US', teams: ['T0US'] },
};
const info = async () => ({ ok: true, user: DOUBLE });

test('of two ids of a person one is known: that of the workspace, or in an organization its own', async () => {
  const lookups = { users: { info }, usergroups: listing([ANA, SECOND]) };
  const one = actorsBy(lookups);
  expect(await Promise.all([ANA, SECOND].map(one.idOf))).toEqual([ANA, ANA]);
  const all = actorsBy(lookups, { workspaces: ['T0US'] });
  expect(await Promise.all([ANA, SECOND].map(all.idOf))).toEqual([SECOND, SECOND]);
  for (const user of [ANA, SECOND]) {
    const identity = await one.identify(user, { fresh: true });
    expect(identity).toMatchObject({ ok: true, actor: { id: ANA, roles: ['approver'] } });
  }
});

test('in one workspace a person stays known by the id of it, whatever letter the other one has', async () => {
  const enterprise_user = { id: 'U0ALL', enterprise_id: 'E0US' };
  const { identify } = actors({ ...WHOLE, enterprise_user });
  expect(await identify(ANA, { fresh: true })).toMatchObject({ actor: { id: ANA } });
});

test('a person who is in a group by both ids is named once', async () => {
  const { someMembers } = actorsBy({ users: { info }, usergroups: listing([ANA, SECOND]) });
  expect(await someMembers('approver')).toEqual({ users: [ANA], more: false });
});

test.for([
  ['does not answer in time', () => new Promise(() => undefined)],
  ['refuses', () => Promise.reject(new Error('internal_error'))],
] as const)('where Slack %s, a person keeps the given id', async ([, read]) => {
  const lookups = { users: { info: read }, usergroups: listing([]) };
  expect(await actorsBy(lookups, { timeoutMs: 20 }).idOf(SECOND)).toBe(SECOND);
});

const ONE = { teamId: 'T0US', enterpriseId: null, workspaces: null };
const ON_GRID = { ...ONE, enterpriseId: 'E0US' };
const ORGANIZATION = { teamId: 'E0US', enterpriseId: 'E0US', workspaces: ['T0US', 'T0SISTER'] };

test.for([
  [ONE, ['T0US'], undefined, null],
  [ONE, ['T0THEM'], undefined, 'other-workspace'],
  [ONE, [undefined], undefined, 'unknown'],
  [ON_GRID, ['T0US'], undefined, null],
  [ON_GRID, ['T0SISTER'], 'E0US', null],
  [ON_GRID, ['E0US'], undefined, null],
  [ON_GRID, ['T0SISTER'], undefined, 'unknown'],
  [ON_GRID, ['T0THEM'], 'E0THEM', 'other-workspace'],
  [ORGANIZATION, ['T0SISTER'], undefined, null],
  [ORGANIZATION, ['T0THIRD', 'T0SISTER'], 'E0US', null],
  [ORGANIZATION, ['T0THIRD'], 'E0US', 'unlisted-workspace'],
  [ORGANIZATION, ['T0THIRD'], undefined, 'unknown'],
  [ORGANIZATION, [null], 'E0US', 'unknown'],
  [ORGANIZATION, ['E0US'], 'E0US', 'unknown'],
  [ORGANIZATION, ['T0THEM'], 'E0THEM', 'other-workspace'],
] as const)('of %j a payload that names %j and %s is %s', ([home, teams, enterprise, why]) => {
  expect(whyForeign(home, { teams, enterprise })).toBe(why);
});
