// `/change who`: which rule decides, who may request and approve now, and which freezes apply.

import { z } from 'zod';
import { spanText } from '../base/text.ts';
import { type Answer, type AnswerPart, type Caller, textAnswer } from '../domain/answer.ts';
import { type Actor, type RoleName, TARGET_TRAITS, type Target } from '../domain/change.ts';
import {
  EVERYTHING,
  freezeTarget,
  freezeWords,
  type Scope,
  scopeOf,
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
import { type PolicyFacts, type Service, serviceTarget } from '../domain/targets.ts';
import { fieldsOf, SCOPE_KEYS } from './arguments.ts';
import {
  type ChangeCommand,
  type CommandContext,
  nounOf,
  type Phrase,
  type PhraseState,
  queryCommand,
} from './define.ts';
import type { TextLine } from './reported.ts';
import { verbAt } from './verbs.ts';

export const changeWho = queryCommand({
  name: 'change who',
  program: 'read',
  title: 'Look up permissions',
  summary: 'Show who may use a command, who approves it, and by which rule',
  examples: [
    'change who service stop analytics-prod',
    'change who service scale tag=prod',
    'change who alert edit',
  ],
  args: z.strictObject({
    ask: z.string().min(1).max(60).meta({ label: 'Command', names: 'ask' }),
    scope: z.string().min(1).max(100).optional().meta({ label: 'Service', names: 'scope' }),
    ...SCOPE_KEYS,
  }),

  phrase: askPhrase,
  answer: ({ ask, ...about }, context, asker) =>
    Object.values(about).filter((one) => one !== undefined).length > 1
      ? textAnswer('Choose one target', 'Name exactly one of: a service, tag= or warehouse=.')
      : answerWho({ command: ask.id, scope: scopeOf(about) }, context, asker),
});

/** `stop`, `service stop` → the name of the command. */
function askPhrase(words: readonly string[], { given, vocabulary }: PhraseState): Phrase | null {
  if (given.ask !== undefined) return null;
  const typed = words.map((text) => ({ text, quoted: false }));
  const changes = vocabulary.commands.filter(({ kind }) => kind === 'change');
  const own = changes.filter((command) => nounOf(command) === words[0]?.toLowerCase());
  const found = own.length > 0 ? verbAt(typed.slice(1), own) : verbAt(typed, changes);
  if (!found && own.length > 0) return { taken: 2, given: { ask: words.slice(0, 2).join(' ') } };
  if (!found) return null;
  const taken = words.length - found.rest.length;
  return { taken, given: { ask: found.command.name } };
}

export function changesFreezes(change: ChangeCommand | undefined): boolean {
  return change?.call === 'PUT freeze';
}

export function takesService({ args }: Pick<ChangeCommand, 'args'>): boolean {
  return fieldsOf(args).some(({ names }) => names === 'service');
}

/** An alert or a new service. Neither has tags or a warehouse. */
export function untaggedTarget(command: string): Target {
  const kind = command.startsWith('alert') ? 'alert' : 'new service';
  return { kind, id: EVERYTHING.id, name: command, tags: [], warehouse: null };
}

/** A command, who asks, and what is true now. */
interface Question extends Pick<CommandContext['who'], 'people' | 'discoversServices'> {
  readonly command: string;
  /** The command, where it is a change. */
  readonly change: ChangeCommand | undefined;
  readonly policy: Policy;
  readonly asker: Actor;
  readonly now: Date;
}

/** Explains which rule decides, who may request and approve now, and which freezes apply. */
export async function answerWho(
  { command, scope }: { readonly command: string; readonly scope: Scope | null },
  { who, services, now }: Pick<CommandContext, 'who' | 'services' | 'now'>,
  { by }: Caller,
): Promise<Answer> {
  const { people, discoversServices } = who;
  const identity = await people.identify(by, { fresh: false });
  const question: Question = {
    ...{ command, people, discoversServices, now: now() },
    change: who.commands.get(command),
    policy: await who.policy(),
    asker: { id: by, roles: identity.ok ? identity.actor.roles : [] },
  };
  const targets = targetsOf(question, scope, services);
  const cases = casesOf(question, targets);
  const drawn = await Promise.all(cases.map((one) => drawCase(question, one, cases.length > 1)));
  const tags = tagLines(targets ?? []);
  const isNamed = tags.length > 0 || targets?.some(({ kind }) => kind === 'freeze');
  return {
    title: `Who may use /${command}${scope && isNamed ? ` on ${scopeText(scope)}` : ''}`,
    parts: [
      ...(tags.length > 0 ? [{ kind: 'lines', lines: tags } as const] : []),
      ...(cases.length === 0 ? [{ kind: 'text', text: NOBODY } as const] : drawn),
      ...blockers(question, targets ?? [null]),
      ...(targets === null && cases.length > 1 ? [SEVERAL] : []),
    ],
  };
}

const NOBODY = 'No one: no rule allows it.';

const SEVERAL: AnswerPart = {
  kind: 'note',
  text: 'The first rule that matches the service decides. Add a service, tag= or warehouse= to see which one.',
};

/** Returns the targets of a question; null where it names none, so that any rule may decide. */
function targetsOf(
  { command, change }: Question,
  scope: Scope | null,
  services: readonly Service[],
): readonly Target[] | null {
  if (changesFreezes(change)) return scope && [freezeTarget(scope, services)];
  if (change && !takesService(change)) return [untaggedTarget(command)];
  if (!scope || 'everything' in scope) return null;
  return servicesIn(scope, services).map(serviceTarget);
}

/** The targets for which the same rule makes the same decision. */
interface Case {
  /** Why no rule decides, or the rule. */
  readonly rule: Rule | string;
  /** The first one. */
  readonly target: Target | null;
  readonly names: readonly string[];
}

/** Without a target: one case for each rule that can decide. */
function casesOf(question: Question, targets: readonly Target[] | null): readonly Case[] {
  const { command, change, policy } = question;
  if (!targets && change)
    return reachable(policy, command).map((rule) => ({ rule, target: null, names: [] }));
  const found = new Map<string, Case>();
  for (const target of targets ?? [null]) {
    const { rule, refusal } = decideFor(question, target, [...policy.roles.keys()]);
    const key = [rule?.requires.rule, refusal].join();
    const same = found.get(key);
    const decides = refusal === 'no-rule' || refusal === 'not-verified' ? null : rule;
    const name = target?.name ?? 'this target';
    const lacks =
      refusal === 'not-verified'
        ? `the server did not return those of ${name}`
        : `signalbox.yaml has none for ${name}`;
    const why = `No one: a rule needs tags or a warehouse, and ${lacks}. Later rules do not count.`;
    const one = { target, rule: decides ?? (rule ? why : NOBODY) };
    const names = [...(same?.names ?? []), ...(target ? [target.name] : [])];
    found.set(key, { ...one, ...same, names });
  }
  return [...found.values()];
}

async function drawCase(
  question: Question,
  { rule, target, names }: Case,
  isOneOfSeveral: boolean,
): Promise<AnswerPart> {
  const over = isOneOfSeveral && names.length > 0 ? [[{ bold: names.join(', ') }]] : [];
  const lines = typeof rule === 'string' ? [[rule]] : await ruleLines(question, rule, target);
  return { kind: 'lines', lines: [...over, ...lines] };
}

function blockers(
  { command, change, policy, now }: Question,
  targets: readonly (Target | null)[],
): readonly AnswerPart[] {
  if (!change) return [];
  const nevers = targets.flatMap((target) => neverRuleFor(policy, { command, target }) ?? []);
  const some = targets.length === 1 && targets[0] ? '' : 'on some targets; ';
  const neverLines = [...new Set(nevers)].map(
    (never): TextLine => [
      { bold: 'Never ' },
      `(${some}not even with break-glass): ${never.reason}`,
    ],
  );
  // Freezes do not apply to the commands that make and lift them.
  const applicable = changesFreezes(change) ? [] : policy.freezes;
  const near = targets.flatMap((target) => upcomingFreezes(applicable, target, now));
  const frozen = [...new Set<Freeze>(near)].map(
    (freeze): TextLine => [{ bold: 'Frozen: ' }, ...freezeWords(freeze)],
  );
  const lines = [...neverLines, ...frozen];
  return lines.length > 0 ? [{ kind: 'lines', lines }] : [];
}

const NAMED_MAX = 8;

/** Lists the tags and warehouses of the targets, by which rules select them. */
function tagLines(targets: readonly Target[]): readonly TextLine[] {
  const shown = targets.filter(({ kind }) => TARGET_TRAITS[kind].listedIn === 'services');
  const rest = shown.length - NAMED_MAX;
  return [
    ...shown.slice(0, NAMED_MAX).map((target) => [{ bold: target.name }, tagText(target)]),
    ...(rest > 0 ? [[`and ${rest} more`]] : []),
  ];
}

function tagText({ tags, warehouse, discovered }: PolicyFacts): string {
  const unlisted = ' is not listed in signalbox.yaml';
  if (tags === null)
    return `${unlisted}, and ${discovered ? 'its tags on the server are unknown' : 'so has no tags'}`;
  const untagged = discovered ? 'without a tag of the policy' : 'without a tag';
  const tagged = tags.length > 0 ? `tagged ${tags.join(', ')}` : untagged;
  const unknown = discovered ? ', in an unknown warehouse' : '';
  const place = warehouse ? `, in warehouse ${warehouse}` : unknown;
  return `${discovered ? `${unlisted}. On the server it is` : ' is'} ${tagged}${place}`;
}

/** Returns the decision about a user with these roles who gives a long enough reason. */
function decideFor(
  { command, change, policy, asker, now }: Question,
  target: Target | null,
  roles: readonly RoleName[],
) {
  const proposal = { command, target, reason: '-'.repeat(500) };
  const identity = { ok: true, actor: { id: asker.id, roles } } as const;
  const answer = gate(proposal, change ? 'request' : 'query', { identity, policy, now });
  return { refusal: null, ...answer };
}

/** Describes one rule, with the current members of its roles. */
async function ruleLines(question: Question, rule: Rule, target: Target | null) {
  const about = rule.on ? selectorText(rule.on).toLowerCase() : 'everything';
  const { leastReason } = rule;
  const least = leastReason > 1 ? ` of at least ${leastReason} characters` : '';
  const reason = question.change && leastReason > 0 ? [`. A reason${least} is required`] : [];
  const members = await peopleOf(question, rule.requires.to);
  return [
    [{ bold: 'Applies to: ' }, about],
    [{ bold: 'Request: ' }, ...members, ...reason],
    ...(question.change ? await changeLines(question, rule, target) : []),
    [{ bold: 'You: ' }, ownText(question, rule, target)],
  ];
}

/** What a rule says about changes only. */
async function changeLines(question: Question, rule: Rule, target: Target | null) {
  const { policy, discoversServices } = question;
  const { discovered, on } = rule;
  const { breakGlass } = rule.requires;
  const alone = breakGlass ? await peopleOf(question, breakGlass) : ['no one'];
  const isListed = target !== null && !target.discovered;
  const allowed = discovered ? 'allowed' : 'not allowed by this rule';
  const agents = [...(policy.agents?.keys() ?? [])];
  const admitted = agents.filter((agent) => admitsAgent(policy, rule, { agent }));
  return [
    ...(await approvalLines(question, rule)),
    [{ bold: 'Break-glass: ' }, ...alone],
    // With extended reads, unless the target is known to be in the file.
    ...(discoversServices && !isListed && !on?.services
      ? [[{ bold: 'Services that are not in signalbox.yaml: ' }, allowed]]
      : []),
    // Where the file names agents.
    ...(agents.length > 0 ? [[{ bold: 'Agents: ' }, admitted.join(', ') || 'none']] : []),
  ];
}

async function approvalLines(question: Question, { requires }: Rule): Promise<readonly TextLine[]> {
  const { from, count, self, escalation, expiresAfterMs } = requires;
  if (from === null) return [[{ bold: 'Approve: ' }, 'not required']];
  const own = self ? 'The requester may approve too.' : 'The requester does not count.';
  const within = `, within ${spanText(expiresAfterMs)}. ${own}`;
  const first = [
    { bold: 'Approve: ' },
    `${count} of `,
    ...(await peopleOf(question, from)),
    within,
  ];
  if (!escalation) return [first];
  const later = await peopleOf(question, escalation.to);
  return [first, [{ bold: `After ${spanText(escalation.afterMs)}: ` }, 'also ', ...later]];
}

/** `@db-leads (3 now: Ben, Cleo, Gus)`: active members of a role. */
async function peopleOf({ people, policy }: Question, role: RoleName): Promise<TextLine> {
  const members = await people.someMembers(role);
  const groups = policy.roles.get(role)?.groups ?? [];
  const name = groups.join(' or ') || `the role ${role}`;
  if (members === null) return [`${name} (the membership lookup in Slack failed)`];
  const { users, more } = members;
  if (users.length === 0) return [more ? name : `${name} (no active members)`];
  const listed = users.flatMap((user, index) => [...(index > 0 ? [', '] : []), { user }]);
  return [`${name} (${more ? 'for example' : `${users.length} now:`} `, ...listed, ')'];
}

/** What would happen if the user who asks requested the command now, with a reason. */
function ownText(question: Question, rule: Rule, target: Target | null): string {
  const { roles } = question.asker;
  const { refusal } = decideFor(question, target, roles);
  const { to, from, count } = rule.requires;
  const needs = question.change && count > 0;
  const text = roles.includes(to)
    ? (REFUSED[refusal ?? ''] ??
      `you may request it${needs ? ', and it needs these approvals' : ''}.`)
    : 'refused: this rule does not admit you.';
  const mayDecide = from !== null && roles.includes(from);
  return mayDecide ? `${text} You may approve requests of others.` : text;
}

const REFUSED: Readonly<Record<string, string>> = {
  'not-listed': 'refused: this service is not in signalbox.yaml.',
  frozen: 'refused now: it is frozen.',
  never: 'refused, like everyone.',
};
