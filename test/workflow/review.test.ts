import { expect, test } from 'vitest';
import type { Change, ChangeId, UserId, Verb } from '../../src/domain/change.ts';
import { listEvents } from '../../src/log/old/append.ts';
import { lockHolder, lockTarget } from '../../src/log/old/permits.ts';
import { claimDueMessages, enqueue } from '../../src/storage/old/outbox.ts';
import { refusalOfVerb } from '../../src/workflow/old/review.ts';
import {
  aChange,
  ana,
  ben,
  cleo,
  minutes,
  NOON,
  STAGING,
  user,
} from '../storage/example-change.ts';
import { clickable, DRAFT, PENDING, REQUIRES } from './clickable.ts';
import { storedChange } from './stored-change.ts';

const dora = user('UDORA');
const UNKNOWN: Partial<Change> = {
  state: 'unknown',
  requires: REQUIRES,
  outcome: {
    how: 'unknown',
    at: NOON,
    tookMs: 9,
    requestId: null,
    status: null,
    text: 'No answer.',
  },
};
const BROKEN_GLASS: Partial<Change> = {
  state: 'succeeded',
  outcome: { how: 'succeeded', at: NOON, tookMs: 9, requestId: null, reported: [] },
  requires: { ...REQUIRES, breakGlass: 'operator' },
  breakGlass: { by: ana, at: NOON, reason: 'outage' },
  approvals: [],
};
const GROUPS = [
  { id: 'S1', size: 3 },
  { id: 'S2', size: 2 },
];

test.for<[Verb, Partial<Change>, UserId, string, string, string]>([
  ['confirm', DRAFT, ana, '', 'confirmed', 'pending'],
  ['approve', PENDING, ben, '', 'approved', 'approved'],
  ['reject', PENDING, ben, 'not today', 'rejected', 'rejected'],
  ['cancel', PENDING, ana, '', 'cancelled', 'cancelled'],
  [
    'break-glass',
    { ...PENDING, requires: { ...REQUIRES, breakGlass: 'operator' } },
    ana,
    'outage',
    'glass-broken',
    'approved',
  ],
  ['review', BROKEN_GLASS, ben, 'correct', 'reviewed', 'succeeded'],
  ['happened', UNKNOWN, ben, 'it runs', 'resolved', 'succeeded'],
  ['did-not-happen', UNKNOWN, ben, 'it stands', 'resolved', 'failed'],
  ['snooze', PENDING, ben, '', 'snoozed', 'pending'],
  ['snooze', UNKNOWN, ben, '', 'snoozed', 'unknown'],
])('a click on %s records its event and marks the click as handled', async (row) => {
  const [verb, over, by, text, kind, state] = row;
  const { press, current, events, isHandled, asked } = await clickable({ change: over });
  const outcome = await press(verb, by, text);
  expect(outcome).toMatchObject({ ok: true, verb, change: { state } });
  const changed = await current();
  expect(changed).toMatchObject({ state, version: 2 });
  expect(outcome.ok && outcome.change.version).toBe(2);
  const event = (await events()).at(-1);
  expect(event).toMatchObject({ kind, to: state, body: { by, groups: GROUPS } });
  expect(event?.body.said).toBe(text === '' ? undefined : text);
  expect(await isHandled()).toBe(true);
  // A requester who was removed from all groups may still cancel, while Slack is slow.
  expect(asked).toEqual([[by, verb !== 'cancel']]);
});

test('the text of a click becomes the reason, the note or the answer of its user', async () => {
  const rejected = await clickable({ change: PENDING });
  await rejected.press('reject', ben, 'not today');
  expect((await rejected.current())?.rejection).toMatchObject({ by: ben, reason: 'not today' });
  const reviewed = await clickable({ change: BROKEN_GLASS });
  await reviewed.press('review', ben, 'correct');
  expect((await reviewed.current())?.review).toMatchObject({ by: ben, note: 'correct' });
  for (const [verb, happened] of [
    ['happened', true],
    ['did-not-happen', false],
  ] as const) {
    const resolved = await clickable({ change: UNKNOWN });
    await resolved.press(verb, ben, 'checked');
    const resolution = { by: ben, happened, note: 'checked' };
    expect((await resolved.current())?.resolution).toMatchObject(resolution);
  }
});

test('only the answer to an unknown outcome unlocks the target', async () => {
  for (const [verb, over, holds] of [
    ['happened', UNKNOWN, false],
    ['review', BROKEN_GLASS, true],
    ['snooze', UNKNOWN, true],
  ] as const) {
    const { context, change, press } = await clickable({ change: over });
    await context.database.transaction((tx) => lockTarget(tx, STAGING, change.id, NOON));
    await press(verb, ben, 'checked');
    const holder = await lockHolder(context.database.db, STAGING);
    expect(holder).toBe(holds ? change.id : null);
  }
});

test('a click on a change that does not exist is refused, recorded and handled', async () => {
  const { context, press, isHandled, asked } = await clickable({ change: PENDING });
  const outcome = await press('approve', ben, '', 'NOSUCH' as ChangeId);
  expect(outcome).toMatchObject({
    ok: false,
    verb: 'approve',
    denial: { refusal: 'not-found', change: null, role: null },
  });
  expect(asked).toEqual([]);
  expect(await isHandled()).toBe(true);
  const [, event] = await listEvents(context.database.db, { afterSeq: 0, limit: 9 });
  expect(event).toMatchObject({ kind: 'refused', changeId: null });
  expect(event?.body).toMatchObject({ by: ben, tried: 'approve', refusal: 'not-found' });
});

test.for<[string, Partial<Change>, Verb, UserId, string]>([
  ['of the requester', PENDING, 'approve', ana, 'self-approval'],
  ['on an ended change', { ...PENDING, state: 'rejected' }, 'approve', ben, 'already-decided'],
  ['on an expired change', { ...PENDING, expiresAt: NOON }, 'approve', ben, 'expired'],
  [
    'of a user who has approved',
    { ...PENDING, approvals: [{ by: ben, at: NOON }] },
    'approve',
    ben,
    'already-approved',
  ],
  ['without the required text', PENDING, 'reject', ben, 'reason-required'],
  ['without break-glass in the rule', PENDING, 'break-glass', ana, 'no-break-glass'],
])('a click %s is refused without a lookup in Slack', async ([, over, verb, by, refusal]) => {
  const { press, current, events, isHandled, asked } = await clickable({ change: over });
  expect(await press(verb, by)).toMatchObject({ ok: false, verb, denial: { refusal } });
  expect(asked).toEqual([]);
  expect((await current())?.version).toBe(1);
  const event = (await events()).at(-1);
  expect(event).toMatchObject({ kind: 'refused', body: { by, tried: verb, refusal } });
  expect(event?.body).not.toHaveProperty('roles');
  expect(await isHandled()).toBe(true);
});

test('a click is refused while Slack does not answer the lookup, and its reason is recorded', async () => {
  const circumstances = { change: PENDING, users: { [ben]: 'lookup-failed' } } as const;
  const { press, current, events } = await clickable(circumstances);
  expect(await press('approve', ben)).toMatchObject({ denial: { refusal: 'lookup-failed' } });
  expect((await current())?.state).toBe('pending');
  expect((await events()).at(-1)?.body).toMatchObject({ refusal: 'lookup-failed' });
});

test('a refusal for a missing role records the roles, and names who could approve instead', async () => {
  const { press, events } = await clickable({ change: PENDING, users: { [dora]: ['operator'] } });
  expect(await press('approve', dora)).toMatchObject({
    ok: false,
    denial: { refusal: 'not-an-approver', role: 'approver', who: { users: ['Uapprover'] } },
  });
  expect((await events()).at(-1)?.body).toMatchObject({ roles: ['operator'], groups: GROUPS });
});

// Each user has only the role that the case is about.
test.for<[string, Partial<Change>, Verb, UserId, string]>([
  ['the role that approves', PENDING, 'approve', ben, 'approver'],
  [
    'the role of the escalation',
    {
      ...PENDING,
      confirmedAt: minutes(-10),
      requires: { ...REQUIRES, escalation: { to: 'oncall', afterMs: 600_000 } },
    },
    'approve',
    ben,
    'oncall',
  ],
  [
    'the role of break-glass',
    { ...PENDING, requires: { ...REQUIRES, breakGlass: 'oncall' } },
    'break-glass',
    ana,
    'oncall',
  ],
  [
    'the role of requesters, where no role approves',
    { ...UNKNOWN, requires: { ...REQUIRES, from: null, count: 0 } },
    'happened',
    ana,
    'operator',
  ],
  [
    'the role of the current rule, where that of the request was renamed',
    { ...UNKNOWN, requires: { ...REQUIRES, from: 'dbas' } },
    'happened',
    ben,
    'approver',
  ],
])('a click is accepted from %s', async ([, over, verb, by, role]) => {
  const { press } = await clickable({ change: over, users: { [by]: [role] } });
  expect(await press(verb, by, 'checked')).toMatchObject({ ok: true });
});

test('a change that was decided during the lookup is not decided a second time', async () => {
  const { context, change, press, events } = await clickable({ change: PENDING });
  const { identify } = context.people;
  context.people.identify = async (id, how) => {
    await context.database.transaction((tx) =>
      tx.updateTable('change').set({ state: 'rejected' }).where('id', '=', change.id).execute(),
    );
    return identify(id, how);
  };
  const outcome = await press('approve', ben);
  expect(outcome).toMatchObject({
    ok: false,
    denial: { refusal: 'already-decided', change: { state: 'rejected' } },
  });
  expect((await events()).at(-1)?.body).toMatchObject({ roles: ['approver'], groups: GROUPS });
});

test('each verb has the refusal that its press would get', async () => {
  const { context, change } = await storedChange({ change: PENDING });
  const now = (by: UserId, ...roles: string[]) =>
    ({ by, identity: { ok: true, actor: { id: by, roles } } }) as const;
  const [anaNow, benNow, doraNow] = [now(ana, 'operator'), now(ben, 'approver'), now(dora)];
  expect(refusalOfVerb(context, 'approve', change, benNow)).toBeNull();
  expect(refusalOfVerb(context, 'reject', change, benNow)).toBeNull();
  expect(refusalOfVerb(context, 'approve', change, doraNow)).toBe('not-an-approver');
  expect(refusalOfVerb(context, 'cancel', change, anaNow)).toBeNull();
  expect(refusalOfVerb(context, 'cancel', change, benNow)).toBe('not-requester');
  const unknown = aChange(UNKNOWN);
  expect(refusalOfVerb(context, 'happened', unknown, benNow)).toBeNull();
  expect(refusalOfVerb(context, 'did-not-happen', unknown, doraNow)).toBe('not-an-approver');
});

test('the first of two approvals leaves the change pending', async () => {
  const { press, current } = await clickable({
    change: { ...PENDING, requires: { ...REQUIRES, count: 2 } },
  });
  await press('approve', cleo);
  expect(await current()).toMatchObject({ state: 'pending', approvals: [{ by: cleo }] });
});

test('a snooze delays the waiting reminders of its change for an hour', async () => {
  const { context, change, press } = await clickable({ change: PENDING });
  const reminder = { kind: 'reminder', reminder: 'waiting' } as const;
  const [own, other] = [change.id, 'NOSUCH' as ChangeId];
  await context.database.transaction(async (tx) => {
    await enqueue(tx, { changeId: own, ...reminder, number: 1, at: minutes(15) });
    await enqueue(tx, { changeId: own, ...reminder, number: 2, at: minutes(90) });
    await enqueue(tx, { changeId: own, kind: 'audit', at: minutes(15) });
    await enqueue(tx, { changeId: other, ...reminder, number: 1, at: minutes(15) });
  });
  await press('snooze', ben);
  const dueAt = async (minute: number) => {
    const batch = { owner: 'tests', now: minutes(minute), leaseMs: 9_999_999, limit: 50 };
    const due = await context.database.transaction((tx) => claimDueMessages(tx, batch));
    return due.map(({ kind, changeId }) => `${kind} ${changeId === own ? 'own' : 'other'}`);
  };
  expect(await dueAt(59)).toEqual(['audit own', 'remind:waiting:1 other', 'card own']);
  expect(await dueAt(60)).toEqual(['remind:waiting:1 own']);
  expect(await dueAt(89)).toEqual([]);
  expect(await dueAt(90)).toEqual(['remind:waiting:2 own']);
});

const OWN_APPROVER: Partial<Change> = { ...PENDING, requires: { ...REQUIRES, self: true } };

test.for<[string, Partial<Change>, UserId, readonly string[], string | null]>([
  ['an approver', PENDING, ben, ['approver'], null],
  ['a user who is no approver', PENDING, dora, ['operator'], 'not-an-approver'],
  ['the requester with the role of an approver', PENDING, ana, ['approver'], 'not-an-approver'],
  ['a requester who may approve', OWN_APPROVER, ana, ['approver'], null],
  [
    'an approver, after the decision',
    { ...PENDING, state: 'approved' },
    ben,
    ['approver'],
    'already-decided',
  ],
  ['an approver, after the expiry', { ...PENDING, expiresAt: NOON }, ben, ['approver'], 'expired'],
  ['a user who may resolve it', UNKNOWN, ben, ['approver'], null],
  ['a user who may not resolve it', UNKNOWN, ana, ['operator'], 'not-an-approver'],
])('%s can snooze reminders, or is refused', async ([, over, id, roles, refusal]) => {
  const { context, change } = await clickable({ change: over });
  const asking = { by: id, identity: { ok: true, actor: { id, roles } } } as const;
  expect(refusalOfVerb(context, 'snooze', change, asking)).toBe(refusal);
});
