import { expect, test } from 'vitest';
import {
  agentId,
  type Change,
  type ChangeId,
  type Timing,
  type UserId,
} from '../../src/domain/change.ts';
import { inheritChange } from '../../src/domain/draft.ts';
import { evolvePress } from '../../src/domain/log-events.ts';
import { type AgentCaller, type AgentRequest, agentRequests } from '../../src/workflow/agents.ts';
import { jobKinds } from '../../src/workflow/background.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { notify } from '../../src/workflow/notices.ts';
import { receivePress } from '../../src/workflow/press.ts';
import { requestChange } from '../../src/workflow/request.ts';
import { messageKinds } from '../../src/workflow/show.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { installation } from '../log/logs.ts';
import { onEngines } from '../storage/engines.ts';
import {
  aChange,
  aCommand,
  ana,
  begun,
  ben,
  cleo,
  createTestContext,
  dora,
  dueJobs,
  eventsOf,
  loaded,
  minutes,
  moved,
  NOON,
  newId,
  PLAN,
  RULE,
  refusals,
} from './context.ts';
import { runDue } from './due.ts';

const STOP = aCommand('service stop');
const AGENTS = new Map([
  ['copilot', []],
  ['other', []],
  ['ci', ['operator']],
]);
const policyWith = (...rules: readonly object[]) => ({ ...policyOf(rules), agents: AGENTS });
const POLICY = policyWith({ ...RULE, agents: 'allowed' });
const LIMITS = { open: 50, perDay: 500 };
const forAna: AgentCaller = { agent: 'copilot', subject: 's', person: ana, limits: LIMITS };
const itself: AgentCaller = { agent: 'ci', subject: 'repo:74', person: null, limits: LIMITS };
const CI = agentId('ci');
const CARD = { type: 'card-posted', channel: 'C1' as never, ts: '1.0' } as const;

function asked(over: Partial<AgentRequest> = {}): AgentRequest {
  const usual = { command: STOP, args: { service: PLAN.target }, given: { service: 'staging' } };
  return { ...usual, reason: null, words: null, key: null, ...over };
}

async function contextOf(over: Parameters<typeof createTestContext>[0] = {}) {
  const test = await createTestContext({ policy: POLICY, ...over });
  test.roles.set(CI, ['operator']);
  return test;
}

async function requested(context: WorkflowContext, ...[caller, over]: RequestBy) {
  const outcome = await agentRequests(context).request(caller, asked(over));
  if (!('change' in outcome)) throw new Error(`It was refused: ${JSON.stringify(outcome)}`);
  return outcome;
}

type RequestBy = readonly [caller: AgentCaller, over?: Partial<AgentRequest>];

/** What a request became, or why it was refused. */
async function answer(context: WorkflowContext, ...[caller, over]: RequestBy) {
  const outcome = await agentRequests(context).request(caller, asked(over));
  if ('change' in outcome) return outcome.created ? 'created' : outcome.change.id;
  return 'denial' in outcome ? outcome.denial.refusal : outcome;
}

/** Presses a button in the place where it was made for this user. Returns the refusal or the new state. */
async function press(
  context: WorkflowContext,
  verb: 'confirm' | 'approve' | 'cancel',
  change: ChangeId,
  by: UserId,
) {
  const key = `press-${Math.random()}`;
  const nowhere = {
    url: null,
    channel: null,
    ts: null,
    thread: null,
    replaces: false,
    home: false,
  };
  const own = { text: '', seen: null, place: { kind: 'own' } } as const;
  await receivePress(context, { key, verb, change, by, ...own, replyTo: { ...nowhere, user: by } });
  await runDue(context, { press: jobKinds(context).press as never });
  const { state } = await context.events.load(`press/${change}/${key}`, evolvePress);
  return state?.refusal ?? (await loaded(context, change)).state;
}

test('an agent asks for a person, who reads the preview as a direct message and confirms it', async () => {
  const { context, shown, sent } = await contextOf();
  const { change, created } = await requested(context, forAna, {
    words: 'the *load* is over <!here>',
    reason: 'nightly',
  });
  expect(created).toBe(true);
  expect(change).toMatchObject({
    ...{ state: 'draft', requester: ana, reason: 'nightly', words: 'the load is over !here' },
    via: { agent: 'copilot', subject: 's', for: 'person' },
    requires: { count: 2, from: 'approver' },
  });
  expect(await dueJobs(context)).toEqual([`preview ${change.id}`, `expire ${change.id}`]);
  await runDue(context, messageKinds(context));
  expect(shown).toMatchObject([{ name: 'postPreview', given: [{ id: change.id, news: {} }] }]);
  expect(await press(context, 'confirm', change.id, ben)).toBe('not-requester');
  expect(await press(context, 'confirm', change.id, ana)).toBe('pending');
  expect(sent).toEqual([]);
  const drafted = { type: 'drafted', via: { agent: 'copilot' }, evidence: { roles: ['operator'] } };
  expect((await eventsOf(context, `change/${change.id}`))[0]).toMatchObject(drafted);
});

test('what an agent asks for itself waits for approvals at once, and nobody is messaged', async () => {
  const breakGlass = { to: 'operator' };
  const policy = policyWith({ ...RULE, agents: ['ci'], breakGlass });
  const { context, shown } = await contextOf({ policy });
  const { change } = await requested(context, itself);
  expect(change).toMatchObject({
    ...{ state: 'pending', requester: 'agent:ci', confirmedAt: expect.any(Date) },
    requires: { count: 2, breakGlass: null },
  });
  expect(await dueJobs(context)).toEqual(expect.arrayContaining([`card ${change.id}`]));
  await moved(context, change.id, CARD);
  expect(await press(context, 'approve', change.id, ben)).toBe('pending');
  expect(await press(context, 'approve', change.id, cleo)).toBe('approved');
  await moved(context, change.id, { type: 'expired' });
  await runDue(context, messageKinds(context));
  const names = new Set(shown.map(({ name }) => name));
  expect(names).not.toContain('messageRequester');
  expect(names).not.toContain('messageUser');
});

test('where a reason is required, the words of the agent are one', async () => {
  const policy = policyWith({ ...RULE, agents: 'allowed', reason: 'required' });
  const { context } = await contextOf({ policy });
  expect(await answer(context, forAna)).toBe('reason-required');
  expect(await answer(context, forAna, { words: ' <> ' })).toBe('reason-required');
  const { change } = await requested(context, forAna, { words: 'the load is over' });
  expect(change).toMatchObject({ reason: null, words: 'the load is over' });
  expect(await press(context, 'confirm', change.id, ana)).toBe('pending');
});

test('a draft that was withdrawn is shown to nobody', async () => {
  const { context, shown } = await contextOf();
  const { change } = await requested(context, forAna);
  await agentRequests(context).cancel(forAna, change.id);
  await runDue(context, messageKinds(context));
  expect(shown).toEqual([]);
});

test('a notice is for persons only', async () => {
  const { context } = await contextOf();
  for (const to of [CI, ana]) await notify(context, { to, title: 'Notice', text: 'x' });
  expect(await dueJobs(context)).toHaveLength(1);
});

test.for<[string, object, AgentCaller, string]>([
  ['no rule admits agents', {}, forAna, 'agent-not-admitted'],
  ['the rule admits another one', { agents: ['ci'] }, forAna, 'agent-not-admitted'],
  ['the person may not', { agents: 'allowed' }, { ...forAna, person: dora }, 'not-a-requester'],
  ['its roles do not suffice', { agents: 'allowed', to: 'approver' }, itself, 'not-a-requester'],
])('an agent is refused, and the log has it: %s', async ([, rule, caller, refusal]) => {
  const { context } = await contextOf({ policy: policyWith({ ...RULE, ...rule }) });
  expect(await answer(context, caller)).toBe(refusal);
  const by = caller.person ?? CI;
  expect(await refusals(context)).toMatchObject([
    { by, why: refusal, tried: 'service stop', via: { agent: caller.agent } },
  ]);
});

test('the commands of an agent are those of the person that a rule also opens to agents', async () => {
  const rules = [
    { allow: ['service list'], to: 'viewer' },
    { ...RULE, allow: ['service stop'], agents: 'allowed' },
    { ...RULE, allow: ['service scale'] },
  ];
  const { context, roles } = await contextOf({ policy: policyWith(...rules) });
  roles.set(ana, ['operator', 'viewer']);
  const list = { ...STOP, kind: 'query', name: 'service list' };
  const commands = [STOP, aCommand('service scale'), list];
  const of = (caller: AgentCaller) => agentRequests(context).commands(caller, commands as never);
  expect(await of(forAna)).toEqual({ ok: true, commands: ['service stop', 'service list'] });
  expect(await of({ ...forAna, person: dora })).toEqual({ ok: true, commands: ['service list'] });
  expect(await of(itself)).toEqual({ ok: true, commands: ['service stop'] });
});

test('confirm decides again: a requester who lost the role costs no approver’s time', async () => {
  const { context, roles } = await contextOf();
  const { change } = await requested(context, forAna);
  roles.set(ana, []);
  expect(await press(context, 'confirm', change.id, ana)).toBe('not-a-requester');
  expect(await loaded(context, change.id)).toMatchObject({ state: 'stale', confirmedAt: null });
  expect((await dueJobs(context)).filter((job) => job.startsWith('card'))).toEqual([]);
});

test('confirm decides again: a rule that no longer admits the agent ends the draft', async () => {
  const { context } = await contextOf();
  const { change } = await requested(context, forAna);
  const later = { ...context, policy: policyWith(RULE) };
  expect(await press(later, 'confirm', change.id, ana)).toBe('agent-not-admitted');
  expect(await loaded(context, change.id)).toMatchObject({ state: 'stale' });
});

const KEY = { key: 'run-1' };

test('a request key is the same change while it is open, and for seven days also after its end', async () => {
  const { context, pass } = await contextOf();
  const { change } = await requested(context, itself, KEY);
  await moved(context, change.id, { type: 'rejected', by: ben, reason: 'no' });
  expect(await answer(context, itself, KEY)).toBe(change.id);
  pass(7 * 86_400_000 - 1);
  expect(await answer(context, itself, KEY)).toBe(change.id);
  pass(1);
  expect(await answer(context, itself, KEY)).toBe('created');
  const again = await answer(context, itself, KEY);
  expect(again).not.toBe(change.id);
  pass(30 * 86_400_000);
  expect(await answer(context, itself, KEY)).toBe(again);
});

test('a request key with other values is refused, and the log has it', async () => {
  const { context } = await contextOf();
  await requested(context, itself, KEY);
  const other = { given: { service: 'staging', for: '4h' }, ...KEY };
  expect(await answer(context, itself, other)).toBe('key-used');
  const start = { ...KEY, command: aCommand('service start') };
  expect(await answer(context, itself, start)).toBe('key-used');
  expect(await refusals(context)).toMatchObject([{ why: 'key-used' }, { why: 'key-used' }]);
});

test('of two requests with one key and other values at once, one is made', async () => {
  const { context } = await contextOf();
  const other = { given: { service: 'staging', for: '4h' }, ...KEY };
  const both = [answer(context, itself, KEY), answer(context, itself, other)];
  expect((await Promise.all(both)).toSorted()).toEqual(['created', 'key-used']);
});

test('a request key is found before the plan, which would say that nothing is left to do', async () => {
  const { context } = await contextOf();
  const { change } = await requested(context, itself, KEY);
  const noEffect = () => ({ sentence: 'It is stopped already.', offers: [] });
  const command = { ...STOP, noEffect };
  expect(await answer(context, itself, { ...KEY, command })).toBe(change.id);
});

test('a request key belongs to one agent and one person', async () => {
  const { context, roles } = await contextOf();
  roles.set(ben, ['operator']);
  const callers = [itself, forAna, { ...forAna, person: ben }, { ...forAna, agent: 'other' }];
  for (const caller of callers) expect(await answer(context, caller, KEY)).toBe('created');
});

test('another request key is another change, also for the same values', async () => {
  const { context } = await contextOf();
  await requested(context, itself, KEY);
  const { change } = await requested(context, itself, { key: 'run-2' });
  expect(change.news?.others).toHaveLength(1);
});

test('without a request key, equal values are the same open change, however the reason is worded', async () => {
  const { context } = await contextOf();
  const { change } = await requested(context, forAna, { reason: 'load', words: 'one' });
  expect(await answer(context, forAna, { reason: 'the load', words: 'two' })).toBe(change.id);
  expect(await answer(context, forAna, { given: { service: 'stage' } })).toBe(change.id);
  await moved(context, change.id, { type: 'cancelled', by: ana });
  expect(await answer(context, forAna)).toBe('created');
});

test('without a request key, other values, another agent and another person are another change', async () => {
  const { context, roles } = await contextOf();
  roles.set(ben, ['operator']);
  await requested(context, forAna);
  const others: readonly [AgentCaller, Partial<AgentRequest>][] = [
    [forAna, { given: { service: 'staging', for: '4h' } }],
    [forAna, { command: aCommand('service start') }],
    [{ ...forAna, agent: 'other' }, {}],
    [{ ...forAna, person: ben }, {}],
  ];
  for (const [caller, over] of others) expect(await answer(context, caller, over)).toBe('created');
});

test('without a request key, an open change with a key is the same one', async () => {
  const { context } = await contextOf();
  const { change } = await requested(context, itself, { key: 'run-1' });
  expect(await answer(context, itself)).toBe(change.id);
});

test.for<[string, object]>([
  ['its revert', { parent: 'K3M9QD' }],
  ['a run of its schedule', { timing: { startAt: null, revert: null, schedule: 'K3M9QD' } }],
])(
  'without a request key, what Signalbox planned for an earlier one is another change: %s',
  async ([, over]) => {
    const { context } = await contextOf();
    const { change } = await requested(context, forAna);
    await moved(context, change.id, { type: 'cancelled', by: ana });
    const { timing, parent = null } = over as { timing?: Timing; parent?: ChangeId };
    const plan = { ...change.plan, ...(timing && { timing }) };
    const later = { command: 'service stop', plan, parent, notBefore: minutes(9) };
    const planned = inheritChange(change, { ...later, expiresAt: minutes(99) });
    const { id } = await begun(context, newId(), planned);
    const via = { agent: 'copilot' };
    expect(await loaded(context, id)).toMatchObject({ state: 'approved', via });
    expect(await answer(context, forAna)).toBe('created');
  },
);

test('without a request key, what the person asked for in Slack is another change', async () => {
  const { context } = await contextOf();
  expect(await requestChange(context, typedRequest())).toMatchObject({ ok: true });
  expect(await answer(context, forAna)).toBe('created');
});

const typedRequest = () => ({ ...asked(), requester: ana, edits: null, key: 'typed' });

/** Requests with different values. */
const some = (n: number) => ({ given: { service: 'staging', for: `${n}h` } });

/** Two processes on one database. */
async function twoReplicas(engine: Parameters<typeof installation>[0]) {
  const { open } = await installation(engine);
  const replica = async () => {
    const events = await open();
    return (await contextOf({ events, store: events.store })).context;
  };
  return [await replica(), await replica()] as const;
}

onEngines('the limits hold for two replicas together', async (engine) => {
  const replicas = await twoReplicas(engine);
  const limits = { open: 3, perDay: 9 };
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      answer(replicas[n % 2 === 0 ? 0 : 1], { ...itself, limits }, some(n)),
    ),
  );
  const counts = ['created', 'agent-limit'].map((one) => all.filter((each) => each === one).length);
  expect(counts).toEqual([3, 17]);
});

onEngines('50 equal requests on two replicas are one change and one card', async (engine) => {
  const replicas = await twoReplicas(engine);
  for (const key of [null, 'run-1']) {
    const caller = { ...itself, limits: { open: 2, perDay: 2 } };
    const given = { service: 'staging', ...(key && { for: key }) };
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        requested(replicas[n % 2 === 0 ? 0 : 1], caller, { key, given }),
      ),
    );
    const ids = new Set(all.map(({ change }) => change.id));
    expect([ids.size, all.filter(({ created }) => created).length]).toEqual([1, 1]);
    const jobs = await dueJobs(replicas[0]);
    const [id] = ids;
    expect(jobs.filter((job) => job === `card ${id}`)).toHaveLength(1);
  }
  const other = { given: { service: 'staging', for: 'other' } };
  const limited = { ...itself, limits: { open: 2, perDay: 2 } };
  for (const context of replicas) expect(await answer(context, limited, other)).toBe('agent-limit');
});

onEngines(
  'of two replicas with different files each decides by its own, and a change stays one',
  async (engine) => {
    const { open } = await installation(engine);
    const replica = async (policy: typeof POLICY) => {
      const events = await open(undefined, { now: () => NOON.getTime() });
      return (await contextOf({ events, store: events.store, policy })).context;
    };
    const admits = await replica(POLICY);
    const refuses = await replica(policyWith(RULE));
    const KEY = { key: 'run-1' };
    const { change } = await requested(admits, itself, KEY);
    expect(await answer(refuses, itself, KEY)).toBe(change.id);
    expect(await answer(refuses, itself, { key: 'run-2' })).toBe('agent-not-admitted');
    await moved(admits, change.id, CARD);
    // The stricter file wins: the change ends, and its key makes no other one.
    expect(await press(refuses, 'approve', change.id, ben)).toBe('agent-not-admitted');
    expect(await loaded(admits, change.id)).toMatchObject({ state: 'denied', approvals: [] });
    expect(await answer(admits, itself, KEY)).toBe(change.id);
  },
);

test('the limits of open requests, and of those of a day', async () => {
  const { context, pass } = await contextOf();
  const caller = { ...itself, limits: { open: 2, perDay: 3 } };
  const first = await requested(context, caller, some(1));
  await requested(context, caller, some(2));
  expect(await answer(context, caller, some(3))).toBe('agent-limit');
  await moved(context, first.change.id, { type: 'expired' });
  const third = await requested(context, caller, some(3));
  await moved(context, third.change.id, { type: 'expired' });
  const denied = await agentRequests(context).request(caller, asked(some(4)));
  const denial = { refusal: 'agent-limit', until: new Date('2026-11-21T00:00:00Z') };
  expect(denied).toMatchObject({ denial });
  pass(12 * 3_600_000);
  expect(await answer(context, caller, some(4))).toBe('created');
});

test('the limits are those of one person with one agent, and ten times as much for the agent', async () => {
  const { context, roles } = await contextOf();
  const people = Array.from({ length: 11 }, (_, n) => `U${n}` as UserId);
  for (const id of people) roles.set(id, ['operator']);
  const limits = { open: 1, perDay: 5 };
  const of = (person: UserId, agent = 'copilot') => ({ ...forAna, agent, person, limits });
  for (const id of people.slice(0, 10)) {
    expect(await answer(context, of(id), some(1))).toBe('created');
    expect(await answer(context, of(id), some(2))).toBe('agent-limit');
  }
  const [last] = people.slice(10) as [UserId];
  expect(await answer(context, of(last), some(1))).toBe('agent-limit');
  expect(await answer(context, of(last, 'other'), some(1))).toBe('created');
});

test('an agent does not use up the limits of its person', async () => {
  const { context } = await contextOf();
  for (let n = 0; n < 25; n += 1) await requested(context, forAna, some(n));
  expect(await requestChange(context, typedRequest())).toMatchObject({ ok: true });
});

test('an operator reads once a day that an agent is blocked, and the log has it once', async () => {
  const { context, shown, pass } = await contextOf();
  const caller = { ...itself, limits: { open: 1, perDay: 9 } };
  await requested(context, caller, some(1));
  for (let n = 2; n < 9; n += 1) expect(await answer(context, caller, some(n))).toBe('agent-limit');
  const told = async () => {
    await runDue(context, { notice: messageKinds(context).notice as never });
    return shown.filter(({ name }) => name === 'notifyOperators');
  };
  expect((await told()).map(({ given: [text] }) => text)).toEqual([
    'The agent ci is blocked for now: it reached its limit of 1 open request. Its requests are refused.',
  ]);
  expect(await refusals(context)).toMatchObject([{ by: CI, why: 'agent-limit' }]);
  pass(86_400_000);
  await answer(context, caller, some(2));
  expect(await told()).toHaveLength(2);
});

async function others() {
  const test = await contextOf();
  test.roles.set(ben, ['operator']);
  const { change } = await requested(test.context, forAna);
  return { ...test, change };
}

test('an agent reads and withdraws its own request', async () => {
  const { context, change } = await others();
  const own = agentRequests(context);
  const { id } = change;
  expect(await own.change(forAna, id)).toMatchObject({ change: { id } });
  const cancelled = { state: 'cancelled', cancelledBy: 'agent:copilot' };
  expect(await own.cancel(forAna, id)).toMatchObject({ change: cancelled });
  const denial = { refusal: 'already-decided' };
  expect(await own.cancel(forAna, id)).toMatchObject({ denial });
});

test.for<[string, AgentCaller]>([
  ['another agent for the same person', { ...forAna, agent: 'other' }],
  ['the same agent for another person', { ...forAna, person: ben }],
  ['the same agent for itself', { ...forAna, person: null }],
  ['another agent for itself', itself],
])('attack: %s reads or withdraws a request', async ([, caller]) => {
  const { context, change, roles } = await others();
  roles.set(agentId('copilot'), ['operator']);
  const missing = { ok: false, denial: { refusal: 'not-found', change: null } };
  expect(await agentRequests(context).change(caller, change.id)).toMatchObject(missing);
  expect(await agentRequests(context).cancel(caller, change.id)).toMatchObject(missing);
  expect(await loaded(context, change.id)).toMatchObject({ state: 'draft' });
  expect(await refusals(context)).toMatchObject([{ tried: 'cancel', why: 'not-found' }]);
});

test('attack: an agent withdraws what its person asked for in Slack', async () => {
  const { context } = await others();
  const typed = await requestChange(context, typedRequest());
  const { id } = 'draft' in typed ? typed.draft : ({} as Change);
  const denial = { refusal: 'not-found' };
  expect(await agentRequests(context).cancel(forAna, id)).toMatchObject({ denial });
  expect(await loaded(context, id)).toMatchObject({ state: 'draft' });
});

test.for(['deactivated', 'guest', 'other-workspace', 'lookup-failed'] as const)(
  'attack: the person of an agent is %s, and its token still counts',
  async (refusal) => {
    const { context, change, roles } = await others();
    roles.set(ana, refusal);
    const denied = { ok: false, denial: { refusal } };
    expect(await answer(context, forAna, some(1))).toBe(refusal);
    expect(await answer(context, forAna)).toBe(refusal);
    expect(await agentRequests(context).change(forAna, change.id)).toMatchObject(denied);
    expect(await agentRequests(context).cancel(forAna, change.id)).toMatchObject(denied);
    expect(await agentRequests(context).commands(forAna, [STOP])).toMatchObject(denied);
    expect(await loaded(context, change.id)).toMatchObject({ state: 'draft' });
  },
);

test.for(['confirm', 'approve', 'cancel'] as const)(
  'attack: an agent presses %s by its own identity',
  async (verb) => {
    const { context, change } = await others();
    expect(await press(context, verb, change.id, CI)).toBe('bot');
    expect(await loaded(context, change.id)).toMatchObject({ state: 'draft' });
  },
);

/** Stops of the service that two people agreed to. */
function aStanding(context: WorkflowContext, uses = 1) {
  const scope = { service: { id: PLAN.target.id, name: PLAN.target.name } };
  const body = { commands: ['service stop'], scope, uses, forMs: 3_600_000 };
  const target = { ...PLAN.target, kind: 'standing approval' } as const;
  const plan = { ...PLAN, target, body };
  return aChange(context, { state: 'succeeded', command: 'change allow', plan });
}

test('an agent uses a standing approval only under a rule that says so, and as often as people agreed', async () => {
  const { context } = await contextOf();
  await aStanding(context);
  const asked = await requested(context, itself, { key: 'first' });
  expect(asked.change).toMatchObject({ state: 'pending', approvals: [] });

  const agents = { names: ['ci'], standing: 'allowed' };
  const { context: allowing } = await contextOf({ policy: policyWith({ ...RULE, agents }) });
  const { id } = await aStanding(allowing);
  const used = await requested(allowing, itself, { key: 'first' });
  expect(used.change).toMatchObject({ state: 'approved', standing: id });
  expect(used.change.approvals.map(({ by }) => by)).toEqual([ben, cleo]);
  const { uses } = await loaded(allowing, id);
  expect(uses).toMatchObject([{ change: used.change.id, by: CI }]);
  const other = await requested(allowing, itself, { key: 'second' });
  expect(other.change).toMatchObject({ state: 'pending', approvals: [] });
});

test('an agent asks by a standing approval for a person, who confirms', async () => {
  const agents = { standing: 'allowed' };
  const policy = policyWith({ ...RULE, agents });
  const { context, roles, clock } = await contextOf({ policy });
  const { id } = await aStanding(context);
  const { change } = await requested(context, forAna);
  expect(change).toMatchObject({ state: 'draft', standing: id });
  expect((await loaded(context, id)).uses).toBeUndefined();
  // Whether an approver still may approve is asked again, and the press stays.
  roles.set(ben, 'lookup-failed');
  expect(await press(context, 'confirm', change.id, ana)).toBe('draft');
  roles.set(ben, ['approver']);
  clock.now = minutes(1);
  await runDue(context, { press: jobKinds(context).press as never });
  expect(await loaded(context, change.id)).toMatchObject({ state: 'approved' });
});
