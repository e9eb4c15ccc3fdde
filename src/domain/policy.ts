// The policy: its parts, the decision about a query or change, and what users may do by its rules.

import { DAY_MS } from '../base/time.ts';
import {
  type Actor,
  type BlockingFreeze,
  type POLICY_DENIALS,
  type Requirement,
  type RoleName,
  TARGET_TRAITS,
  type Target,
  type TargetKind,
  type UserId,
} from './change.ts';

export interface Role {
  /** User groups, by handle (`@db-leads`) or by id (`S…`). */
  readonly groups: readonly string[];
  readonly users: readonly UserId[];
}

/** A selection of targets: every key that is set must match, by any entry of its list. */
export interface Selector {
  readonly services: readonly { readonly name: string; readonly id: string }[] | null;
  /** Missing where one organization is configured: everything is in it. */
  readonly organizations?: Selector['services'];
  readonly tags: readonly string[] | null;
  readonly warehouses: readonly string[] | null;
}

/** A selection of costs, which may also name teams. */
export interface CostSelector extends Selector {
  readonly teams: readonly string[] | null;
}

export interface Rule {
  readonly commands: readonly string[];
  readonly on: Selector | null;
  /** What a change by this rule requires, which the change keeps. */
  readonly requires: Requirement;
  /** The characters that a reason needs; 0: none is required. */
  readonly leastReason: number;
  /** Whether it allows changes of services that only the server lists. */
  readonly discovered: boolean;
  /** The agents that may request by it, if it asks for approvals; missing: none. */
  readonly agents?: 'allowed' | readonly string[];
  /** Whether these agents may use a standing approval. */
  readonly agentsStanding?: boolean;
}

/** Of the file, which Slack cannot lift, or `made` by a change. */
export interface Freeze extends Readonly<BlockingFreeze> {
  readonly from: Date;
  readonly on: Selector | null;
}

/** Commands that no rule and no break-glass allows. */
export interface NeverRule {
  readonly commands: readonly string[];
  readonly on: Selector | null;
  readonly reason: string;
}

export interface Policy {
  readonly roles: ReadonlyMap<RoleName, Role>;
  readonly rules: readonly Rule[];
  readonly freezes: readonly Freeze[];
  readonly never: readonly NeverRule[];
  /** The roles of each agent of the configuration, by its name; missing: there is no agent. */
  readonly agents?: ReadonlyMap<string, readonly RoleName[]>;
  /** The organizations of the agents that have only some. */
  readonly agentOrganizations?: ReadonlyMap<string, NonNullable<Selector['services']>>;
}

/** The names of all commands. */
export interface CommandNames {
  readonly queries: readonly string[];
  readonly changes: readonly string[];
}

/** The names that a policy may use: commands, and what its file declares elsewhere. */
export interface PolicyVocabulary extends CommandNames {
  readonly roles: readonly string[];
  /** The id of each service, by its name. */
  readonly services: ReadonlyMap<string, string>;
  /** The id of each organization, by its name; missing: there is one, which has none. */
  readonly organizations?: ReadonlyMap<string, string>;
  readonly tags: readonly string[];
  /** Tags of the server that rules may name; only discovered services have them. */
  readonly serverTags?: readonly string[];
  readonly warehouses: readonly string[];
  /** The agents; missing: none. */
  readonly agents?: readonly string[];
}

/** What a user wants to do. Without a target: a query of all of them, or a change of an unknown one. */
export interface PolicyQuestion {
  readonly command: string;
  readonly kind: 'query' | 'change';
  readonly target: Target | null;
  readonly actor: Actor;
  readonly reason: string | null;
  readonly now: Date;
  /** The command asks for a reason, also where the rule does not. */
  readonly needsReason?: boolean | undefined;
}

type PolicyDenial = (typeof POLICY_DENIALS)[number];

export type Decision =
  | { readonly allow: true; readonly requires: Requirement; readonly rule: Rule }
  | {
      readonly allow: false;
      readonly refusal: PolicyDenial;
      /** The rule that decided; for `no-rule` and `not-verified` the first rule that may match. */
      readonly rule: Rule | null;
      readonly freeze: Freeze | null;
      readonly never: NeverRule | null;
    };

/**
 * Decides a query or change. The first rule that matches command and target decides for every
 * user: a user whom it does not admit never reaches a later, less strict rule.
 */
export function decide(policy: Policy, question: PolicyQuestion): Decision {
  const { rule, isCertain } = ruleFor(policy, question);
  if (!rule) return deny('no-rule', rule);
  if (!isCertain) return deny(question.target?.discovered ? 'not-verified' : 'no-rule', rule);
  if (!question.actor.roles.includes(rule.requires.to)) return deny('not-a-requester', rule);
  if (!isOfAgent(policy, question)) return deny('agent-not-admitted', rule);
  if (question.kind === 'query') return { allow: true, requires: asRead(rule), rule };
  if (!isOpenTo(rule, question.target)) return deny('not-listed', rule);
  if (!admitsAgent(policy, rule, question.actor)) return deny('agent-not-admitted', rule);

  const never = neverRuleFor(policy, question);
  if (never) return deny('never', rule, { never });
  const freeze = freezeFor(policy.freezes, question.target, question.now);
  if (freeze) return deny('frozen', rule, { freeze });
  const reason = question.reason?.trim() ?? '';
  if ([...reason].length < leastReason(rule, question)) return deny('reason-required', rule);
  return { allow: true, requires: rule.requires, rule };
}

// It is unknown whether a rule with a selector matches an unknown target. Skipping the rule could
// miss a stricter one, and applying it could use a less strict one, so the change is refused.
// A query without a target covers all targets, so that no rule with a selector matches.
function ruleFor(
  policy: Policy,
  { command, kind, target }: Pick<PolicyQuestion, 'command' | 'kind' | 'target'>,
) {
  for (const rule of reachable(policy, command)) {
    const selected = selects(rule.on, target);
    if (selected === true) return { rule, isCertain: true };
    if (selected === null && kind === 'change') return { rule, isCertain: false };
  }
  return { rule: null, isCertain: false };
}

function deny(
  refusal: PolicyDenial,
  rule: Rule | null,
  why: { freeze?: Freeze; never?: NeverRule } = {},
): Decision {
  return { allow: false, refusal, rule, freeze: null, never: null, ...why };
}

/** Whether a rule may allow changes of the target: a discovered service needs its permission. */
function isOpenTo({ discovered }: Rule, target: Target | null): boolean {
  return discovered || !target?.discovered;
}

/**
 * Whether a rule admits the agent of a request, beside the roles of the person or of the agent itself. An agent that
 * the configuration does not name any more has no rights, and a rule without approvals admits none.
 */
export function admitsAgent(
  policy: Pick<Policy, 'agents'>,
  { agents, requires }: Pick<Rule, 'agents' | 'requires'>,
  { agent }: Pick<Actor, 'agent'>,
): boolean {
  if (agent === undefined) return true;
  if (!policy.agents?.has(agent) || requires.from === null) return false;
  return agents === 'allowed' || agents?.includes(agent) === true;
}

/** An agent of some organizations neither changes nor reads what is of another one, or of all of them. */
function isOfAgent(
  { agentOrganizations }: Policy,
  { actor: { agent = '' }, target }: Pick<PolicyQuestion, 'actor' | 'target'>,
): boolean {
  const own = agentOrganizations?.get(agent);
  return own === undefined || own.some(({ id }) => target?.organization?.id === id);
}

/**
 * Returns the rule that forbids the command on the target; null if none does. An unknown target is
 * refused if any target that it may be is refused.
 */
export function neverRuleFor(
  { never }: Policy,
  { command, target }: Pick<PolicyQuestion, 'command' | 'target'>,
): NeverRule | null {
  const rule = never.find(
    ({ commands, on }) =>
      commands.some((pattern) => covers(pattern, command)) && selects(on, target) !== false,
  );
  return rule ?? null;
}

/** Returns the active freeze with the latest end, so that users read when the last one ends. */
export function freezeFor(
  freezes: readonly Freeze[],
  target: Target | null,
  now: Date,
): Freeze | null {
  const active = covering(freezes, target)
    .filter(({ from, until }) => from <= now && now < until)
    .sort((a, b) => b.until.getTime() - a.until.getTime());
  return active[0] ?? null;
}

// An unknown target is frozen if any target that it may be is frozen. Freezes themselves are exempt,
// so that users can always lift them.
function covering(freezes: readonly Freeze[], target: Target | null): readonly Freeze[] {
  if (target && TARGET_TRAITS[target.kind].appliedBy === 'signalbox') return [];
  return freezes.filter(({ on }) => selects(on, target) !== false);
}

function leastReason(
  rule: Rule | null,
  { needsReason }: Pick<PolicyQuestion, 'needsReason'>,
): number {
  return Math.max(rule?.leastReason ?? 0, needsReason ? 1 : 0);
}

// `service *` also matches queries; approvals and reasons apply to changes only.
function asRead({ requires }: Rule): Requirement {
  const none = { from: null, count: 0, self: false, reason: false };
  return { ...requires, ...none, escalation: null, breakGlass: null };
}

/** Returns what the rule for a change requires, for any requester; null if no rule decides it. */
export function requirementFor(
  policy: Policy,
  about: Pick<PolicyQuestion, 'command' | 'target'>,
): Requirement | null {
  const { rule, isCertain } = ruleFor(policy, { ...about, kind: 'change' });
  return rule && isCertain && isOpenTo(rule, about.target) ? rule.requires : null;
}

/**
 * Returns how many characters of a reason the rule for a change requires, for any requester. Without a
 * target, those that every rule that may decide requires.
 */
export function reasonFor(
  policy: Policy,
  command: Pick<PolicyQuestion, 'needsReason'> & { readonly name: string },
  target: Target | null,
): number {
  const { rule, isCertain } = ruleFor(policy, { command: command.name, target, kind: 'change' });
  if (target !== null) return leastReason(isCertain ? rule : null, command);
  const all = reachable(policy, command.name).map((each) => leastReason(each, command));
  return all.length > 0 ? Math.min(...all) : leastReason(null, command);
}

/** Returns the commands that an actor may request on at least one target. */
export function commandsFor(
  policy: Policy,
  commands: readonly string[],
  actor: Actor,
): readonly string[] {
  return commands.filter((command) =>
    reachable(policy, command).some(
      (rule) => actor.roles.includes(rule.requires.to) && admitsAgent(policy, rule, actor),
    ),
  );
}

const SOON_MS = 7 * DAY_MS;

/** Returns the freezes of a target that are active or begin within a week, the first start first. */
export function upcomingFreezes(
  freezes: readonly Freeze[],
  target: Target | null,
  now: Date,
): readonly Freeze[] {
  const soon = new Date(now.getTime() + SOON_MS);
  return covering(freezes, target)
    .filter(({ from, until }) => from <= soon && now < until)
    .sort((a, b) => a.from.getTime() - b.from.getTime());
}

/** Returns the policy with the freezes that were created in Slack. */
export function withFreezes(policy: Policy, more: readonly Freeze[]): Policy {
  return { ...policy, freezes: [...policy.freezes, ...more] };
}

/**
 * Returns the rules that can decide a command, in order: up to the first one without a selector,
 * because no later rule is reached.
 */
export function reachable(policy: Policy, command: string): readonly Rule[] {
  const rules = policy.rules.filter((rule) => allows(rule, command));
  const last = rules.findIndex(({ on }) => on === null);
  return last < 0 ? rules : rules.slice(0, last + 1);
}

/** Whether the rule names the command. */
export function allows(rule: Rule, command: string): boolean {
  return rule.commands.some((pattern) => covers(pattern, command));
}

/** `service *` matches every command of the noun, `*` every command; else only itself. */
export function covers(pattern: string, command: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith(' *') ? command.startsWith(pattern.slice(0, -1)) : pattern === command;
}

/** Whether a selector matches a target; null if too little is known about the target. */
export function selects(selector: Selector | null, target: Target | null): boolean | null {
  if (selector === null) return true;
  if (target === null) return null;
  const { services, organizations = null, tags, warehouses } = selector;
  const holds = [
    organizations === null || isOfOne(organizations, target),
    services === null || isOneOf(services, target),
    tags === null || hasOneOf(tags, target),
    warehouses === null || isInOneOf(warehouses, target),
  ];
  if (holds.includes(false)) return false;
  return holds.includes(null) ? null : true;
}

function hasOneOf(tags: readonly string[], target: Target): boolean | null {
  return target.tags === null ? null : tags.some((tag) => target.tags?.includes(tag));
}

// A service that the configuration does not list is in some warehouse, but it is unknown in which.
function isInOneOf(warehouses: readonly string[], target: Target): boolean | null {
  if (target.warehouse !== null) return warehouses.includes(target.warehouse);
  const isUnknown = target.tags === null || target.discovered === true;
  return isUnknown || servicesOf(target) === 'unknown' ? null : false;
}

// Compared by id, never by name: a person outside can give another service a configured name, and
// the rules of the configured service would then apply to it.
function isOneOf(services: NonNullable<Selector['services']>, target: Target): boolean | null {
  const own = servicesOf(target);
  if (own === 'unknown') return null;
  return own !== 'none' && services.some(({ id }) => sameId(id, own.id));
}

// Alerts are of no organization, and a freeze of several services may cover those of this one.
function isOfOne(all: NonNullable<Selector['services']>, target: Target): boolean | null {
  const { organization } = target;
  if (organization) return all.some(({ id }) => sameId(id, organization.id));
  return target.kind === 'alert' ? false : null;
}

type TargetServices = { readonly id: string } | 'none' | 'unknown';

const SERVICES_OF: Readonly<Record<TargetKind, (id: string) => TargetServices>> = {
  service: (id) => ({ id }),
  schedule: (id) => ({ id }),
  alert: () => 'none',
  'new service': () => 'none',
  // What covers several services may cover the services of a rule, or others.
  'standing approval': (id) => SERVICES_OF.freeze(id.replace(/ .*$/, '')),
  freeze: (id) => (id.startsWith('service:') ? { id: id.slice('service:'.length) } : 'unknown'),
};

function servicesOf({ kind, id }: Target): TargetServices {
  return SERVICES_OF[kind](id);
}

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
