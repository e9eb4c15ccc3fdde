import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approvalStatus } from '../../src/domain/approvals.ts';
import {
  type Actor,
  actorName,
  agentId,
  type Change,
  isPerson,
  VERBS,
  type Via,
} from '../../src/domain/change.ts';
import { agentWords, planDigest } from '../../src/domain/draft.ts';
import { agentIdentity, gate } from '../../src/domain/gate.ts';
import { commandsFor, decide, type Policy, type Rule } from '../../src/domain/policy.ts';
import { actor, ana, ben, changeIn, dora, NOON, PLAN, REQUIRES } from './changes-fixtures.ts';
import { claiming, policyThatRequires, pressed } from './gate-fixtures.ts';
import { policyOf, problemsOf } from './policy-fixtures.ts';

const FOR_ANA: Via = { agent: 'copilot', subject: 'U0ANA', for: 'person' };
const CI = agentId('ci');
const ITSELF: Via = { agent: 'ci', subject: 'repo:74', for: 'itself' };
const AGENTS = new Map([
  ['copilot', []],
  ['ci', ['operator']],
]);
const OPEN = { allow: ['service stop'], to: 'operator' };
const STOP = { ...OPEN, approvals: { from: 'approver', count: 1 } };

function policy(agents?: 'allowed' | readonly string[], over: object = {}): Policy {
  return { ...policyOf([{ ...STOP, ...(agents && { agents }), ...over }]), agents: AGENTS };
}

const ADMITTING = { ...STOP, agents: 'allowed' };
const viaCopilot: Actor = { ...ana, agent: 'copilot' };

function answer(of: Policy, who: Actor, command = 'service stop') {
  const asked = { command, target: PLAN.target, actor: who, reason: null, now: NOON };
  const decision = decide(of, { ...asked, kind: 'change' });
  return decision.allow ? 'allowed' : decision.refusal;
}

test('only users of Slack are persons: no agent, no schedule and not Signalbox', () => {
  const others = [CI, 'signalbox', 'schedule:1', 'ana', '', 'xU0ANA', 'U0ANA x'];
  expect(['U0ANA', 'W012AB', ...others].filter(isPerson)).toEqual(['U0ANA', 'W012AB']);
  expect(actorName(CI)).toBe('agent ci');
});

test.for<[string, Policy, Actor, string]>([
  ['the rule admits all agents', policy('allowed'), viaCopilot, 'allowed'],
  ['the rule names it', policy(['copilot']), viaCopilot, 'allowed'],
  ['the rule names another one', policy(['ci']), viaCopilot, 'agent-not-admitted'],
  ['the rule names none', policy(), viaCopilot, 'agent-not-admitted'],
  ['the person alone may', policy(), ana, 'allowed'],
  ['the person may not', policy('allowed'), { ...dora, agent: 'copilot' }, 'not-a-requester'],
  ['the file lost it', policy('allowed'), { ...ana, agent: 'gone' }, 'agent-not-admitted'],
  ['the file names no agent', policyOf([ADMITTING]), viaCopilot, 'agent-not-admitted'],
])('what an agent may request, when %s', ([, of, who, expected]) => {
  expect(answer(of, who)).toBe(expected);
  const usable = commandsFor(of, ['service stop'], who);
  expect(usable).toEqual(expected === 'allowed' ? ['service stop'] : []);
});

test('a rule without approvals admits no agent, also if the file were not checked', () => {
  const of = policy('allowed');
  const unapproved = (rule: Rule) => ({ ...rule, requires: { ...rule.requires, from: null } });
  const open = { ...of, rules: of.rules.map(unapproved) };
  expect(answer(open, viaCopilot)).toBe('agent-not-admitted');
});

test('a rule lets its agents use standing approvals', () => {
  const [all] = policy([], { agents: { standing: 'allowed' } }).rules;
  expect(all).toMatchObject({ agents: 'allowed', agentsStanding: true });
  const [some] = policy([], { agents: { names: ['ci', 'copilot'], standing: 'allowed' } }).rules;
  expect(some).toMatchObject({ agents: ['ci', 'copilot'] });
});

test('all problems of the rules with agents are named at once', () => {
  const open = { ...OPEN, agents: 'allowed' };
  const dead = { ...open, on: { tags: ['prod'] } };
  const places = problemsOf({ policy: [open, dead] }).map((each) => each.split(':')[0]);
  expect(places).toEqual(['policy[0]', 'policy[1]', 'policy[1]']);
});

test('an agent for itself has the roles of the file, and none that the file does not name', () => {
  expect(agentIdentity(policy(), CI)).toMatchObject({ ok: true, actor: { roles: ['operator'] } });
  const gone = { ok: false, refusal: 'agent-not-admitted' };
  expect(agentIdentity(policy(), agentId('gone'))).toEqual(gone);
});

const everything = actor(CI, 'operator', 'approver');

test.for(VERBS)('attack: %s by the identity of an agent', (verb) => {
  for (const state of ['draft', 'pending', 'approved', 'succeeded', 'unknown'] as const) {
    for (const requester of [ana.id, CI]) {
      const change = changeIn(state, { requester, via: ITSELF });
      expect(gate(change, verb, pressed(change, everything))).toMatchObject({ refusal: 'bot' });
    }
  }
});

test('attack: an approval by the identity of an agent counts nowhere', () => {
  const approvals = [CI, ben.id].map((by) => ({ by, at: NOON }));
  const rolesOf = () => ['approver'];
  const status = approvalStatus(REQUIRES, changeIn('pending', { approvals }), rolesOf);
  expect(status).toMatchObject({ met: false, counted: [ben.id] });
});

/** What an agent asked for itself, before it waits for approvals. */
const own = (over: Partial<Change> = {}) =>
  changeIn('draft', { requester: CI, via: ITSELF, ...over });
const unapproved = { requires: { ...REQUIRES, from: null, count: 0 } };
const ci = { by: CI, identity: { ok: true, actor: everything } } as const;

test.for<[string, Change, object]>([
  ['it asked for itself', own(), { type: 'confirmed', by: CI }],
  ['the rule asks for no approval', own(unapproved), { refusal: 'approvals-missing' }],
  ['a person has to confirm', own({ via: FOR_ANA }), { refusal: 'not-requester' }],
  ['another agent asked', own({ requester: agentId('other') }), { refusal: 'not-requester' }],
  ['it waits already', own({ state: 'pending' }), { refusal: 'not-draft' }],
])('a request waits for approvals without a confirmation: %s', ([, change, expected]) => {
  expect(gate(change, 'submit', ci)).toMatchObject(expected);
});

test('nothing is submitted for a person, also not by that person', () => {
  const change = changeIn('draft', { via: FOR_ANA });
  const facts = { by: ana.id, identity: { ok: true, actor: ana } } as const;
  expect(gate(change, 'submit', facts)).toMatchObject({ refusal: 'not-requester' });
});

test('an agent that the file does not name any more submits nothing', () => {
  const facts = { by: CI, identity: agentIdentity({ agents: new Map() }, CI) };
  expect(gate(own(), 'submit', facts)).toMatchObject({ refusal: 'agent-not-admitted' });
});

const anaHere = { by: ana.id, identity: { ok: true, actor: ana }, via: FOR_ANA } as const;
const byCopilot = (state: Change['state'], over: Partial<Change> = {}) =>
  changeIn(state, { via: FOR_ANA, ...over });

test.for<[string, Change, object]>([
  ['its own draft', byCopilot('draft'), { type: 'cancelled', via: FOR_ANA }],
  ['its own request', byCopilot('approved'), { type: 'cancelled' }],
  ['what was sent', byCopilot('executing'), { refusal: 'already-decided' }],
  ['what the person asked for', changeIn('pending'), { refusal: 'not-requester' }],
  [
    'what another agent asked for',
    byCopilot('pending', { via: { ...FOR_ANA, agent: 'other' } }),
    { refusal: 'not-requester' },
  ],
  ['of another person', byCopilot('pending', { requester: ben.id }), { refusal: 'not-requester' }],
])('an agent withdraws %s', ([, change, expected]) => {
  expect(gate(change, 'withdraw', anaHere)).toMatchObject(expected);
});

test('an agent withdraws nothing for a person who left', () => {
  const facts = { ...anaHere, ...deactivated };
  const refused = { refusal: 'deactivated' };
  expect(gate(byCopilot('pending'), 'withdraw', facts)).toMatchObject(refused);
});

const deactivated = { identity: { ok: false, refusal: 'deactivated' } } as const;

test.for<[string, Actor, object, object]>([
  ['an approver', ben, {}, { type: 'cancelled', by: ben.id }],
  ['an operator', actor('U0FINN', 'operator'), {}, { refusal: 'not-an-approver' }],
  ['an approver who left', ben, deactivated, { refusal: 'deactivated' }],
])('%s cancels what an agent asked for itself', ([, who, over, expected]) => {
  const change = changeIn('approved', { requester: CI, via: ITSELF });
  const facts = { ...pressed(change, who), ...over };
  expect(gate(change, 'cancel', facts)).toMatchObject(expected);
});

test('an approver cancels nothing that a person asked for, also through an agent', () => {
  for (const via of [null, FOR_ANA]) {
    const change = changeIn('approved', { via });
    const facts = pressed(change, ben);
    expect(gate(change, 'cancel', facts)).toMatchObject({ refusal: 'not-requester' });
  }
});

test('what an agent asked for does not run once no rule admits the agent', () => {
  const requires = { ...REQUIRES, count: 1 };
  const change = changeIn('approved', { via: FOR_ANA, requires });
  const [rule] = policyThatRequires(requires).rules;
  const claim = (agents?: 'allowed' | readonly string[]) => {
    const rules = rule ? [{ ...rule, ...(agents && { agents }) }] : [];
    const policy = { ...policyThatRequires(requires), rules, agents: AGENTS };
    return gate(change, 'claim', claiming(change, { policy }));
  };
  expect(claim('allowed')).toMatchObject({ type: 'claimed' });
  expect(claim(['ci'])).toMatchObject({ refusal: 'agent-not-admitted', ends: { type: 'denied' } });
  expect(claim()).toMatchObject({ refusal: 'agent-not-admitted' });
});

test('who asked, and what the agent says, change the digest', () => {
  const change = changeIn('pending');
  const digests = [
    change,
    { ...change, via: FOR_ANA },
    { ...change, via: { ...FOR_ANA, agent: 'other' } },
    { ...change, via: { ...FOR_ANA, subject: 'other' } },
    { ...change, via: FOR_ANA, words: 'the load is over' },
  ].map((each) => planDigest(each));
  expect(new Set(digests).size).toBe(5);
});

test.for<[string, string | null]>([
  ['the night load is over', 'the night load is over'],
  ['*bold* _it_ `code` ~no~ | @ana #db <!here> <@U0ANA>', 'bold it code no ana db !here U0ANA'],
  ['see https://evil.example/x?y=1 now, or slack://open', 'see now, or'],
  ['line\nbreak\u2028and\ttab', 'line break and tab'],
  ['“quoted” "quotes" (all) [of] {them}', 'quoted quotes all of them'],
  ['turn\u202eed \u200bround\u{e0041}\ufe0f', 'turned round'],
  ['x'.repeat(200), `${'x'.repeat(179)}…`],
  ['\u200b <> ', null],
  ['', null],
])('of the words of an agent, %j, people read %j', ([text, shown]) => {
  expect(agentWords(text)).toBe(shown);
});

test('the words of an agent are one bounded line without markup, whatever it says', () => {
  const points = fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0x10ffff }));
  const text = fc
    .array(points, { maxLength: 400 })
    .map((all) => String.fromCodePoint(...all).toWellFormed());
  fc.assert(
    fc.property(text, (said) => {
      const words = agentWords(said) ?? '';
      expect(words).not.toMatch(/[<>&*_~`|@#“”"\\[\](){}\n\r]|:\/\//u);
      expect(words).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect([...words].length).toBeLessThanOrEqual(180);
    }),
  );
});
