import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import type { CurrentState } from '../../src/commands/index.ts';
import type { State } from '../../src/domain/change.ts';
import type { Policy } from '../../src/domain/policy.ts';
import { activateConfiguration } from '../../src/log/index.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { runKind } from '../../src/workflow/execute.ts';
import { beginThreadRead } from '../../src/workflow/witness.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  ben,
  cleo,
  type Example,
  minutes,
  moved,
  NOON,
  newId,
  PLAN,
  RULE,
  recorded,
  STAGING,
} from './context.ts';
import { runnable } from './runnable.ts';

const APPROVED: Example = { state: 'approved' };
const seconds = (count: number) => new Date(NOON.getTime() + count * 1_000);

type Given = NonNullable<Parameters<typeof runnable>[0]>;
type Runnable = Awaited<ReturnType<typeof runnable>>;

/** Runs a change once, which is not sent. Returns what the run says, and what became of the change. */
async function unsent(given: Given | Runnable) {
  const all = 'run' in given ? given : await runnable(given);
  const result = await all.run();
  expect(all.sent).toEqual([]);
  return { ...all, result, change: await all.current(), last: (await all.events()).at(-1) };
}

async function expectSent({ run, sent }: Runnable) {
  expect(await run()).toBe('done');
  expect(sent).toEqual([{ command: 'service stop', body: PLAN.body }]);
}

test('a claim is recorded with the groups that were read, and shown before the request', async () => {
  const order: string[] = [];
  const { run, events, current, thread } = await runnable({
    onNote: () => order.push('note'),
    command: {
      send: async () => {
        order.push(`request while ${(await current()).state}`);
        return { requestId: null, reported: [], learned: null };
      },
    },
  });
  expect(await run()).toBe('done');
  expect(order).toEqual(['note', 'request while executing']);
  const claimed = (await events()).find(({ type }) => type === 'claimed');
  expect(claimed).toMatchObject({
    ...{ type: 'claimed', by: 'tests', attempt: 1, until: minutes(2), configuration: 'c1' },
    evidence: { groups: [{ id: 'S-operator', size: 3 }, { id: 'S-approver' }] },
  });
  expect(thread.notes).toMatchObject([{ version: claimed?.version, hash: claimed?.hash }]);
  expect((await current()).state).toBe('succeeded');
});

const LATER = { timing: { startAt: seconds(1).toISOString(), revert: null } };

test.for<[string, Example, 'done' | Date]>([
  ['that is pending', {}, 'done'],
  ['that expires now', { ...APPROVED, requires: { expiresAfterMs: 0 } }, 'done'],
  ['that is scheduled for later', { ...APPROVED, plan: LATER }, seconds(1)],
  ['whose card is not posted yet', { ...APPROVED, hasCard: false }, seconds(1)],
])('a change %s is not executed', async ([, change, expected]) => {
  const all = await runnable({ change });
  const before = await all.events();
  expect((await unsent(all)).result).toEqual(expected);
  expect(await all.events()).toEqual(before);
});

test('a scheduled change is executed at its time', async () => {
  const all = await runnable({ change: { ...APPROVED, plan: LATER } });
  all.pass(1_000);
  await expectSent(all);
});

test('a change that does not exist is not executed', async () => {
  const { context, sent } = await runnable();
  const job = { key: newId(), again: false, attempts: 1 };
  expect(await runKind(context).run(job)).toBe('done');
  expect(sent).toEqual([]);
});

test('a change that was cancelled during the lookups is not executed', async () => {
  const all = await runnable({
    command: {
      compareBeforeSending: async () => {
        await moved(all.context, all.change.id, { type: 'cancelled', by: ana });
        return { kind: 'same' };
      },
    },
  });
  expect(await unsent(all)).toMatchObject({ result: 'done', change: { state: 'cancelled' } });
});

test('a replica with another configuration than the active one executes nothing', async () => {
  const all = await runnable({ users: { [ana]: 'guest' } });
  await activateConfiguration(all.context.events, { configuration: 'c2', release: '2.0.0' });
  const after = await unsent(all);
  expect(after.result).toBeInstanceOf(Date);
  expect(after.change.state).toBe('approved');
});

test('in a rolling update only the file that was loaded last executes', async () => {
  const all = await runnable();
  const newer = runKind({ ...all.context, configuration: 'c2', instance: 'newer' });
  const activate = (configuration: string) =>
    activateConfiguration(all.context.events, { configuration, release: '2.0.0' });
  await activate('c1');
  await activate('c2');
  expect((await unsent(all)).result).toBeInstanceOf(Date);
  // The older replica restarts, and then the newer one loads its file again.
  await activate('c1');
  const job = { key: all.change.id, again: false, attempts: 1 };
  expect(await newer.run(job)).toBeInstanceOf(Date);
  expect(all.sent).toEqual([]);
  await activate('c2');
  expect(await newer.run(job)).toBe('done');
  expect(all.sent).toHaveLength(1);
});

test('a change with a press that is not answered yet waits for it', async () => {
  const all = await runnable();
  const stream = `press/${all.change.id}/k1` as const;
  const press = { verb: 'cancel', by: ana, text: '', place: {}, seen: null };
  await recorded(all.context, { stream, event: { type: 'pressed', ...press } });
  expect((await unsent(all)).result).toEqual(seconds(1));
  const answer = { type: 'answered', what: 'cancel', refusal: 'lookup-failed' } as const;
  await recorded(all.context, { stream, event: answer });
  await expectSent(all);
});

/** A rule for services with this tag, which requires two approvals of operators. */
const strictFor = (tag: string) =>
  policyOf([{ ...RULE, on: { tags: [tag] }, approvals: { from: 'operator', count: 2 } }, RULE]);
const retagged = (tag: string, policy: Policy): Given => ({ context: { ...tagged(tag), policy } });
const tagged = (tag: string) => ({ services: () => [{ ...STAGING, tags: [tag] }] });

const beside = (state: State) => async (context: WorkflowContext) => {
  await aChange(context, { state });
  return aChange(context, APPROVED);
};

test.for<[string, Given]>([
  ['the lookup of its requester fails', { users: { [ana]: 'lookup-failed' } }],
  ['the lookup of an approver fails', { users: { [ben]: 'lookup-failed' } }],
  ['that fails with other tags', { context: tagged('prod'), users: { [ben]: 'lookup-failed' } }],
  ['another change of its target is being sent', { change: beside('executing') }],
  ['the outcome of another one is unknown', { change: beside('unknown') }],
])('nothing is decided while %s', async ([, given]) => {
  const { result, change } = await unsent(given);
  expect([result, change.state]).toEqual([seconds(10), 'approved']);
});

test('a failed lookup of an approver whom the rule does not need delays nothing', async () => {
  const one = { ...RULE, approvals: { from: 'approver', count: 1 } };
  const all = await runnable({
    context: { policy: policyOf([one]) },
    change: { requires: { count: 1 }, approvers: [ben, cleo], state: 'approved' },
    users: { [ben]: 'lookup-failed' },
  });
  await expectSent(all);
  const claimed = (await all.events()).find(({ type }) => type === 'claimed');
  expect(claimed?.evidence).toMatchObject({ groups: [{ id: 'S-operator' }, { id: 'S-approver' }] });
});

test('each lookup before a claim is a fresh one', async () => {
  const asked: unknown[] = [];
  const { context, run } = await runnable();
  const { identify } = context.people;
  context.people.identify = async (id, how) => {
    asked.push([id, how.fresh]);
    return identify(id, how);
  };
  await run();
  expect(asked).toEqual([ana, ben, cleo].map((id) => [id, true]));
});

test('a process that paused after gathering facts gathers them again before it runs the change', async () => {
  const look = { ms: 10_000 };
  const all = await runnable();
  const { identify } = all.context.people;
  all.context.people.identify = async (id, how) => {
    all.pass(look.ms);
    return identify(id, how);
  };
  // Three people, and with the last of them the first look is half a minute old.
  const { result, change } = await unsent(all);
  expect(result).toBeInstanceOf(Date);
  expect(change.state).toBe('approved');
  look.ms = 9_999;
  await expectSent(all);
});

test.for<[string, () => Error]>([
  ['gets no answer', () => apiError('unknown')],
  ['is not sent', () => apiError('not-sent')],
  ['meets an internal error', () => new TypeError('x is not a function')],
])('a change waits when the read of its target %s', async ([, error]) => {
  const failure = error();
  const { run, sent, current } = await runnable({
    command: { compareBeforeSending: () => Promise.reject(failure) },
  });
  await expect(run()).rejects.toBe(failure);
  expect(sent).toEqual([]);
  expect((await current()).state).toBe('approved');
});

function apiError(effect: ApiError['effect']): ApiError {
  return new ApiError({ operation: 'getAlert', effect, kind: 'answer', status: 404 });
}

const FROM = minutes(-1).toISOString();
const FREEZE = { from: FROM, until: minutes(9).toISOString(), reason: 'launch' };
const FREEZE_OF_PROD = { ...FREEZE, on: { tags: ['prod'] } };
const BY_APPROVER = { ...RULE, breakGlass: { to: 'approver' } };
const BREAK_GLASS = { ...RULE, breakGlass: { to: 'operator' } };

/** Circumstances with this policy. */
const under = (...policy: Parameters<typeof policyOf>): Given => ({
  context: { policy: policyOf(...policy) },
});

/** A change that runs by break-glass, without approvals. */
const broken = (role: string | null, rule: object): Given => ({
  ...under([rule]),
  change: async (context) => {
    const { id } = await aChange(context, { requires: { breakGlass: role } });
    return moved(context, id, { type: 'break-glass', by: ana, reason: 'outage' });
  },
});

/** A change whose target is read like this before it is sent. */
const reading = (compareBeforeSending: () => Promise<CurrentState>): Given => ({
  command: { compareBeforeSending },
});
const DIFFERS = {
  kind: 'differs',
  differences: [{ label: 'State', was: 'on', is: 'idle' }],
} as const;
const GONE = { label: 'On the server', was: 'present', is: 'deleted or not visible' };
const isGone = { stateCheck: { kind: 'differs', differences: [GONE] } };
const frozenBy = { frozenBy: { reason: 'launch', until: minutes(9) } };
const THREE = { ...RULE, approvals: { from: 'approver', count: 3 } };

test.for<[string, string, Given, object?]>([
  ['its target differs', 'target-changed', reading(async () => DIFFERS), { stateCheck: DIFFERS }],
  [
    'its target is gone',
    'target-changed',
    reading(() => Promise.reject(apiError('refused'))),
    isGone,
  ],
  ['its requester is a guest now', 'guest', { users: { [ana]: 'guest' } }],
  ['its requester has lost the role', 'not-a-requester', { users: { [ana]: [] } }],
  ['an approver has lost the role', 'approvals-missing', { users: { [cleo]: ['operator'] } }],
  ['an approver was deactivated', 'approvals-missing', { users: { [cleo]: 'deactivated' } }],
  ['the current rule requires more approvals', 'approvals-missing', under([THREE])],
  ['no rule allows its command now', 'no-rule', under([{ ...RULE, allow: ['service start'] }])],
  ['the rule requires a reason now', 'reason-required', under([{ ...RULE, reason: 'required' }])],
  ['a freeze covers its target', 'frozen', under([RULE], [FREEZE]), frozenBy],
  ['its new tag has a stricter rule', 'tags-changed', retagged('prod', strictFor('prod'))],
  ['a freeze covers its new tag', 'frozen', retagged('prod', policyOf([RULE], [FREEZE_OF_PROD]))],
  ['the current rule has no break-glass', 'no-break-glass', broken('operator', RULE)],
  ['the rule of the request had no break-glass', 'no-break-glass', broken(null, BREAK_GLASS)],
  ['it lacks the current break-glass role', 'may-not-break-glass', broken('operator', BY_APPROVER)],
  [
    'it lost the requested break-glass role',
    'may-not-break-glass',
    broken('approver', BREAK_GLASS),
  ],
])('a change ends when %s', async ([, stopReason, given, more]) => {
  const { result, change } = await unsent(given);
  const state = ['target-changed', 'tags-changed'].includes(stopReason) ? 'stale' : 'denied';
  expect(result).toBe('done');
  expect(change).toMatchObject({ state, stopReason, ...more });
});

const unread = (isOff: boolean) =>
  reading(async () => ({ kind: 'unread', why: 'no reply', isOff }) as const);

test.for<[string, Given]>([
  ['a fresh read shows the fields of the preview', reading(async () => ({ kind: 'same' }))],
  ['the configuration switched off the read', unread(true)],
  ['its new tag has the same rule', retagged('eu', strictFor('prod'))],
  ['it was requested by break-glass', broken('operator', BREAK_GLASS)],
])('a change runs when %s', async ([, given]) => {
  await expectSent(await runnable(given));
});

test('a change becomes stale after another change of its target succeeded', async () => {
  const all = await runnable();
  all.pass(60_000);
  const { id } = await aChange(all.context, { state: 'succeeded', answeredAt: minutes(1) });
  const { result, change } = await unsent(all);
  expect(result).toBe('done');
  expect(change).toMatchObject({
    ...{ state: 'stale', stopReason: 'target-changed' },
    stateCheck: { kind: 'differs', changedBy: { id, by: ana } },
  });
});

test('a freeze that was made in Slack denies a change as well', async () => {
  const all = await runnable();
  const { id } = await aChange(all.context, { command: 'change freeze', requester: ben });
  const made = { change: id, by: ben, reason: 'launch', scope: { tag: 'dev' } };
  const event = { type: 'created', ...made, from: NOON, until: minutes(9) } as const;
  await recorded(all.context, { stream: `freeze/${id}`, event });
  expect((await unsent(all)).change).toMatchObject({
    stopReason: 'frozen',
    frozenBy: { reason: 'launch', made: { id, by: ben } },
  });
});

test('a change that waits for its read is sent unverified two minutes after the first attempt', async () => {
  const all = await runnable(unread(false));
  for (const second of [0, 60, 119]) {
    all.clock.now = seconds(second);
    expect((await unsent(all)).result).toBeInstanceOf(Date);
  }
  all.clock.now = minutes(2);
  await expectSent(all);
  expect((await all.current()).stateCheck).toEqual({ kind: 'unverified', why: 'no reply' });
});

const FOREIGN = { version: 4, hash: 'an event that the log has lost' };
const OTHER = { ...FOREIGN, nonce: 'of another process' };

test('a thread that shows a lost event ends the change before anything is claimed', async () => {
  const all = await runnable();
  all.thread.card = FOREIGN;
  const { result, change } = await unsent(all);
  expect(result).toBe('done');
  expect(change).toMatchObject({ state: 'stale', stopReason: 'restored' });
  expect((await all.events()).map(({ type }) => type)).not.toContain('claimed');
});

test('a lost event that appears while the change is claimed leaves its outcome unknown, and nothing is sent', async () => {
  const after = await unsent({ onNote: ({ thread }) => thread.notes.unshift(OTHER) });
  expect(after).toMatchObject({ result: 'done', change: { state: 'unknown' } });
});

test('a change whose card was deleted ends, and nothing is sent', async () => {
  const all = await runnable();
  all.thread.isDeleted = true;
  const { result, change } = await unsent(all);
  expect(result).toBe('done');
  expect(change).toMatchObject({ state: 'stale', stopReason: 'card-deleted' });
});

test('while Slack does not answer, nothing is claimed and nothing is recorded', async () => {
  const { run, sent, slack, events } = await runnable();
  const before = await events();
  slack.isReachable = false;
  await expect(run()).rejects.toThrow('ECONNREFUSED');
  expect(sent).toEqual([]);
  expect(await events()).toEqual(before);
});

test('nothing is sent unless the thread shows the note of this attempt', async () => {
  const all = await runnable();
  all.slack.showsNotes = false;
  const { result, last, change } = await unsent(all);
  expect([result, change.state]).toEqual(['done', 'approved']);
  const why = 'Slack does not show the note of this attempt.';
  expect(last).toMatchObject({ type: 'not-sent', why, notBefore: seconds(10) });
});

test('a note whose answer was lost is found in the thread', async () => {
  await expectSent(await runnable({ onNote: () => Promise.reject(new Error('socket hang up')) }));
});

test.for([
  ['while Slack was slow is handed back', 'onNote', { why: 'The checks took too long.' }],
  ['before it was stored is repeated', 'read', {}],
] as const)(
  'a claim that became too old %s, and the log names its change',
  async ([, at, last]) => {
    const lines: object[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const slow = async () => {
      all.pass(30_000);
      return { kind: 'same' } as const;
    };
    const given = at === 'onNote' ? { onNote: slow } : reading(slow);
    const all: Runnable = await runnable({ ...given, context: { log } });
    expect((await unsent(all)).last).toMatchObject(last);
    expect(lines).toMatchObject([{ change: all.change.id }]);
  },
);

test('a process that paused after its claim sends nothing, whatever the clock says', async () => {
  const { now } = performance;
  const pause = { ms: 0 };
  const clock = vi.spyOn(performance, 'now');
  clock.mockImplementation(() => now.call(performance) + pause.ms);
  onTestFinished(() => clock.mockRestore());
  const { last } = await unsent({ onNote: () => Object.assign(pause, { ms: 30_000 }) });
  expect(last).toMatchObject({ why: 'The checks took too long.' });
});

const deletes: Given['onNote'] = ({ thread }) => Object.assign(thread, { isDeleted: true });
const disconnects: Given['onNote'] = ({ slack }) => Object.assign(slack, { isReachable: false });

test.for([
  ['whose card is deleted', deletes, 'The card was deleted.'],
  ['whose thread cannot be read', disconnects, 'The thread of its card could not be used.'],
] as const)('a claimed change %s is handed back', async ([, onNote, why]) => {
  expect((await unsent({ onNote })).last).toMatchObject({ type: 'not-sent', why });
});

/** A change, and what its last press begins. */
async function readEarly(then: (all: Runnable) => unknown = () => undefined) {
  const all = await runnable();
  beginThreadRead(all.context, all.change);
  await then(all);
  return all;
}

test('a read that the last press began is the one before the claim', async () => {
  const all = await readEarly();
  await expectSent(all);
  const asked = all.shown.map(({ name }) => name).filter((name) => /Thread$|Sending$/.test(name));
  expect(asked).toEqual(['readThread', 'postSending', 'readThread']);
});

test('a read that began five seconds ago is repeated before the claim', async () => {
  const all = await readEarly(({ pass, thread }) => {
    pass(5_000);
    thread.card = FOREIGN;
  });
  const { change } = await unsent(all);
  expect(change).toMatchObject({ state: 'stale', stopReason: 'restored' });
});

test('what appears after a read that the last press began stops the request', async () => {
  const after = await unsent(await readEarly(({ thread }) => thread.notes.push(OTHER)));
  expect(after).toMatchObject({ result: 'done', change: { state: 'unknown' } });
});

test('a card that is deleted after a read that the last press began stops the request', async () => {
  const all = await readEarly(deletes);
  expect((await unsent(all)).last).toMatchObject({ why: 'The card was deleted.' });
  all.pass(10_000);
  const { change } = await unsent(all);
  expect(change).toMatchObject({ state: 'stale', stopReason: 'card-deleted' });
});

test('a read that failed when the last press began it is repeated before the claim', async () => {
  const { context, change, run, slack, sent, events } = await runnable();
  slack.isReachable = false;
  beginThreadRead(context, change);
  const before = await events();
  await expect(run()).rejects.toThrow('ECONNREFUSED');
  expect(await events()).toEqual(before);
  slack.isReachable = true;
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
});
