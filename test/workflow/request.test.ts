import { expect, test } from 'vitest';
import type { ChangeCommand } from '../../src/commands/index.ts';
import { NO_TIMING, type RequestedTiming } from '../../src/domain/timing.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { isUnchangedSince, requestChange } from '../../src/workflow/request.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  aCommand,
  ana,
  ben,
  createTestContext,
  dora,
  dueJobs,
  emil,
  eventsOf,
  loaded,
  minutes,
  moved,
  NOON,
  PLAN,
  RULE,
  recorded,
  refusals,
} from './context.ts';

type Request = Parameters<typeof requestChange>[1];

const STOP = aCommand('service stop');

function aRequest(over: Partial<Request> = {}): Request {
  const usual = { command: STOP, args: { service: PLAN.target }, given: { service: 'staging' } };
  const key = `interaction-${Math.random()}`;
  return { ...usual, reason: null, requester: ana, edits: null, key, ...over };
}

async function draftOf(context: WorkflowContext, over: Partial<Request> = {}) {
  const outcome = await requestChange(context, aRequest(over));
  if (!('draft' in outcome)) throw new Error(`It was refused: ${JSON.stringify(outcome)}`);
  const { draft } = outcome;
  if (!draft.news) throw new Error('A draft has news');
  return { draft, ...draft.news };
}

async function expectDenied(context: WorkflowContext, over: Partial<Request>, denial: object) {
  expect(await requestChange(context, aRequest(over))).toMatchObject({ denial });
}

test('a request becomes a draft of its requester, which expires and sends nothing', async () => {
  const { context, sent } = await createTestContext();
  const { draft, others, freezes } = await draftOf(context, { reason: 'nightly' });
  expect(draft).toMatchObject({
    ...{ state: 'draft', requester: ana, reason: 'nightly', organization: 'acme' },
    requires: { rule: 1, from: 'approver', count: 2 },
    plan: { target: { name: 'staging' }, body: { command: 'stop' } },
    expiresAt: minutes(30),
  });
  expect([others, freezes]).toEqual([[], []]);
  expect(await eventsOf(context, `change/${draft.id}`)).toMatchObject([
    {
      type: 'drafted',
      configuration: 'c1',
      hash: draft.hash,
      evidence: { roles: ['operator'], groups: [{ id: 'S-operator', size: 3 }] },
    },
  ]);
  expect(await dueJobs(context)).toEqual([`expire ${draft.id}`]);
  expect(sent).toEqual([]);
});

test('the target of a user without a role is not read', async () => {
  const { context } = await createTestContext();
  const reads: unknown[] = [];
  const observe = async (args: unknown) => {
    reads.push(args);
    return { before: null };
  };
  const over = { command: { ...STOP, observe }, requester: emil };
  await expectDenied(context, over, { refusal: 'not-a-requester', target: 'staging' });
  expect(reads).toEqual([]);
  expect(await refusals(context)).toMatchObject([{ by: emil, tried: 'service stop' }]);
});

test('a repeated delivery creates no second draft, and is not counted', async () => {
  const { context } = await createTestContext();
  const { draft } = await draftOf(context, { key: 'k-1' });
  const denial = { refusal: 'already-received', target: 'staging' };
  for (let n = 0; n < 30; n += 1) await expectDenied(context, { key: 'k-1' }, denial);
  const next = await draftOf(context, { key: 'k-2' });
  expect(next.draft.id).not.toBe(draft.id);
});

test('two deliveries at once create one draft', async () => {
  const { context } = await createTestContext();
  const both = await Promise.all([1, 2].map(() => requestChange(context, aRequest({ key: 'k' }))));
  expect(both.filter(({ ok }) => ok)).toHaveLength(1);
});

test('an interaction whose id would be that of another change gets another one', async () => {
  const { context } = await createTestContext();
  const { draft } = await draftOf(context, { key: 'k-1' });
  const other = await createTestContext();
  await aChange(other.context, { id: draft.id, state: 'draft' });
  const { draft: next } = await draftOf(other.context, { key: 'k-1' });
  expect(next.id).not.toBe(draft.id);
});

test('more requests than a user makes are refused, recorded once', async () => {
  const { context } = await createTestContext();
  for (let n = 0; n < 20; n += 1) await draftOf(context);
  const denial = { refusal: 'rate-limited', command: 'service stop', until: minutes(10) };
  for (let n = 0; n < 3; n += 1) await expectDenied(context, {}, denial);
  expect(await refusals(context)).toMatchObject([{ tried: 'draft', why: 'rate-limited' }]);
});

test('an edited draft is withdrawn with the new one', async () => {
  const { context } = await createTestContext();
  const { draft: first } = await draftOf(context);
  const { draft: second } = await draftOf(context, { edits: first.id });
  expect((await loaded(context, first.id)).state).toBe('cancelled');
  expect((await eventsOf(context, `change/${first.id}`)).at(-1)).toMatchObject({
    type: 'cancelled',
    by: ana,
    evidence: { edited: true },
  });
  expect(second.state).toBe('draft');
});

test('a confirmed change, and the draft of another user, are not withdrawn by an edit', async () => {
  const { context, roles } = await createTestContext();
  roles.set(dora, ['operator']);
  const confirmed = await aChange(context);
  const theirs = await aChange(context, { state: 'draft', requester: dora });
  for (const { id, state } of [confirmed, theirs]) {
    await draftOf(context, { edits: id });
    expect((await loaded(context, id)).state).toBe(state);
  }
});

test('a preview names other open changes, and what did the same within the hour before', async () => {
  const { context, clock } = await createTestContext();
  clock.now = minutes(-61);
  await aChange(context, { state: 'succeeded', answeredAt: clock.now });
  clock.now = minutes(-1);
  const same = await aChange(context, { state: 'succeeded', answeredAt: clock.now });
  const start = { command: 'service start', plan: { body: { command: 'start' } } };
  await aChange(context, { ...start, state: 'succeeded', answeredAt: clock.now });
  clock.now = NOON;
  const scaled = await aChange(context, { command: 'service scale', plan: { body: { to: 16 } } });
  const waiting = await aChange(context);
  await aChange(context, { state: 'rejected' });
  await aChange(context, { state: 'draft' });
  const { others } = await draftOf(context);
  expect(new Set(others.map(({ id }) => id))).toEqual(new Set([same.id, scaled.id, waiting.id]));
});

test('a preview names the freezes of its target within a week', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context, { command: 'change freeze' });
  const scope = { tag: 'dev' };
  const about = { change: id, by: ben, reason: 'launch', scope };
  const event = { type: 'created', ...about, from: minutes(60), until: minutes(120) } as const;
  await recorded(context, { stream: `freeze/${id}`, event });
  expect((await draftOf(context)).freezes).toMatchObject([{ reason: 'launch' }]);
  const frozen = { ...event, from: minutes(-1) };
  await recorded(context, { stream: 'freeze/other', event: frozen });
  await expectDenied(context, {}, { refusal: 'frozen', freeze: { reason: 'launch' } });
});

const NOT_NEEDED = { sentence: 'It is stopped already.', offers: [] };
const STOPPED: ChangeCommand = { ...STOP, noEffect: () => NOT_NEEDED as never };

const problems = [{ field: 'service', problem: 'has a running secondary' }];
const FOR = { ...NO_TIMING, forMs: 4 * 3_600_000 };
const needsPrevious = [{ field: 'for', problem: expect.stringContaining('previous values') }];
const OTHER_APPROVERS = policyOf([
  { ...RULE, allow: ['service stop'], approvals: { from: 'viewer', count: 1 } },
  { ...RULE, allow: ['service schedule'] },
]);
const SCHEDULE = { ...aCommand('service schedule'), runs: () => ['service stop'] };
const separately = [{ problem: expect.stringContaining('has other approvers') }];

test.for<[string, Partial<Request>, object]>([
  ['has no effect', { command: STOPPED }, { noEffect: NOT_NEEDED }],
  ['does not fit the target', { command: { ...STOP, problems: () => problems } }, { problems }],
  ['has a revert that cannot be known now', { timing: FOR }, { problems: needsPrevious }],
  [
    'needs a reason and has none',
    { command: { ...STOP, needsReason: true } },
    { denial: { refusal: 'reason-required' } },
  ],
  ['runs later what others approve', { command: SCHEDULE }, { problems: separately }],
])('a request that %s is answered, and is no draft', async ([, over, answer]) => {
  const policy = over.command === SCHEDULE ? OTHER_APPROVERS : policyOf([RULE]);
  const { context } = await createTestContext({ policy });
  expect(await requestChange(context, aRequest(over))).toMatchObject({ ok: false, ...answer });
  expect(await dueJobs(context)).toEqual([]);
});

test('what has no effect now may have one at its later start', async () => {
  const { context } = await createTestContext();
  const timing: RequestedTiming = { ...NO_TIMING, inMs: 3_600_000 };
  const { draft } = await draftOf(context, { command: STOPPED, timing });
  expect(draft.plan.timing).toEqual({ startAt: minutes(60).toISOString(), revert: null });
});

test('a requester without the role of break-glass gets a draft without it', async () => {
  const policy = policyOf([{ ...RULE, breakGlass: { to: 'approver' } }]);
  const { context, roles } = await createTestContext({ policy });
  expect((await draftOf(context)).draft.requires.breakGlass).toBeNull();
  roles.set(ana, ['operator', 'approver']);
  expect((await draftOf(context)).draft.requires.breakGlass).toBe('approver');
});

test('what a change runs later is approved with it, by the stricter rule and without break-glass', async () => {
  const policy = policyOf([
    { ...RULE, allow: ['service stop'], breakGlass: { to: 'approver' } },
    { ...RULE, allow: ['service schedule'], approvals: { from: 'approver', count: 1 } },
  ]);
  const { context, roles } = await createTestContext({ policy });
  roles.set(ana, ['operator', 'approver']);
  const { draft } = await draftOf(context, { command: SCHEDULE });
  expect(draft.requires).toMatchObject({ rule: 2, count: 2, breakGlass: null });
});

test('a target is unchanged until another change succeeded, or the API shows other values', async () => {
  const { context, pass } = await createTestContext();
  const stop = await aChange(context, { state: 'succeeded' });
  expect(await isUnchangedSince(context, stop)).toBe(true);
  const verifyOutcome = async () => null;
  const commands = new Map([['service stop', { ...STOP, verifyOutcome }]]);
  expect(await isUnchangedSince({ ...context, commands }, stop)).toBe(false);
  pass(60_000);
  const unknown = await aChange(context, { state: 'unknown', answeredAt: minutes(1) });
  await moved(context, unknown.id, { type: 'resolved', by: ben, as: 'succeeded', note: 'seen' });
  expect(await isUnchangedSince(context, stop)).toBe(false);
});
