import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import type { CurrentState } from '../../src/commands/index.ts';
import type { Change } from '../../src/domain/change.ts';
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

test('a claim is recorded with the groups that were read, and shown before the request', async () => {
  const order: string[] = [];
  const { run, events, current, thread } = await runnable({
    context: {
      messages: {
        postSending: async (_change, _at, mark) => {
          order.push('note');
          thread.notes.push(mark);
        },
      },
    },
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

test.for<[string, Example, 'done' | Date]>([
  ['that is pending', {}, 'done'],
  ['that expires now', { ...APPROVED, requires: { expiresAfterMs: 0 } }, 'done'],
  [
    'that is scheduled for later',
    { ...APPROVED, plan: { timing: { startAt: seconds(1).toISOString(), revert: null } } },
    seconds(1),
  ],
  ['whose card is not posted yet', { ...APPROVED, hasCard: false }, seconds(1)],
])('a change %s is not executed', async ([, change, result]) => {
  const { run, sent, events } = await runnable({ change });
  const before = (await events()).length;
  expect(await run()).toEqual(result);
  expect(sent).toEqual([]);
  expect(await events()).toHaveLength(before);
});

test('a scheduled change is executed at its time', async () => {
  const timing = { startAt: seconds(1).toISOString(), revert: null };
  const { run, sent, pass } = await runnable({ change: { ...APPROVED, plan: { timing } } });
  pass(1_000);
  expect(await run()).toBe('done');
  expect(sent).toEqual([{ command: 'service stop', body: PLAN.body }]);
});

test('a change that does not exist is not executed', async () => {
  const { context, sent } = await runnable();
  const job = { key: newId(), again: false, attempts: 1 };
  expect(await runKind(context).run(job)).toBe('done');
  expect(sent).toEqual([]);
});

test('a change that was cancelled during the lookups is not executed', async () => {
  const { context, change, run, sent, current } = await runnable({
    command: {
      compareBeforeSending: async () => {
        await moved(context, change.id, { type: 'cancelled', by: ana });
        return { kind: 'same' };
      },
    },
  });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect((await current()).state).toBe('cancelled');
});

test('a replica with another configuration than the active one executes nothing', async () => {
  const { context, run, sent, current } = await runnable({ users: { [ana]: 'guest' } });
  await activateConfiguration(context.events, { configuration: 'c2', release: '2.0.0' });
  expect(await run()).toBeInstanceOf(Date);
  expect(sent).toEqual([]);
  expect((await current()).state).toBe('approved');
});

test('in a rolling update only the file that was loaded last executes', async () => {
  const { context, change, sent, run } = await runnable();
  const newer = runKind({ ...context, configuration: 'c2', instance: 'newer' });
  const { events } = context;
  await activateConfiguration(events, { configuration: 'c1', release: '2.0.0' });
  await activateConfiguration(events, { configuration: 'c2', release: '2.0.0' });
  expect(await run()).toBeInstanceOf(Date);
  // The older replica restarts, and then the newer one loads its file again.
  await activateConfiguration(events, { configuration: 'c1', release: '2.0.0' });
  const job = { key: change.id, again: false, attempts: 1 };
  expect(await newer.run(job)).toBeInstanceOf(Date);
  expect(sent).toEqual([]);
  await activateConfiguration(events, { configuration: 'c2', release: '2.0.0' });
  expect(await newer.run(job)).toBe('done');
  expect(sent).toHaveLength(1);
});

test('a change with a press that is not answered yet waits for it', async () => {
  const { context, change, run, sent } = await runnable();
  const stream = `press/${change.id}/k1` as const;
  const press = { verb: 'cancel', by: ana, text: '', place: {}, seen: null };
  await recorded(context, { stream, event: { type: 'pressed', ...press } });
  expect(await run()).toEqual(seconds(1));
  expect(sent).toEqual([]);
  const answer = { type: 'answered', what: 'cancel', refusal: 'lookup-failed' } as const;
  await recorded(context, { stream, event: answer });
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
});

test('a failed lookup of the requester or of an approver decides nothing', async () => {
  for (const user of [ana, ben]) {
    const { run, sent, current } = await runnable({ users: { [user]: 'lookup-failed' } });
    expect(await run()).toEqual(seconds(10));
    expect(sent).toEqual([]);
    expect((await current()).state).toBe('approved');
  }
});

test('a failed lookup of an approver whom the rule does not need delays nothing', async () => {
  const one = { ...RULE, approvals: { from: 'approver', count: 1 } };
  const { run, sent, events } = await runnable({
    context: { policy: policyOf([one]) },
    change: { requires: { count: 1 }, approvers: [ben, cleo], state: 'approved' },
    users: { [ben]: 'lookup-failed' },
  });
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
  const claimed = (await events()).find(({ type }) => type === 'claimed');
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
  const { context, pass, run, sent, current } = await runnable();
  const { identify } = context.people;
  context.people.identify = async (id, how) => {
    pass(look.ms);
    return identify(id, how);
  };
  // Three people, and with the last of them the first look is half a minute old.
  expect(await run()).toBeInstanceOf(Date);
  expect(sent).toEqual([]);
  expect((await current()).state).toBe('approved');
  look.ms = 9_999;
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
});

test('a change runs when a fresh read of its target shows the fields of the preview', async () => {
  const same = async () => ({ kind: 'same' }) as const;
  const { run, sent } = await runnable({ command: { compareBeforeSending: same } });
  await run();
  expect(sent).toHaveLength(1);
});

const CHANGED = { label: 'State', was: 'running', is: 'idle' };
const GONE = { label: 'On the server', was: 'present', is: 'deleted or not visible' };

test.for<[string, () => Promise<CurrentState>, object]>([
  ['has another field now', async () => ({ kind: 'differs', differences: [CHANGED] }), CHANGED],
  ['no longer exists', () => Promise.reject(apiError('refused')), GONE],
])('a change becomes stale when its target %s', async ([, compareBeforeSending, difference]) => {
  const { run, sent, current } = await runnable({ command: { compareBeforeSending } });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({
    ...{ state: 'stale', stopReason: 'target-changed' },
    stateCheck: { kind: 'differs', differences: [difference] },
  });
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

test('a change waits while another one holds its target, also with an unknown outcome', async () => {
  for (const state of ['executing', 'unknown'] as const) {
    const { context, run, sent, current } = await runnable();
    await aChange(context, { state });
    expect(await run()).toEqual(seconds(10));
    expect(sent).toEqual([]);
    expect((await current()).state).toBe('approved');
  }
});

test('a change becomes stale after another change of its target succeeded', async () => {
  const { context, run, sent, current, pass } = await runnable();
  pass(60_000);
  const other = await aChange(context, { state: 'succeeded', answeredAt: minutes(1) });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({
    ...{ state: 'stale', stopReason: 'target-changed' },
    stateCheck: { kind: 'differs', changedBy: { id: other.id, by: ana } },
  });
});

const FREEZE = {
  from: minutes(-1).toISOString(),
  until: minutes(9).toISOString(),
  reason: 'launch',
};

test.for<[string, NonNullable<Parameters<typeof runnable>[0]>, object]>([
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
    'no rule allows its command now',
    { context: { policy: policyOf([{ ...RULE, allow: ['service start'] }]) } },
    { state: 'denied', stopReason: 'no-rule' },
  ],
  [
    'the rule requires a reason now, and the change has none',
    { context: { policy: policyOf([{ ...RULE, reason: 'required' }]) } },
    { state: 'denied', stopReason: 'reason-required' },
  ],
  [
    'a freeze covers its target',
    { context: { policy: policyOf([RULE], [FREEZE]) } },
    { state: 'denied', stopReason: 'frozen', frozenBy: { reason: 'launch', until: minutes(9) } },
  ],
])('a change is denied when %s', async ([, circumstances, expected]) => {
  const { run, sent, current } = await runnable(circumstances);
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject(expected);
});

test('a freeze that was made in Slack denies a change as well', async () => {
  const { context, run, sent, current } = await runnable();
  const { id } = await aChange(context, { command: 'change freeze', requester: ben });
  const made = { change: id, by: ben, reason: 'launch', scope: { tag: 'dev' } };
  const event = { type: 'created', ...made, from: NOON, until: minutes(9) } as const;
  await recorded(context, { stream: `freeze/${id}`, event });
  await run();
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({
    stopReason: 'frozen',
    frozenBy: { reason: 'launch', made: { id, by: ben } },
  });
});

test('a refusal without a freeze names none', async () => {
  const { run, current } = await runnable({
    context: { policy: policyOf([RULE], [FREEZE]) },
    users: { [ana]: [] },
  });
  await run();
  expect((await current()).frozenBy).toBeUndefined();
});

/** A rule for services with this tag, which requires two approvals of operators. */
const strictFor = (tag: string) =>
  policyOf([{ ...RULE, on: { tags: [tag] }, approvals: { from: 'operator', count: 2 } }, RULE]);

const tagged = (tag: string) => ({ services: () => [{ ...STAGING, tags: [tag] }] });

test('a change whose target has a tag with a stricter rule now becomes stale', async () => {
  const { run, sent, current } = await runnable({
    context: { ...tagged('prod'), policy: strictFor('prod') },
  });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'tags-changed' });
});

test('a freeze of a target with other tags is named as the reason', async () => {
  const policy = policyOf([RULE], [{ ...FREEZE, on: { tags: ['prod'] } }]);
  const { run, current } = await runnable({ context: { ...tagged('prod'), policy } });
  await run();
  expect(await current()).toMatchObject({ state: 'denied', stopReason: 'frozen' });
});

test('a failed lookup for a target with other tags decides nothing', async () => {
  const { run, current } = await runnable({
    context: tagged('prod'),
    users: { [ben]: 'lookup-failed' },
  });
  expect(await run()).toBeInstanceOf(Date);
  expect((await current()).state).toBe('approved');
});

test('a change whose target has other tags and the same rule is executed', async () => {
  const { run, sent } = await runnable({
    context: { ...tagged('eu'), policy: strictFor('prod') },
  });
  await run();
  expect(sent).toHaveLength(1);
});

const BREAK_GLASS = { ...RULE, breakGlass: { to: 'operator' } };

/** A change that runs by break-glass, without approvals. */
function breakGlassChange(
  role: string | null,
  rule: object,
  users: NonNullable<Parameters<typeof runnable>[0]>['users'] = {},
) {
  const change = async (context: WorkflowContext): Promise<Change> => {
    const { id } = await aChange(context, { requires: { breakGlass: role } });
    return moved(context, id, { type: 'break-glass', by: ana, reason: 'outage' });
  };
  return runnable({ change, context: { policy: policyOf([rule]) }, users });
}

test('a break-glass change runs without approvals', async () => {
  const { run, sent } = await breakGlassChange('operator', BREAK_GLASS);
  await run();
  expect(sent).toHaveLength(1);
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
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'denied', stopReason });
});

const unread = (isOff: boolean) => async () =>
  ({ kind: 'unread', why: 'no reply', isOff }) as const;

test('a read that the configuration switched off does not delay a change', async () => {
  const { run, sent, current } = await runnable({
    command: { compareBeforeSending: unread(true) },
  });
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
  expect((await current()).stateCheck).toEqual({ kind: 'unverified', why: 'no reply' });
});

test('a change that waits for its read is sent two minutes after the first attempt', async () => {
  const { run, clock, sent } = await runnable({
    command: { compareBeforeSending: unread(false) },
  });
  for (const second of [0, 60, 119]) {
    clock.now = seconds(second);
    expect(await run()).toBeInstanceOf(Date);
  }
  expect(sent).toEqual([]);
  clock.now = minutes(2);
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
});

const FOREIGN = { version: 4, hash: 'an event that the log has lost' };

test('a thread that shows a lost event ends the change before anything is claimed', async () => {
  const { run, sent, thread, current, events } = await runnable();
  thread.card = FOREIGN;
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'restored' });
  expect((await events()).map(({ type }) => type)).not.toContain('claimed');
});

test('a lost event that appears while the change is claimed leaves its outcome unknown, and nothing is sent', async () => {
  const { run, sent, current, thread } = await runnable({
    context: {
      messages: {
        postSending: async (_change, _at, mark) => {
          thread.notes.push({ ...FOREIGN, nonce: 'of another process' }, mark);
        },
      },
    },
  });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect((await current()).state).toBe('unknown');
});

test('a change whose card was deleted ends, and nothing is sent', async () => {
  const { run, sent, thread, current } = await runnable();
  thread.isDeleted = true;
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'card-deleted' });
});

test('while Slack does not answer, nothing is claimed and nothing is recorded', async () => {
  const { run, sent, slack, events } = await runnable();
  const before = (await events()).length;
  slack.isReachable = false;
  await expect(run()).rejects.toThrow('ECONNREFUSED');
  expect(sent).toEqual([]);
  expect(await events()).toHaveLength(before);
});

test('nothing is sent unless the thread shows the note of this attempt', async () => {
  const { run, sent, slack, events, current } = await runnable();
  slack.showsNotes = false;
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({
    type: 'not-sent',
    why: 'Slack does not show the note of this attempt.',
    notBefore: seconds(10),
  });
  expect((await current()).state).toBe('approved');
});

test('a note whose answer was lost is found in the thread', async () => {
  const { run, sent, thread } = await runnable({
    context: {
      messages: {
        postSending: async (_change, _at, mark) => {
          thread.notes.push(mark);
          throw new Error('socket hang up');
        },
      },
    },
  });
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
});

test('a claim that became too old while Slack was slow is handed back', async () => {
  const { run, sent, events, pass, thread } = await runnable({
    context: {
      messages: {
        postSending: async (_change, _at, mark) => {
          thread.notes.push(mark);
          pass(30_000);
        },
      },
    },
  });
  await run();
  expect(sent).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({
    type: 'not-sent',
    why: 'The claim was too old.',
  });
});

test('a process that paused after its claim sends nothing, whatever the clock says', async () => {
  const { now } = performance;
  const pause = { ms: 0 };
  const clock = vi.spyOn(performance, 'now');
  clock.mockImplementation(() => now.call(performance) + pause.ms);
  onTestFinished(() => clock.mockRestore());
  const { run, sent, events, thread } = await runnable({
    context: {
      messages: {
        postSending: async (_change, _at, mark) => {
          thread.notes.push(mark);
          pause.ms = 30_000;
        },
      },
    },
  });
  await run();
  expect(sent).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({ why: 'The claim was too old.' });
});

test.for<[string, 'isDeleted' | 'isReachable', string]>([
  ['whose card is deleted', 'isDeleted', 'The card was deleted.'],
  ['whose thread cannot be read', 'isReachable', 'The thread of its card could not be used.'],
])('a claimed change %s is handed back', async ([, what, why]) => {
  const { run, sent, events, thread, slack } = await runnable({
    context: {
      messages: {
        postSending: async (_change, _at, mark) => {
          thread.notes.push(mark);
          if (what === 'isDeleted') thread.isDeleted = true;
          else slack.isReachable = false;
        },
      },
    },
  });
  await run();
  expect(sent).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({ type: 'not-sent', why });
});

/** A change, and what its last press begins. */
async function readEarly() {
  const all = await runnable();
  const begin = () => beginThreadRead(all.context, all.change);
  const asked = () =>
    all.shown.map(({ name }) => name).filter((name) => /^(readThread|postSending)$/.test(name));
  return { ...all, begin, asked };
}

test('a read that the last press began is the one before the claim', async () => {
  const { run, begin, asked, sent } = await readEarly();
  begin();
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
  expect(asked()).toEqual(['readThread', 'postSending', 'readThread']);
});

test('a read that began five seconds ago is repeated before the claim', async () => {
  const { run, begin, thread, sent, pass, current } = await readEarly();
  begin();
  pass(5_000);
  thread.card = FOREIGN;
  await run();
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'restored' });
});

test('what appears after a read that the last press began stops the request', async () => {
  const { run, begin, thread, sent, current } = await readEarly();
  begin();
  thread.notes.push({ ...FOREIGN, nonce: 'of another process' });
  expect(await run()).toBe('done');
  expect(sent).toEqual([]);
  expect((await current()).state).toBe('unknown');
});

test('a card that is deleted after a read that the last press began stops the request', async () => {
  const { run, begin, thread, sent, events, current, pass } = await readEarly();
  begin();
  thread.isDeleted = true;
  await run();
  expect(sent).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({ why: 'The card was deleted.' });
  pass(10_000);
  await run();
  expect(sent).toEqual([]);
  expect(await current()).toMatchObject({ state: 'stale', stopReason: 'card-deleted' });
});

test('a read that failed when the last press began it is repeated before the claim', async () => {
  const { run, begin, slack, sent, events } = await readEarly();
  slack.isReachable = false;
  begin();
  const before = (await events()).length;
  await expect(run()).rejects.toThrow('ECONNREFUSED');
  expect(await events()).toHaveLength(before);
  slack.isReachable = true;
  expect(await run()).toBe('done');
  expect(sent).toHaveLength(1);
});
