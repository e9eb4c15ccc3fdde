import timers from 'node:timers/promises';
import { expect, test } from 'vitest';
import { commands } from '../../src/commands/index.ts';
import type {
  Change,
  ChangeId,
  ChannelId,
  RoleName,
  UserId,
  Verb,
} from '../../src/domain/change.ts';
import { createDenial } from '../../src/domain/gate.ts';
import { evolvePress } from '../../src/domain/log-events.ts';
import type { Place } from '../../src/domain/place.ts';
import type { PressOutcome, ReplyTo, WorkflowContext } from '../../src/workflow/context.ts';
import { formProblem, isHandled, pressKind, receivePress } from '../../src/workflow/press.ts';
import { watchLog } from '../../src/workflow/witness.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { replaceExport } from '../harness/replace-export.ts';
import { tamper } from '../log/logs.ts';
import {
  aChange,
  ana,
  ben,
  channel,
  cleo,
  createTestContext,
  dora,
  type Example,
  eventsOf,
  loaded,
  minutes,
  moved,
  NOON,
  newId,
  notices,
  RULE,
  recorded,
  user,
} from './context.ts';
import { endJobs, jobsFor, runDue } from './due.ts';

const CARD = { type: 'card-posted', channel: channel('CAPPROVALS'), ts: '1.0' } as const;
const ONE = { count: 1 };
/** The rule as these changes were requested under it. */
const OF_ONE = policyOf([{ ...RULE, approvals: { from: 'approver', count: 1 } }]);
const PENDING: Example = { requires: ONE };
const DRAFT: Example = { ...PENDING, state: 'draft' };
const UNKNOWN: Example = { ...PENDING, state: 'unknown' };

/** A change that was made with break-glass, and was sent. */
async function brokenGlass(context: Parameters<typeof aChange>[0]): Promise<Change> {
  const { id } = await aChange(context, { requires: { ...ONE, breakGlass: 'operator' } });
  await moved(context, id, { type: 'break-glass', by: ana, reason: 'outage' });
  return moved(context, id, { type: 'denied', why: 'frozen' });
}

interface Pressing {
  readonly change?: Change;
  readonly text?: string;
  readonly key?: string;
  readonly place?: Place;
  /** What an approver filled in to approve less. */
  readonly given?: Readonly<Record<string, string>>;
  /** The mark of the card on which it was pressed. */
  readonly seen?: { readonly version: number; readonly hash: string };
  readonly home?: boolean;
}

/** A change, and the handling of presses on it. */
async function pressable(
  example: Example | typeof brokenGlass = PENDING,
  options: Parameters<typeof createTestContext>[0] = {},
) {
  const all = await createTestContext({ policy: OF_ONE, ...options });
  const asked: unknown[] = [];
  const { identify } = all.context.people;
  const context: typeof all.context = {
    ...all.context,
    people: {
      ...all.context.people,
      identify: (id, how) => {
        // What a card shows of its requester is not looked up for a press.
        if (how.since) asked.push([id, how.fresh]);
        return identify(id, how);
      },
      someMembers: async (role) => ({ users: [user(`U${role}`)], more: false }),
    },
  };
  const change = await (typeof example === 'function'
    ? example(context)
    : aChange(context, example));
  const kinds = { press: pressKind(context) };
  const handle = () => runDue(context, kinds);
  const receive = (
    verb: Verb,
    by: UserId,
    { change: about = change, text = '', key = 'k1', ...over }: Pressing = {},
  ) => {
    const { place = placeOf(about), seen = null, given, home = false } = over;
    const pressed = { key, verb, change: about.id, by, text, place, seen, ...(given && { given }) };
    return receivePress(context, { ...pressed, replyTo: { ...replyTo(by), home } });
  };
  /** Returns the outcome that the user reads. */
  const answers = () => all.shown.filter(({ name }) => name === 'answerPress');
  const press = async (verb: Verb, by: UserId, over: Pressing = {}): Promise<PressOutcome> => {
    const before = answers().length;
    expect(await receive(verb, by, over)).toBe('ok');
    await handle();
    // The answer waits for the card.
    if (verb === 'confirm') await moved(context, change.id, CARD);
    await expect.poll(() => answers().length).toBe(before + 1);
    return answers().at(-1)?.given[1] as PressOutcome;
  };
  /** The events of this press. */
  const pressed = (key = 'k1', { id } = change) => eventsOf(context, `press/${id}/${key}`);
  const current = () => loaded(context, change.id);
  return { ...all, context, change, asked, handle, receive, press, answers, pressed, current };
}

function placeOf({ card }: Change): Place {
  return card ? { kind: 'message', at: card, thread: null } : { kind: 'own' };
}

function replyTo(by: UserId): ReplyTo {
  const channel = 'C1' as ChannelId;
  const nowhere = { url: 'https://hooks.slack.com/1', channel, ts: null, thread: null };
  return { ...nowhere, user: by, replaces: false, home: false };
}

const MAY_BREAK: Example = { requires: { ...ONE, breakGlass: 'operator' } };

test.for<[Verb, Parameters<typeof pressable>[0], UserId, string, string, object]>([
  ['confirm', DRAFT, ana, '', 'pending', { type: 'confirmed' }],
  ['approve', PENDING, ben, '', 'approved', { type: 'approved' }],
  ['reject', PENDING, ben, 'today', 'rejected', { type: 'rejected', reason: 'today' }],
  ['cancel', PENDING, ana, '', 'cancelled', { type: 'cancelled' }],
  ['break-glass', MAY_BREAK, ana, 'down', 'approved', { type: 'break-glass', reason: 'down' }],
  ['review', brokenGlass, ben, 'right', 'denied', { type: 'reviewed', note: 'right' }],
  ['happened', UNKNOWN, ben, 'it runs', 'succeeded', { type: 'resolved', note: 'it runs' }],
  ['did-not-happen', UNKNOWN, ben, 'no', 'failed', { type: 'resolved', note: 'no' }],
])('a press on %s becomes the event of its change, once', async (row) => {
  const [verb, example, by, text, state, event] = row;
  const { context, change, press, handle, asked, answers, pressed } = await pressable(example);
  expect(await press(verb, by, { text })).toMatchObject({ ok: true, verb, change: { state } });
  const caused = async () =>
    (await eventsOf(context, `change/${change.id}`)).filter((each) => 'press' in each);
  const evidence = { groups: [{ size: 3 }] };
  const expected = [{ ...event, by, press: 'k1', configuration: 'c1', evidence }];
  expect(await caused()).toMatchObject(expected);
  expect(await pressed()).toMatchObject([
    { type: 'pressed', verb, by, text },
    { type: 'answered', what: verb, refusal: null },
  ]);
  expect(await isHandled(context, change.id, 'k1')).toBe(true);
  // A requester who was removed from all groups may still cancel, while Slack is slow.
  expect(asked).toEqual([[by, verb !== 'cancel']]);
  await handle();
  expect(await caused()).toHaveLength(1);
  expect(answers()).toHaveLength(1);
});

test('a stop of 15 minutes later, an approval does not count and a rejection does', async () => {
  const { context, receive, handle, pass, pressed, current } = await pressable();
  await receive('approve', ben);
  pass(15 * 60_000);
  await handle();
  expect((await pressed()).at(-1)).toMatchObject({ refusal: 'not-in-time' });
  expect((await current()).state).toBe('pending');
  await receive('reject', ben, { key: 'k2', text: 'today' });
  pass(16 * 60_000);
  await handle();
  expect((await current()).state).toBe('rejected');
  await receive('approve', cleo, { key: 'k3' });
  pass(60_000);
  await handle();
  // Each reads the end of a late press, with the reason of a refusal.
  const ends = (await notices(context)).map(({ to, line = [] }) => [to, ...line].join(''));
  expect(ends.sort()).toEqual([ben, `${ben} not-in-time`, `${cleo} already-decided`]);
});

test('a press on a change that does not exist is refused and answered', async () => {
  const { change, press, asked, pressed } = await pressable();
  const id: ChangeId = newId();
  const outcome = await press('approve', ben, { change: { ...change, id } });
  expect(outcome).toMatchObject({
    ok: false,
    verb: 'approve',
    denial: { refusal: 'not-found', change: null, role: null },
  });
  expect(asked).toEqual([]);
  expect((await pressed('k1', { ...change, id })).at(-1)).toMatchObject({ refusal: 'not-found' });
});

test.for<[string, Example, Verb, UserId, string]>([
  ['of the requester', PENDING, 'approve', ana, 'self-approval'],
  ['on an ended change', { state: 'rejected' }, 'approve', ben, 'already-decided'],
  ['on an expired change', { requires: { expiresAfterMs: 0 } }, 'approve', ben, 'expired'],
  ['without the required text', PENDING, 'reject', ben, 'reason-required'],
  ['without break-glass in the rule', PENDING, 'break-glass', ana, 'no-break-glass'],
])('a press %s is refused without a lookup in Slack', async ([, example, verb, by, refusal]) => {
  const { change, press, asked, pressed, current } = await pressable(example);
  expect(await press(verb, by)).toMatchObject({ ok: false, verb, denial: { refusal } });
  expect(asked).toEqual([]);
  expect(await current()).toEqual(change);
  const [, answered] = await pressed();
  expect(answered).toMatchObject({ type: 'answered', what: verb, refusal });
});

test('nobody approves twice', async () => {
  const { press } = await pressable({});
  expect(await press('approve', ben)).toMatchObject({ ok: true, change: { state: 'pending' } });
  const again = await press('approve', ben, { key: 'k2' });
  expect(again).toMatchObject({ ok: false, denial: { refusal: 'already-approved' } });
  const last = await press('approve', cleo, { key: 'k3' });
  expect(last).toMatchObject({ ok: true, change: { state: 'approved' } });
});

test('a press waits while Slack does not answer the lookup, and is refused after 15 minutes', async () => {
  const { roles, receive, handle, pass, answers, pressed, current } = await pressable();
  roles.set(ben, 'lookup-failed');
  await receive('approve', ben);
  await handle();
  expect(await pressed()).toHaveLength(1);
  pass(5_000);
  roles.set(ben, ['approver']);
  await handle();
  expect((await current()).state).toBe('approved');

  const late = await pressable();
  late.roles.set(ben, 'lookup-failed');
  await late.receive('approve', ben);
  late.pass(15 * 60_000);
  await late.handle();
  expect((await late.pressed()).at(-1)).toMatchObject({ refusal: 'lookup-failed' });
  expect((await late.current()).state).toBe('pending');
  expect(answers()).toHaveLength(1);
});

test('a refusal for a missing role records the roles, and names who could approve instead', async () => {
  const { press, pressed } = await pressable();
  expect(await press('approve', dora)).toMatchObject({
    ok: false,
    denial: { refusal: 'not-an-approver', role: 'approver', who: { users: ['Uapprover'] } },
  });
  const [, answered] = await pressed();
  expect(answered).toMatchObject({ evidence: { roles: ['viewer'], groups: [{ size: 3 }] } });
});

const ESCALATED: Example = { requires: { ...ONE, escalation: { to: 'oncall', afterMs: 0 } } };
const ON_CALL: Example = { requires: { ...ONE, breakGlass: 'oncall' } };
const BY_NOBODY: Example = { ...UNKNOWN, requires: { from: null, count: 0 } };
const RENAMED: Example = { ...UNKNOWN, requires: { ...ONE, from: 'dbas' } };

// Each user has only the role that the case is about.
test.for<[string, Example, Verb, UserId, RoleName]>([
  ['the role that approves', PENDING, 'approve', ben, 'approver'],
  ['the role of the escalation', ESCALATED, 'approve', ben, 'oncall'],
  ['the role of break-glass', ON_CALL, 'break-glass', ana, 'oncall'],
  ['the role of requesters, where no role approves', BY_NOBODY, 'happened', ana, 'operator'],
  [
    'the current rule, where the role of the request was renamed',
    RENAMED,
    'happened',
    ben,
    'approver',
  ],
])('a press is accepted from %s', async ([, example, verb, by, role]) => {
  const { press, roles } = await pressable(example);
  // A requester keeps the role that may request.
  roles.set(by, by === ana ? ['operator', role] : [role]);
  expect(await press(verb, by, { text: 'checked' })).toMatchObject({ ok: true });
});

test('a change that was decided during the lookup is not decided a second time', async () => {
  const { context, change, press, pressed } = await pressable();
  const { identify } = context.people;
  context.people.identify = async (id, how) => {
    await moved(context, change.id, { type: 'rejected', by: cleo, reason: 'no' });
    return identify(id, how);
  };
  expect(await press('approve', ben)).toMatchObject({
    ok: false,
    denial: { refusal: 'already-decided', change: { state: 'rejected' } },
  });
  const [, answered] = await pressed();
  expect(answered).toMatchObject({ evidence: { roles: ['approver'] } });
});

test('what another approver lowers during the planning is lowered further, not raised again', async () => {
  const { context, change, handle, receive, current } = await pressable({ requires: { count: 2 } });
  const { estimateCost } = context;
  const revert = { label: 'Start it again', line: 'service start staging', afterMs: 3_600_000 };
  const plan = { ...change.plan, timing: { startAt: null, revert } };
  const less = { type: 'narrowed', by: cleo, plan, digest: 'd2', wider: change.digest } as const;
  let plans = 0;
  Object.assign(context, {
    commands: new Map([[change.command, commands.find(({ name }) => name === change.command)]]),
    estimateCost: async (...asked: Parameters<typeof estimateCost>) => {
      plans += 1;
      if (plans === 1) await moved(context, change.id, less);
      return estimateCost(...asked);
    },
  });
  const given = { at: '2026-11-20T12:20Z' };
  await receive('narrow', ben, { given });
  await handle();
  expect(await isHandled(context, change.id, 'k1')).toBe(false);
  await handle();
  const { timing } = (await current()).plan;
  const end = { ...revert, afterMs: 40 * 60_000 };
  expect([plans, timing]).toEqual([2, { startAt: '2026-11-20T12:20:00.000Z', revert: end }]);
});

test('a press that another process answers during the lookup is not answered again', async () => {
  const { context, change, receive, handle, pressed, current } = await pressable();
  const { identify } = context.people;
  const answer = { type: 'answered', what: 'approve', refusal: 'not-an-approver' } as const;
  context.people.identify = async (id, how) => {
    if (id === ben) await recorded(context, { stream: `press/${change.id}/k1`, event: answer });
    return identify(id, how);
  };
  await receive('approve', ben);
  await handle();
  expect(await pressed()).toHaveLength(2);
  expect((await current()).state).toBe('pending');
  expect((await current()).approvals).toEqual([]);
});

test.for([
  ['not yet', false],
  ['already', true],
] as const)(
  'what the database lost before the card showed it, and %s decided again, is not reported',
  async ([, isDecided]) => {
    let isGone = false;
    const redrawCard = async () => {
      if (isGone) return 'drawn' as const;
      const since = `select seq from event where type = 'rejected'`;
      await tamper(all.context.store, `delete from event where seq >= (${since})`);
      // The log goes on before the person is answered.
      await watchLog(all.context);
      isGone = true;
      if (isDecided) await all.handle();
      return 'drawn' as const;
    };
    const all = await pressable(PENDING, { messages: { redrawCard } });
    await all.receive('reject', ben, { text: 'not today' });
    await all.handle();
    await expect.poll(() => isGone).toBe(true);
    const other = await aChange(all.context, PENDING);
    await all.receive('approve', ben, { change: other, key: 'k2' });
    await all.handle();
    const told = () =>
      all.shown.flatMap(({ name, given }) =>
        name === 'answerPress' ? [given[1] as PressOutcome] : [],
      );
    await expect.poll(() => told().some(({ verb }) => verb === 'approve')).toBe(true);
    expect(told().filter(({ verb, ok }) => verb === 'reject' && ok)).toEqual([]);
  },
);

test('a press counts only from a message in which Signalbox put its button', async () => {
  // A process waits some seconds for the event of a place.
  replaceExport(timers, 'setTimeout', (async () => undefined) as typeof timers.setTimeout);
  const { context, change, receive, press, pass, handle, pressed, current, answers } =
    await pressable();
  const at = { channel: channel('COTHER'), ts: '9.9' };
  const elsewhere = { kind: 'message', at, thread: null } as const;
  await receive('approve', ben, { place: elsewhere });
  // Its event may come later than the press on it.
  await handle();
  expect(await isHandled(context, change.id, 'k1')).toBe(false);
  pass(30_000);
  await handle();
  expect((await pressed()).at(-1)).toMatchObject({ refusal: 'foreign-place' });
  await expect.poll(answers).toHaveLength(1);
  expect((await current()).state).toBe('pending');
  expect(await notices(context)).toMatchObject([{ to: null }]);

  await moved(context, change.id, { type: 'copy-posted', to: ben, ...at });
  const copied = await press('approve', ben, { key: 'k2', place: elsewhere });
  expect(copied).toMatchObject({ ok: true });
});

test('a button of unknown origin is refused at once', async () => {
  const { press } = await pressable();
  const place = { kind: 'unknown' } as const;
  const denial = { refusal: 'foreign-place' };
  expect(await press('approve', ben, { place })).toMatchObject({ denial });
});

test('a press on a card that shows a lost event ends the change', async () => {
  const { press, current } = await pressable();
  const outcome = await press('approve', ben, { seen: { version: 9, hash: 'lost' } });
  expect(outcome).toMatchObject({ denial: { refusal: 'restored' } });
  expect((await current()).state).toBe('stale');
});

test('a repeated delivery of a press that the database lost is stored again', async () => {
  const { context, receive } = await pressable();
  expect(await receive('approve', ben)).toBe('ok');
  const since = `select min(seq) from event where type = 'pressed'`;
  await tamper(context.store, `delete from event where seq >= (${since})`);
  expect(await receive('approve', ben)).toBe('ok');
});

test('a repeated delivery is the same press, and is not counted again', async () => {
  const { receive, pressed } = await pressable();
  expect(await receive('approve', ben)).toBe('ok');
  for (let n = 0; n < 40; n += 1) expect(await receive('approve', ben)).toBe('again');
  expect(await receive('approve', ben, { key: 'k2' })).toBe('ok');
  expect(await pressed()).toHaveLength(1);
});

test('a press above the limit is stored by nobody, and others are not limited', async () => {
  const { receive, change, context } = await pressable();
  const some: string[] = [];
  for (let n = 0; n < 33; n += 1) some.push(await receive('approve', ben, { key: `k${n}` }));
  expect(some.filter((each) => each === 'ok')).toHaveLength(30);
  expect(some.slice(-3)).toEqual(['limited', 'muted', 'muted']);
  expect(await eventsOf(context, `press/${change.id}/k31`)).toEqual([]);
  expect(await receive('approve', cleo, { key: 'other' })).toBe('ok');
});

test('the state of a change tells at once that a press comes too late', async () => {
  const { context, change } = await pressable({ state: 'cancelled' });
  const late = { verb: 'approve', by: ben, text: '' } as const;
  expect(await formProblem(context, { ...late, change: change.id })).toBe('cancelled');
  const open = await aChange(context);
  expect(await formProblem(context, { ...late, change: open.id })).toBeNull();
  const expired = await aChange(context, { requires: { expiresAfterMs: 0 } });
  expect(await formProblem(context, { ...late, change: expired.id })).toBe('expired');
});

test('after a restart, the answer goes to the channel of the message', async () => {
  const { context, change, handle, shown } = await pressable();
  const { card } = change;
  const press = { verb: 'approve', by: ben, text: '', place: { ...placeOf(change) }, seen: null };
  const event = { type: 'pressed', ...press } as const;
  await recorded(context, { stream: `press/${change.id}/k9`, event });
  await runDue(context, {});
  await pressKind(context).run({ key: `${change.id}/k9`, again: false, attempts: 1 });
  await handle();
  await expect.poll(() => shown.some(({ name }) => name === 'answerPress')).toBe(true);
  const [received] = shown.find(({ name }) => name === 'answerPress')?.given ?? [];
  expect(received).toMatchObject({ replyTo: { url: null, user: ben, channel: card?.channel } });
});

test('App Home is drawn again after a press on it', async () => {
  const { shown, press } = await pressable();
  await press('approve', ben, { place: { kind: 'own' }, home: true });
  const names = () => shown.map(({ name }) => name).filter((name) => /answer|Home/.test(name));
  await expect.poll(names).toEqual(['answerPress', 'showHome']);
});

test('an answer that Slack refuses leaves the press handled', async () => {
  const answerPress = () => Promise.reject(new Error('expired'));
  const { context, change, handle, receive, current } = await pressable(PENDING, {
    messages: { answerPress },
  });
  await receive('approve', ben);
  expect(await handle()).toBe(0);
  expect((await current()).state).toBe('approved');
  expect(await isHandled(context, change.id, 'k1')).toBe(true);
});

const EXPECTED = { ok: true, answer: { title: 'Expected', parts: [] } } as const;

/** The handling of presses on an anomaly, which get this outcome. */
async function pressableAnomaly(
  outcome: Awaited<ReturnType<WorkflowContext['incidents']['press']>> = EXPECTED,
) {
  const handled: unknown[] = [];
  const press = async (about: unknown) => {
    handled.push(about);
    return outcome;
  };
  const all = await pressable(PENDING, { incidents: { press, details: async () => outcome } });
  const receiveOn = (key: string, place: Place, post: string | null) => {
    const about = { key, verb: 'expected', change: '3f2a', by: ben, text: '', seen: null } as const;
    const pressed = { ...about, place: { ...place, post }, replyTo: replyTo(ben) };
    return receivePress(all.context, pressed);
  };
  const told = () => all.shown.filter(({ name }) => name === 'answerIncidentPress');
  return { ...all, handled, receiveOn, told };
}

test('a press on an anomaly is passed on and answered', async () => {
  const { receiveOn, handle, handled, told } = await pressableAnomaly();
  expect(await receiveOn('k1', { kind: 'own' }, null)).toBe('ok');
  expect(await receiveOn('k1', { kind: 'own' }, null)).toBe('again');
  await handle();
  expect(handled).toEqual([{ key: 'k1', verb: 'expected', by: ben, id: '3f2a' }]);
  expect(told()).toMatchObject([{ given: [{ key: 'k1', by: ben }, EXPECTED] }]);
});

test('a press on an anomaly waits for its lookups as well, for 15 minutes', async () => {
  const unanswered = { ok: false, denial: createDenial('lookup-failed') } as const;
  const { receiveOn, handle, pass, told } = await pressableAnomaly(unanswered);
  await receiveOn('k1', { kind: 'own' }, null);
  await handle();
  expect(told()).toEqual([]);
  pass(15 * 60_000);
  await handle();
  expect(told()).toHaveLength(1);
});

test('a press on an anomaly counts only on the post that the log has', async () => {
  const { context, receiveOn, handle, pass, handled } = await pressableAnomaly();
  const at = (ts: string) => {
    return { kind: 'message', at: { channel: channel('CCOSTS'), ts }, thread: null } as const;
  };
  const posted = { type: 'posted', ...at('1.0').at } as const;
  await recorded(context, { stream: 'post/incident-3f2a/opened', event: posted });
  await receiveOn('own', at('1.0'), 'post/incident-3f2a/opened');
  await receiveOn('copied', at('2.0'), 'post/incident-3f2a/opened');
  await receiveOn('nameless', at('1.0'), null);
  await receiveOn('of-another-stream', at('1.0'), 'change/7KQ2MX');
  await receiveOn('unsigned', { kind: 'unknown' }, null);
  await handle();
  pass(31_000);
  await handle();
  expect(handled).toMatchObject([{ key: 'own' }]);
  const refused = await context.events.loadAll('press/3f2a', evolvePress);
  const byKey = [...refused].map(([stream, { state }]) => [stream.split('/')[2], state?.refusal]);
  const foreign = ['copied', 'nameless', 'of-another-stream', 'unsigned'];
  const expected = foreign.map((key) => [key, 'foreign-place']);
  expect(Object.fromEntries(byKey)).toEqual({ own: null, ...Object.fromEntries(expected) });
  expect(await notices(context)).toHaveLength(foreign.length);
});

const LATER: Example = {
  ...PENDING,
  plan: { timing: { startAt: minutes(60).toISOString(), revert: null } },
};

test.for<[string, Example, string[]]>([
  ['last', PENDING, ['readThread']],
  ['first of two', { requires: { count: 2 } }, []],
  ['last of what runs later', LATER, []],
])('the %s approval begins the read before the claim with its lookups', async (row) => {
  const [, example, begun] = row;
  const { receive, handle, roles, shown } = await pressable(example);
  // They do not end here.
  roles.set(ben, 'lookup-failed');
  await receive('approve', ben);
  await handle();
  expect(shown.map(({ name }) => name).filter((name) => name === 'readThread')).toEqual(begun);
});

test.for<[string, Example, Verb, UserId, number]>([
  ['that stands follows the drawing of the answer', PENDING, 'approve', ben, 3_000],
  ['that does not stand yet is due at once', DRAFT, 'confirm', ana, 0],
])('after a press, the job of a card %s', async ([, example, verb, by, waitsMs]) => {
  const { context, change, receive, handle } = await pressable(example);
  await endJobs(context);
  await receive(verb, by);
  await handle();
  const due = (ms: number) => jobsFor(context, change.id, new Date(NOON.getTime() + ms));
  expect((await due(0)).includes('card')).toBe(waitsMs === 0);
  expect(await due(waitsMs)).toContain('card');
});
