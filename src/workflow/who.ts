// `/change who`: which rule decides, who may request and approve now, and which freezes apply.

import {
  changesFreezes,
  takesService,
  untaggedTarget,
  type WhoQueries,
  type WhoQuestion,
} from '../commands/index.ts';
import type { Answer, AnswerPart, InlinePart } from '../domain/answer.ts';
import {
  type Actor,
  type RoleName,
  TARGET_TRAITS,
  type Target,
  type UserId,
} from '../domain/change.ts';
import {
  freezeTarget,
  freezeWords,
  scopeText,
  selectorText,
  servicesIn,
} from '../domain/freezes.ts';
import { gate } from '../domain/gate.ts';
import {
  admitsAgent,
  type Freeze,
  neverRuleFor,
  type Policy,
  type Rule,
  reachable,
  upcomingFreezes,
} from '../domain/policy.ts';
import { type PolicyFacts, serviceTarget } from '../domain/targets.ts';
import { spanText } from '../domain/timing.ts';
import type { DecisionContext } from './context.ts';
import { currentPolicy } from './target.ts';

/** Explains which rule decides, who may request and approve now, and which freezes apply. */
export function createWhoQueries(context: WhoContext): WhoQueries {
  return async (question, { by }) => {
    const policy = await currentPolicy(context, context.events);
    const targets = targetsOf(context, question);
    const identity = await context.people.identify(by, { fresh: false });
    const asker: Actor = { id: by, roles: identity.ok ? identity.actor.roles : [] };
    return answerFor(context, policy, { ...question, target: null, asker }, targets);
  };
}

type WhoContext = Pick<
  DecisionContext,
  'events' | 'policy' | 'services' | 'discoversServices' | 'people' | 'now' | 'commands'
>;

/** The command and target of a question, and the user who asks. */
interface WhoSubject {
  readonly command: string;
  readonly scope: WhoQuestion['scope'];
  readonly target: Target | null;
  readonly asker: Actor;
}

async function answerFor(
  context: WhoContext,
  policy: Policy,
  subject: WhoSubject,
  targets: readonly Target[] | null,
): Promise<Answer> {
  const cases = targets
    ? casesOf(context, policy, subject, targets)
    : casesOfRules(context, policy, subject);
  const drawn = await Promise.all(cases.map((one) => drawCase(context, policy, one, cases.length)));
  const tags = tagLines(targets ?? []);
  const isScope = targets?.some(({ kind }) => kind === 'freeze');
  const hasScope = subject.scope && (tags.length > 0 || isScope);
  const on = subject.scope && hasScope ? ` on ${scopeText(subject.scope)}` : '';
  return {
    title: `Who may use /${subject.command}${on}`,
    parts: [
      ...(tags.length > 0 ? [{ kind: 'lines', lines: tags } as const] : []),
      ...(cases.length === 0 ? [{ kind: 'text', text: NOBODY } as const] : drawn),
      ...blockers(context, policy, subject, targets),
      ...(targets === null && cases.length > 1 ? [SEVERAL] : []),
    ],
  };
}

const NOBODY = 'No one: no rule allows it.';

const SEVERAL: AnswerPart = {
  kind: 'note',
  text: 'The first rule that matches the service decides. Add a service, tag= or warehouse= to see which one.',
};

/** The targets for which the same rule makes the same decision. */
interface Case {
  /** Why no rule decides, or the rule. */
  readonly rule: Rule | string;
  readonly subject: WhoSubject;
  readonly targets: readonly Target[];
}

/** Without a target: one case for each rule that can decide. */
function casesOfRules(context: WhoContext, policy: Policy, subject: WhoSubject): readonly Case[] {
  if (!context.commands.has(subject.command)) return casesOf(context, policy, subject, [null]);
  return reachable(policy, subject.command).map((rule) => ({ rule, subject, targets: [] }));
}

function casesOf(
  context: WhoContext,
  policy: Policy,
  question: WhoSubject,
  targets: readonly (Target | null)[],
): readonly Case[] {
  const found = new Map<string, Case>();
  for (const target of targets) {
    const subject = { ...question, target };
    const { rule, refusal } = decideFor(context, policy, subject, [...policy.roles.keys()]);
    const key = [rule?.requires.rule, refusal].join();
    const same = found.get(key);
    const own = [...(same?.targets ?? []), ...(target ? [target] : [])];
    const decides = refusal === 'no-rule' || refusal === 'not-verified' ? null : rule;
    const name = target?.name ?? 'this target';
    const lacks =
      refusal === 'not-verified'
        ? `the server did not return those of ${name}`
        : `signalbox.yaml has none for ${name}`;
    const why = `No one: a rule needs tags or a warehouse, and ${lacks}. Later rules do not count.`;
    const one = { subject, rule: decides ?? (rule ? why : NOBODY) };
    found.set(key, { ...one, ...same, targets: own });
  }
  return [...found.values()];
}

async function drawCase(
  context: WhoContext,
  policy: Policy,
  { rule, subject, targets }: Case,
  cases: number,
): Promise<AnswerPart> {
  const names = targets.map(({ name }) => name).join(', ');
  const over: readonly InlinePart[] = cases > 1 && names ? [{ bold: names }] : [];
  const lines =
    typeof rule === 'string' ? [[rule]] : await ruleLines(context, policy, rule, subject);
  return { kind: 'lines', lines: over.length > 0 ? [over, ...lines] : lines };
}

function blockers(
  { commands, now }: WhoContext,
  policy: Policy,
  subject: WhoSubject,
  targets: readonly Target[] | null,
): readonly AnswerPart[] {
  if (!commands.has(subject.command)) return [];
  const over: readonly (Target | null)[] = targets ?? [null];
  const nevers = over.flatMap((target) => neverRuleFor(policy, { ...subject, target }) ?? []);
  const some = targets?.length === 1 ? '' : 'on some targets; ';
  const neverLines = [...new Set(nevers)].map((never): readonly InlinePart[] => [
    { bold: 'Never ' },
    `(${some}not even with break-glass): ${never.reason}`,
  ]);
  // Freezes do not apply to the commands that make and lift them.
  const applicable = changesFreezes(commands.get(subject.command)) ? [] : policy.freezes;
  const near = over.flatMap((target) => upcomingFreezes(applicable, target, now()));
  const frozen = [...new Set<Freeze>(near)].map((freeze): readonly InlinePart[] => [
    { bold: 'Frozen: ' },
    ...freezeWords(freeze),
  ]);
  const lines = [...neverLines, ...frozen];
  return lines.length > 0 ? [{ kind: 'lines', lines }] : [];
}

/** Returns the targets of a question; null where it names none, so that any rule may decide. */
function targetsOf(context: WhoContext, { command, scope }: WhoQuestion): readonly Target[] | null {
  const change = context.commands.get(command);
  const services = context.services();
  if (changesFreezes(change)) return scope && [freezeTarget(scope, services)];
  if (change && !takesService(change)) return [untaggedTarget(command)];
  if (!scope || 'everything' in scope) return null;
  return servicesIn(scope, services).map(serviceTarget);
}

const NAMED_MAX = 8;

/** Lists the tags and warehouses of the targets, by which rules select them. */
function tagLines(targets: readonly Target[]): readonly (readonly InlinePart[])[] {
  const shown = targets.filter(({ kind }) => TARGET_TRAITS[kind].listedIn === 'services');
  const rest = shown.length - NAMED_MAX;
  return [
    ...shown.slice(0, NAMED_MAX).map((target) => [{ bold: target.name }, tagText(target)]),
    ...(rest > 0 ? [[`and ${rest} more`]] : []),
  ];
}

function tagText({ tags, warehouse, discovered }: PolicyFacts): string {
  if (discovered) return discoveredText(tags, warehouse);
  if (tags === null) return ' is not listed in signalbox.yaml, and so has no tags';
  const tagged = tags.length > 0 ? `tagged ${tags.join(', ')}` : 'without a tag';
  return ` is ${tagged}${warehouse ? `, in warehouse ${warehouse}` : ''}`;
}

function discoveredText(tags: PolicyFacts['tags'], warehouse: string | null): string {
  if (tags === null)
    return ' is not listed in signalbox.yaml, and its tags on the server are unknown';
  const tagged = tags.length > 0 ? `tagged ${tags.join(', ')}` : 'without a tag of the policy';
  const place = warehouse === null ? ', in an unknown warehouse' : `, in warehouse ${warehouse}`;
  return ` is not listed in signalbox.yaml. On the server it is ${tagged}${place}`;
}

/** Returns the decision about a user with these roles who gives a long enough reason. */
function decideFor(
  { commands, now }: WhoContext,
  policy: Policy,
  { command, target, asker }: WhoSubject,
  roles: readonly RoleName[],
) {
  const verb = commands.has(command) ? 'request' : 'query';
  const proposal = { command, target, reason: '-'.repeat(500) };
  const identity = { ok: true, actor: { id: asker.id, roles } } as const;
  const answer = gate(proposal, verb, { identity, policy, now: now() });
  return { refusal: null, ...answer };
}

type TextLine = readonly InlinePart[];

/** Describes one rule, with the current members of its roles. */
async function ruleLines(
  context: WhoContext,
  policy: Policy,
  rule: Rule,
  subject: WhoSubject,
): Promise<readonly TextLine[]> {
  const about = rule.on ? selectorText(rule.on).toLowerCase() : 'everything';
  const isChange = context.commands.has(subject.command);
  return [
    [{ bold: 'Applies to: ' }, about],
    [
      { bold: 'Request: ' },
      ...(await peopleOf(context, policy, rule.requires.to)),
      ...reasonOf(rule, isChange),
    ],
    ...(isChange ? await approvalLines(context, policy, rule) : []),
    ...(isChange ? [await breakGlassLine(context, policy, rule)] : []),
    ...(isChange ? discoveredLine(context, rule, subject) : []),
    ...(isChange ? agentsLine(policy, rule) : []),
    [{ bold: 'You: ' }, ...ownLine(context, policy, rule, subject)],
  ];
}

function reasonOf({ leastReason }: Rule, isChange: boolean): TextLine {
  if (!isChange || leastReason === 0) return [];
  const least = leastReason > 1 ? ` of at least ${leastReason} characters` : '';
  return [`. A reason${least} is required`];
}

async function approvalLines(
  context: WhoContext,
  policy: Policy,
  { requires }: Rule,
): Promise<readonly TextLine[]> {
  const { from, count, self, escalation, expiresAfterMs } = requires;
  if (from === null) return [[{ bold: 'Approve: ' }, 'not required']];
  const who = await peopleOf(context, policy, from);
  const ownApproval = self ? ' The requester may approve too.' : ' The requester does not count.';
  const first: TextLine = [
    { bold: 'Approve: ' },
    `${count} of `,
    ...who,
    `, within ${spanText(expiresAfterMs)}.${ownApproval}`,
  ];
  if (!escalation) return [first];
  const later: TextLine = [
    { bold: `After ${spanText(escalation.afterMs)}: ` },
    'also ',
    ...(await peopleOf(context, policy, escalation.to)),
  ];
  return [first, later];
}

async function breakGlassLine(
  context: WhoContext,
  policy: Policy,
  { requires: { breakGlass } }: Rule,
): Promise<TextLine> {
  const bold = { bold: 'Break-glass: ' };
  if (breakGlass === null) return [bold, 'no one'];
  return [bold, ...(await peopleOf(context, policy, breakGlass))];
}

/** Shown with extended reads, unless the target is known to be in the file. */
function discoveredLine(
  { discoversServices }: WhoContext,
  { discovered, on }: Rule,
  { target }: WhoSubject,
): readonly TextLine[] {
  const isListed = target !== null && !target.discovered;
  if (!discoversServices || isListed || on?.services) return [];
  const bold = { bold: 'Services that are not in signalbox.yaml: ' };
  return [[bold, discovered ? 'allowed' : 'not allowed by this rule']];
}

/** Shown where the file names agents. */
function agentsLine(policy: Policy, rule: Rule): readonly TextLine[] {
  const all = [...(policy.agents?.keys() ?? [])];
  if (all.length === 0) return [];
  const admitted = all.filter((agent) => admitsAgent(policy, rule, { agent }));
  return [[{ bold: 'Agents: ' }, admitted.length > 0 ? admitted.join(', ') : 'none']];
}

/** `@db-leads (3 now: Ben, Cleo, Gus)`: active members of a role. */
async function peopleOf(context: WhoContext, policy: Policy, role: RoleName): Promise<TextLine> {
  const members = await context.people.someMembers(role);
  const groups = policy.roles.get(role)?.groups ?? [];
  const name = groups.join(' or ') || `the role ${role}`;
  if (members === null) return [`${name} (Slack did not answer the membership lookup)`];
  const { users, more } = members;
  if (users.length === 0) return [more ? name : `${name} (no active members)`];
  if (more) return [`${name} (for example `, ...listOf(users), ')'];
  return [`${name} (${users.length} now: `, ...listOf(users), ')'];
}

function listOf(members: readonly UserId[]): TextLine {
  return members.flatMap((user, index): InlinePart[] => {
    return index > 0 ? [', ', { user }] : [{ user }];
  });
}

/** What would happen if the user who asks requested the command now, with a reason. */
function ownLine(context: WhoContext, policy: Policy, rule: Rule, subject: WhoSubject): TextLine {
  const { asker } = subject;
  const { to, from, count } = rule.requires;
  const mayDecide = from !== null && asker.roles.includes(from);
  const decide = mayDecide ? ' You may approve requests of others.' : '';
  if (!asker.roles.includes(to)) {
    return [`refused: this rule does not admit you.${decide}`];
  }
  const { refusal } = decideFor(context, policy, subject, asker.roles);
  if (refusal === 'not-listed') {
    return [`refused: this service is not in signalbox.yaml.${decide}`];
  }
  if (refusal === 'frozen') return [`refused now: it is frozen.${decide}`];
  if (refusal === 'never') return [`refused, like everyone.${decide}`];
  const needed = count > 0 && context.commands.has(subject.command);
  return [`you may request it${needed ? ', and it needs these approvals' : ''}.${decide}`];
}
