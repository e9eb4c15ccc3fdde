import type { Target } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import type { Refusal } from '../changes/refusal.ts';
import type { Requirement } from '../changes/requirement.ts';
import { freezeFor } from './freezes.ts';
import { covers, reachable, selects } from './matching.ts';
import type { Freeze, NeverRule, Policy, Rule } from './policy-types.ts';

export interface PolicyQuestion {
  readonly command: string;
  readonly kind: 'query' | 'change';
  readonly target: Target | null;
  readonly actor: Actor;
  readonly reason: string | null;
  readonly now: Date;
}

export type PolicyDenial = Extract<
  Refusal,
  | 'no-rule'
  | 'not-a-requester'
  | 'frozen'
  | 'reason-required'
  | 'never'
  | 'not-listed'
  | 'not-verified'
>;

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
  if (!question.actor.roles.includes(rule.to)) return deny('not-a-requester', rule);
  if (question.kind === 'query') return { allow: true, requires: asRead(rule), rule };
  if (!isOpenTo(rule, question.target)) return deny('not-listed', rule);

  const never = neverRuleFor(policy, question);
  if (never) return deny('never', rule, { never });
  const freeze = freezeFor(policy.freezes, question.target, question.now);
  if (freeze) return deny('frozen', rule, { freeze });
  if (!isReasonEnough(rule, question.reason)) return deny('reason-required', rule);
  return { allow: true, requires: requirementOf(rule), rule };
}

/** Returns what the rule for a change requires, for any requester; null if no rule decides it. */
export function requirementFor(
  policy: Policy,
  about: Pick<PolicyQuestion, 'command' | 'target'>,
): Requirement | null {
  const { rule, isCertain } = ruleFor(policy, { ...about, kind: 'change' });
  return rule && isCertain && isOpenTo(rule, about.target) ? requirementOf(rule) : null;
}

/**
 * Returns what the rule for a change requires of its reason, for any requester. Without a target, a
 * reason is required if every rule that may decide requires one.
 */
export function reasonFor(policy: Policy, command: string, target: Target | null): Rule['reason'] {
  if (target !== null) {
    const { rule, isCertain } = ruleFor(policy, { command, target, kind: 'change' });
    return rule && isCertain ? rule.reason : NO_REASON;
  }
  const all = reachable(policy, command).map(({ reason }) => reason);
  const isRequired = all.length > 0 && all.every(({ required }) => required);
  const minimum = Math.min(...all.map((reason) => reason.minimum));
  return isRequired ? { required: true, minimum } : NO_REASON;
}

const NO_REASON: Rule['reason'] = { required: false, minimum: 0 };

/** Whether a rule may allow changes of the target: a discovered service needs its permission. */
function isOpenTo({ discovered }: Rule, target: Target | null): boolean {
  return discovered || !target?.discovered;
}

interface RuleMatch {
  readonly rule: Rule | null;
  readonly isCertain: boolean;
}

// It is unknown whether a rule with a selector matches an unknown target. Skipping the rule could
// miss a stricter one, and applying it could use a less strict one, so the change is refused.
// A query without a target covers all targets, so that no rule with a selector matches.
function ruleFor(
  policy: Policy,
  { command, kind, target }: Pick<PolicyQuestion, 'command' | 'kind' | 'target'>,
): RuleMatch {
  for (const rule of reachable(policy, command)) {
    const selected = selects(rule.on, target);
    if (selected === true) return { rule, isCertain: true };
    if (selected === null && kind === 'change') return { rule, isCertain: false };
  }
  return { rule: null, isCertain: false };
}

export function requirementOf(rule: Rule): Requirement {
  return {
    rule: rule.place,
    to: rule.to,
    from: rule.approvals?.from ?? null,
    count: rule.approvals?.count ?? 0,
    self: rule.approvals?.self ?? false,
    reason: rule.reason.required,
    expiresAfterMs: rule.expiresAfterMs,
    channel: rule.channel,
    escalation: escalationOf(rule),
    breakGlass: rule.breakGlass?.to ?? null,
  };
}

function escalationOf({ approvals }: Rule): Requirement['escalation'] {
  const escalate = approvals?.escalate;
  return escalate ? { to: escalate.to, afterMs: escalate.after } : null;
}

// `service *` also matches queries; approvals and reasons apply to changes only.
function asRead(rule: Rule): Requirement {
  const none = { from: null, count: 0, self: false, reason: false };
  return { ...requirementOf(rule), ...none, escalation: null, breakGlass: null };
}

// An unknown target is refused if any target that it may be is refused.
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

function isReasonEnough({ reason }: Rule, given: string | null): boolean {
  return !reason.required || (given ?? '').trim().length >= reason.minimum;
}

function deny(
  refusal: PolicyDenial,
  rule: Rule | null,
  why: { freeze?: Freeze; never?: NeverRule } = {},
): Decision {
  return { allow: false, refusal, rule, freeze: null, never: null, ...why };
}
