// `signalbox policy prove`: decides every request that the rules can tell apart, by the function that the bot uses. Says
// which rules never decide, which roles can approve nothing, and which statements about the policy do not hold.

import { type ConfigProblem, quoted } from '../base/problem.ts';
import {
  type Command,
  changesFreezes,
  commands,
  takesService,
  untaggedTarget,
} from '../commands/index.ts';
import { countWords } from '../domain/answer.ts';
import { combineRequirements } from '../domain/approvals.ts';
import type { Actor, Requirement, RoleName, Target } from '../domain/change.ts';
import { freezeTarget, scopesOf, servicesIn } from '../domain/freezes.ts';
import { decide, type Policy, type PolicyQuestion, type Rule, selects } from '../domain/policy.ts';
import { type AllowedChange, allowedTarget, USUAL_USES } from '../domain/standing.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import {
  answerOf,
  decidedText,
  LONG_REASON,
  minuteText,
  NOBODY,
  type PolicyAnswer,
} from './policy-cases.ts';

/** What is proved: the policy of a file and the services that it lists. */
export interface ProvedFile {
  readonly policy: Policy;
  readonly services: readonly Service[];
  /** Whether the server decides about the services that the file omits. */
  readonly discoversServices: boolean;
  /** The tags of the server that rules may name. */
  readonly serverTags: readonly string[];
  /** Missing or one: no target names one. */
  readonly organizations?: readonly NonNullable<Target['organization']>[];
}

/** Targets that every rule, freeze and `never` treats alike. Null: a query about everything. */
interface ProvedPlace {
  readonly target: Target | null;
  readonly names: readonly string[];
  /** What a standing approval allows: the rules of all of it decide too. Empty for any other command. */
  readonly covered: readonly AllowedChange[];
}

type Requester = ReturnType<typeof requesterOf>;

export interface Case {
  readonly command: string;
  readonly place: ProvedPlace;
  readonly requester: Requester;
  readonly at: Date;
  readonly answer: PolicyAnswer;
  /** The rule that decided. */
  readonly rule: Rule | null;
}

/** Decides everything that can differ, from `now` on. */
function* casesOf(file: ProvedFile, now: Date): Generator<Case> {
  const requesters = requestersOf(file.policy);
  const moments = momentsOf([file.policy], now);
  for (const command of commands) {
    for (const place of alike(targetsOf(command, file), file.policy)) {
      yield* decisionsOn(file.policy, { command, place, requesters, moments });
    }
  }
}

interface Questions {
  readonly command: Command;
  readonly place: ProvedPlace;
  readonly requesters: readonly Requester[];
  readonly moments: readonly Date[];
}

// Which rule decides depends on command and target only. So it is found once; every requester and moment is then
// decided by a policy that has this rule alone.
export function* decisionsOn(
  policy: Policy,
  { command, place, requesters, moments }: Questions,
): Generator<Case> {
  const { name, kind } = command;
  const asked = { command: name, kind, target: place.target, reason: LONG_REASON };
  const everyRole = { id: NOBODY, roles: [...policy.roles.keys()] };
  const [first = new Date(0)] = moments;
  const onlyRule = (question: Omit<PolicyQuestion, 'actor' | 'now'>) => {
    const { rule } = decide(policy, { ...question, actor: everyRole, now: first });
    return { question, rule, own: { ...policy, rules: rule ? [rule] : [] } };
  };
  const { rule, own } = onlyRule(asked);
  const covered = place.covered.map((each) => onlyRule({ ...asked, ...each }));
  for (const requester of requesters) {
    for (const at of moments) {
      const who = { actor: requester.actor, now: at };
      const decision = decide(own, { ...asked, ...who });
      const answer = withCovered(
        answerOf(decision),
        covered.map((each) => answerOf(decide(each.own, { ...each.question, ...who }))),
      );
      const decides = answer.rule === null ? null : rule;
      yield { command: name, place, requester, at, answer, rule: decides };
    }
  }
}

/** A standing approval needs what each change needs that it allows; without approvals it is refused, as its request. */
function withCovered(own: PolicyAnswer, covered: readonly PolicyAnswer[]): PolicyAnswer {
  if (!own.allow || covered.length === 0) return own;
  let requires: Requirement | null = { ...own.requires, breakGlass: null };
  for (const each of covered) {
    if (!each.allow) return each;
    requires =
      each.requires.from === null ? null : requires && combineRequirements(requires, each.requires);
  }
  const refused = {
    allow: false,
    rule: own.rule,
    refusal: 'no-rule',
    detail: NOT_TOGETHER,
  } as const;
  return requires ? { ...own, requires: { ...requires, escalation: null } } : refused;
}

const NOT_TOGETHER = 'what it allows needs no approval, or other approvers';

/** `isPerson`: a person, also through an agent: the person confirms. */
function requesterOf(who: string, roles: readonly RoleName[], agent?: string, isPerson = true) {
  const actor: Actor = { id: NOBODY, roles, ...(agent !== undefined && { agent }) };
  return { who, actor, isPerson };
}

/** Each role, nobody's role, each listed person with several roles, and each agent. */
export function requestersOf({ roles, agents = new Map() }: Policy): readonly Requester[] {
  const users = new Set([...roles.values()].flatMap((role) => role.users));
  const listed = [...users].flatMap((user) => {
    const own = [...roles].filter(([, role]) => role.users.includes(user)).map(([name]) => name);
    return own.length > 1 ? [requesterOf(`${user} (${own.join(', ')})`, own)] : [];
  });
  return [
    ...[...roles.keys()].map((role) => requesterOf(role, [role])),
    requesterOf('a person without a role', []),
    ...listed,
    ...[...agents].flatMap(([agent, own]: [string, readonly RoleName[]]) =>
      own.length > 0
        ? [requesterOf(`agent ${agent}`, own, agent, false)]
        : [...roles.keys()].map((role) =>
            requesterOf(`${role} through agent ${agent}`, [role], agent),
          ),
    ),
  ];
}

/** Now, and each later moment at which a freeze begins or ends: between two of them nothing changes. */
export function momentsOf(policies: readonly Policy[], now: Date): readonly Date[] {
  const changes = policies.flatMap(({ freezes }) =>
    freezes.flatMap(({ from, until }) => [from, until]),
  );
  const times = changes.map((at) => at.getTime()).filter((at) => at > now.getTime());
  return [now.getTime(), ...new Set(times.sort((a, b) => a - b))].map((at) => new Date(at));
}

export interface Named {
  readonly name: string;
  readonly target: Target | null;
  readonly covered?: readonly AllowedChange[];
}

/** Every target of a command: listed and discovered services, the scopes of freezes, or the one that it has. */
export function targetsOf(command: Command, file: ProvedFile): readonly Named[] {
  const { services } = file;
  if (command.kind === 'change' && changesFreezes(command)) {
    return scopesOf(services).map(({ name, scope }) => ({
      name,
      target: freezeTarget(scope, services),
    }));
  }
  if (command.kind === 'change' && command.covers) return allowances(services);
  if (takesService(command)) {
    const listed = services.map((service) => ({
      name: service.name,
      target: serviceTarget(service),
    }));
    return [...listed, ...unlistedTargets(file)];
  }
  if (command.kind === 'query') return [{ name: 'everything', target: null }];
  const target = untaggedTarget(command.name);
  return target.kind === 'alert'
    ? [{ name: 'its target', target }]
    : inEach('its target', target, file);
}

/** Each command that can be allowed, of each scope: what allows two needs what both need. */
function allowances(services: readonly Service[]): readonly Named[] {
  const targets = new Map(services.map((service) => [service, serviceTarget(service)]));
  const scopes = scopesOf(services).filter(({ scope }) => !('everything' in scope));
  return scopes.flatMap(({ scope }) =>
    ALLOWABLE.map((command) => {
      const body = { commands: [command], scope, uses: USUAL_USES, forMs: 0 };
      const target = allowedTarget(body, services);
      const covered = servicesIn(scope, services).flatMap((each) => {
        const own = targets.get(each);
        return own ? [{ command, target: own }] : [];
      });
      return { name: target.name, target, covered };
    }),
  );
}

const ALLOWABLE = ['service scale', 'service start', 'service stop'];

/** The same in each organization, where there are several. */
function inEach(
  name: string,
  target: Target,
  { organizations = [] }: Pick<ProvedFile, 'organizations'>,
): readonly Named[] {
  if (organizations.length < 2) return [{ name, target }];
  return organizations.map((organization) => {
    const full = `${name} in ${organization.name}`;
    return { name: full, target: { ...target, organization } };
  });
}

export const UNLISTED = 'unlisted';

function unlistedTargets(file: ProvedFile): readonly Named[] {
  const { discoversServices, serverTags } = file;
  const unlisted = { kind: 'service', id: UNLISTED, warehouse: null } as const;
  if (!discoversServices) {
    const name = 'a service that the file does not list';
    return inEach(name, { ...unlisted, name, tags: null }, file);
  }
  return subsetsOf(serverTags).flatMap((tags) => {
    const name = `a discovered service with ${tags.length > 0 ? `the tags ${tags.join(', ')}` : 'no tag'}`;
    return inEach(name, { ...unlisted, name, tags, discovered: true }, file);
  });
}

/** All subsets of up to eight tags; of more only single tags, because a rule matches any of its tags. */
function subsetsOf(tags: readonly string[]): readonly (readonly string[])[] {
  if (tags.length > 8) return [[], ...tags.map((tag) => [tag])];
  const masks = Array.from({ length: 2 ** tags.length }, (_, mask) => mask);
  return masks.map((mask) => tags.filter((_, bit) => (mask >> bit) % 2 === 1));
}

/**
 * Of a target, the key of all that the policy decides alike, and one of each kind of change that it covers. `apart`:
 * what the key has beside.
 */
export function kindsIn(
  { rules, freezes, never }: Policy,
  apart: (target: Target | null) => unknown = () => null,
) {
  const selectors = [...rules, ...freezes, ...never]
    .map(({ on }) => on)
    .filter((on) => on !== null);
  // Many standing approvals cover the same services.
  const known = new Map<Target | null, string>();
  const keyOf = (target: Target | null): string => {
    const before = known.get(target);
    if (before !== undefined) return before;
    const selected = selectors.map((on) => String(selects(on, target)).at(0)).join('');
    // Agents may have only some organizations.
    const { kind, discovered, organization } = target ?? {};
    const key = JSON.stringify([selected, kind, discovered, organization?.id, apart(target)]);
    known.set(target, key);
    return key;
  };
  return ({ target, covered = [] }: Named) => {
    const kinds = new Map(covered.map((each) => [`${each.command} ${keyOf(each.target)}`, each]));
    return { key: [keyOf(target), ...[...kinds.keys()].sort()], covered: [...kinds.values()] };
  };
}

// Tags and warehouses are kept apart, because statements name them.
function alike(targets: readonly Named[], policy: Policy): readonly ProvedPlace[] {
  const kindOf = kindsIn(policy, (target) => [target?.tags, target?.warehouse]);
  const groups = Map.groupBy(targets, (named) => JSON.stringify(kindOf(named).key));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const names = group.map(({ name }) => name);
    return [{ target: first.target, names, covered: kindOf(first).covered }];
  });
}

/** Proves the statements and looks for rules without effect and approvers without a vote. */
export function prove(file: ProvedFile, statements: readonly Statement[], now: Date) {
  const deciding = new Set<number>();
  const approving = new Set<RoleName>();
  const broken = new Map<Statement, Case>();
  let count = 0;
  for (const one of casesOf(file, now)) {
    count += 1;
    if (one.rule) deciding.add(one.rule.requires.rule);
    for (const role of one.answer.allow ? decidingRoles(one.answer.requires) : [])
      approving.add(role);
    for (const statement of statements) {
      if (!broken.has(statement) && statement.isBroken(one)) broken.set(statement, one);
    }
  }
  const { policy } = file;
  const silent = policy.rules.filter(({ requires }) => !deciding.has(requires.rule));
  const asked = new Set(policy.rules.flatMap(({ requires }) => decidingRoles(requires)));
  const voteless = [...policy.roles.keys()].filter(
    (role) => asked.has(role) && !approving.has(role),
  );
  const findings = [
    ...silent.map(
      ({ requires }) =>
        `✗ rule ${requires.rule} never decides: earlier rules decide everything that it selects`,
    ),
    ...voteless.map((role) => `✗ ${role} can approve nothing: no rule that decides asks ${role}`),
  ];
  const results = statements.flatMap((statement) => {
    const against = broken.get(statement);
    const line = `${statement.where}  ${statement.text}`;
    return against
      ? [`✗ ${line}`, `    ${caseText(against, now, statement.why(against))}`]
      : [`✓ ${line}`];
  });
  const scope = [
    countWords(policy.rules.length, 'rule'),
    countWords(file.services.length, 'service'),
    countWords(commands.length, 'command'),
  ].join(', ');
  const checked = `${count.toLocaleString('en')} decisions (${scope}), from ${minuteText(now)} on.`;
  const failed = findings.length + broken.size;
  const summary = failed === 0 ? 'Everything holds.' : `${countWords(failed, 'finding')}.`;
  return { text: [...findings, ...results, checked, summary, ''].join('\n'), holds: failed === 0 };
}

function decidingRoles({ from, escalation, breakGlass }: Requirement): readonly RoleName[] {
  return [from, escalation?.to ?? null, breakGlass].filter((role) => role !== null);
}

/** `operator: service start on analytics-prod: immediate (rule 3)` */
function caseText({ command, place, requester, at, answer }: Case, now: Date, why: string): string {
  const on = place.target === null ? '' : ` on ${namesText(place.names)}`;
  const when = at > now ? `, from ${minuteText(at)} on` : '';
  return `${requester.who}: ${command}${on}${when}: ${decidedText(answer)}${why}`;
}

function namesText(names: readonly string[]): string {
  const [first = '', ...others] = names;
  return others.length > 0 ? `${first} and ${countWords(others.length, 'other')}` : first;
}

/** A sentence about the policy. */
interface Statement {
  readonly where: string;
  readonly text: string;
  readonly isBroken: (one: Case) => boolean;
  /** What the counter-example does not show by itself; empty if nothing. */
  readonly why: (one: Case) => string;
}

/** What a statement may look like. */
export const STATEMENT_FORMS =
  'no agent stops prod · nobody may unfreeze alone · only operator may create a service · prod needs two people · prod needs 2 approvals to scale';

/** Reads a file of statements, one in a line; `#` begins a comment. Reports all problems at once. */
export function readStatements(text: string, path: string, file: ProvedFile) {
  const lines = text.split(/\r?\n/).map((line, index) => ({
    where: `${path}:${index + 1}`,
    text: line
      .replace(/#.*/, '')
      .replace(/^\s*-\s*/, '')
      .trim(),
  }));
  const read = lines
    .filter((line) => line.text !== '')
    .map((line) => ({ line, statement: statementOf(line.text, file) }));
  const statements: readonly Statement[] = read.flatMap(({ line, statement }) =>
    'problem' in statement ? [] : [{ ...line, ...statement }],
  );
  const hint = `forms: ${STATEMENT_FORMS}`;
  const problems: readonly ConfigProblem[] = read.flatMap(({ line: { where }, statement }) =>
    'problem' in statement ? [{ where, problem: statement.problem, hint }] : [],
  );
  return { statements, problems };
}

type Check = Pick<Statement, 'isBroken' | 'why'>;
type Reading = Check | { readonly problem: string };

const BREAK_GLASS = / (?:unless|except) (?:by |for )?break-glass$/;

function statementOf(line: string, file: ProvedFile): Reading {
  const text = line.replace(/[.!]$/, '').replaceAll(/\s+/g, ' ').toLowerCase();
  const isExcepted = BREAK_GLASS.test(text);
  const sentence = text.replace(BREAK_GLASS, '');
  const needs = /^(.+?) needs? (\w+) (people|persons|approvals?)(?: (?:to|for) (.+))?$/.exec(
    sentence,
  );
  if (needs) return needOf(needs, isExcepted, file);
  const only = /^only (.+?) (?:may|can) (.+)$/.exec(sentence);
  if (only) return onlyOf(only[1] ?? '', only[2] ?? '', file);
  const no = /^(nobody|no one|no \S+) (?:may |can )?(.+?)( alone)?$/.exec(sentence);
  if (no) return noneOf(no, isExcepted, file);
  return { problem: `is not understood: ${quoted(line)}` };
}

function needOf(
  [, where = '', number = '', unit = '', what]: readonly (string | undefined)[],
  isExcepted: boolean,
  file: ProvedFile,
): Reading {
  const count = NUMBERS.indexOf(number) >= 0 ? NUMBERS.indexOf(number) : Number(number);
  if (!Number.isInteger(count) || count < 1) return { problem: `has no number: ${quoted(number)}` };
  const about = readAction(what === undefined ? where : `${what} ${where}`, file);
  if ('problem' in about) return about;
  const isPeople = unit.startsWith('p');
  return {
    isBroken: (one) => {
      if (!one.answer.allow || !about.includes(one)) return false;
      const { requires } = one.answer;
      const given = isPeople ? peopleOf(requires, one.requester) : requires.count;
      return given < count || (!isExcepted && hasBreakGlass(one));
    },
    why: breakGlassText,
  };
}

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'];

/** How many different people a change needs at least. A program is no person. */
function peopleOf({ count, self }: Requirement, { isPerson }: Requester): number {
  if (!isPerson) return count;
  return self ? Math.max(1, count) : count + 1;
}

function hasBreakGlass({ answer, requester }: Case): boolean {
  return answer.allow && answer.requires.breakGlass !== null && requester.actor.agent === undefined;
}

function breakGlassText(one: Case): string {
  return hasBreakGlass(one)
    ? '. Break-glass needs one person; “unless break-glass” excepts it'
    : '';
}

function onlyOf(who: string, what: string, file: ProvedFile): Reading {
  const roles = who.split(/ or |, /).map((role) => role.trim());
  const unknown = roles.find((role) => !file.policy.roles.has(role));
  if (unknown !== undefined) return { problem: `names no role: ${quoted(unknown)}` };
  const about = readAction(what, file);
  if ('problem' in about) return about;
  const isOther = ({ actor }: Requester) => !actor.roles.some((role) => roles.includes(role));
  return {
    isBroken: (one) => one.answer.allow && about.includes(one) && isOther(one.requester),
    why: () => '',
  };
}

/**
 * `who`: `nobody`, or `no` with a role or `agent`. `what`: the action and its targets; after `no agent` it may begin
 * with the name of one.
 */
function noneOf(
  [, who = '', what = '', isAlone]: readonly (string | undefined)[],
  isExcepted: boolean,
  file: ProvedFile,
): Reading {
  const { roles, agents } = file.policy;
  const [, word = null] = /^no (?!one$)(.+)$/.exec(who) ?? [];
  const isAgent = word === 'agent' || word === 'agents';
  const [first = '', ...others] = what.split(' ');
  const named = isAgent && agents?.has(first) ? first : null;
  const role = [word, word?.replace(/s$/, '')].find((each) => each && roles.has(each));
  if (word !== null && !isAgent && !role) return { problem: `names no role: ${quoted(word)}` };
  const isOf = ({ actor }: Requester) => {
    if (isAgent) return named === null ? actor.agent !== undefined : actor.agent === named;
    return !role || actor.roles.includes(role);
  };
  const about = readAction(named === null ? what : others.join(' '), file);
  if ('problem' in about) return about;
  return {
    isBroken: (one) => {
      if (!one.answer.allow || !isOf(one.requester) || !about.includes(one)) return false;
      const isOne = peopleOf(one.answer.requires, one.requester) < 2;
      return !isAlone || isOne || (!isExcepted && hasBreakGlass(one));
    },
    why: (one) => (isAlone ? breakGlassText(one) : ''),
  };
}

/** Reads what is done, and to what: `stops prod`, `delete a freeze`, `service scale staging`, `prod`. */
function readAction(
  text: string,
  file: ProvedFile,
): { readonly problem: string } | { readonly includes: (one: Case) => boolean } {
  const words = text.split(' ').filter((word) => !FILLERS.includes(word));
  const longest = [3, 2, 1].find((length) => actionOf(words.slice(0, length)) !== null) ?? 0;
  const names = actionOf(words.slice(0, longest)) ?? cloudChanges;
  const rest = words.slice(longest);
  if (longest === 0 && rest.length === 0) return { problem: 'names no command and no target' };
  const targets = rest.map((word) => targetTest(word, file));
  const unknown = rest[targets.indexOf(null)];
  if (unknown !== undefined)
    return { problem: `names no command, tag, service or warehouse: ${quoted(unknown)}` };
  const known = targets.filter((test) => test !== null);
  return {
    includes: ({ command, place }) =>
      names.includes(command) && (known.length === 0 || known.some((isIt) => isIt(place))),
  };
}

const FILLERS = 'a an the in on of any anything tag warehouse and or'.split(' ');
/** What `change` means, and a statement without a command: every change in the cloud. Freezes are named. */
const cloudChanges = commands
  .filter((command) => command.kind === 'change' && !changesFreezes(command))
  .map(({ name }) => name);

function actionOf(words: readonly string[]): readonly string[] | null {
  const [verb = '', ...more] = words.map((word, index) =>
    index > 0 ? word.replace(/s$/, '') : word,
  );
  if (verb === '') return null;
  const readings = [verb, verb.replace(/s$/, ''), verb.replace(/es$/, '')].map((first) =>
    [first, ...more].join(' '),
  );
  if (readings.includes('delete freeze')) return ['change unfreeze'];
  if (readings.includes('change')) return cloudChanges;
  const found = commands.filter(({ name, kind }) => {
    const [noun = '', ...own] = name.split(' ');
    const spoken = own.join(' ');
    return readings.some(
      (words) =>
        words === name ||
        (kind === 'change' && (words === spoken || words === `${spoken} ${noun}`)),
    );
  });
  return found.length > 0 ? found.map(({ name }) => name) : null;
}

/** A tag, a service or a warehouse; a word that names several of them means all of them. */
function targetTest(
  word: string,
  { services, serverTags }: ProvedFile,
): ((place: ProvedPlace) => boolean) | null {
  const named = services.filter(({ name, aliases }) =>
    [name, ...aliases].some((each) => each.toLowerCase() === word),
  );
  const names = named.map(({ name }) => name);
  const tags = [...serverTags, ...services.flatMap((service) => service.tags ?? [])];
  const isTag = tags.some((tag) => tag.toLowerCase() === word);
  const isWarehouse = services.some(({ warehouse }) => warehouse?.toLowerCase() === word);
  if (names.length === 0 && !isTag && !isWarehouse) return null;
  const isIt = (target: Target | null) =>
    (isTag && target?.tags?.some((tag) => tag.toLowerCase() === word) === true) ||
    (isWarehouse && target?.warehouse?.toLowerCase() === word);
  // The name of what is allowed begins with the command: `stop of staging`.
  return ({ target, names: own, covered }) =>
    own.some((name) => names.some((each) => [name, name.replace(/^\w+ of /, '')].includes(each))) ||
    [target, ...covered.map((each) => each.target)].some(isIt);
}
