import type { Requirement, Target } from '../changes/change.ts';
import type { Actor } from '../changes/outcome.ts';
import type { Refusal } from '../changes/refusal.ts';
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
  'no-rule' | 'not-a-requester' | 'frozen' | 'reason-required' | 'never'
>;

export type Decision =
  | { readonly allow: true; readonly requires: Requirement; readonly rule: Rule }
  | {
      readonly allow: false;
      readonly refusal: PolicyDenial;
      /** The rule that decided; for `no-rule` the one of which nobody can say whether it holds. */
      readonly rule: Rule | null;
      readonly freeze: Freeze | null;
      readonly never: NeverRule | null;
    };

/**
 * The first rule that matches command and target decides, whoever asks: somebody whom it does not
 * admit never falls through to a laxer rule behind it.
 */
export function decide(policy: Policy, question: PolicyQuestion): Decision {
  const { rule, sure } = ruleFor(policy, question);
  if (!rule || !sure) return deny('no-rule', rule);
  if (!question.actor.roles.includes(rule.to)) return deny('not-a-requester', rule);
  if (question.kind === 'query') return { allow: true, requires: asRead(rule), rule };

  const never = neverRuleFor(policy, question);
  if (never) return deny('never', rule, { never });
  const freeze = freezeFor(policy.freezes, question.target, question.now);
  if (freeze) return deny('frozen', rule, { freeze });
  if (!isReasonEnough(rule, question.reason)) return deny('reason-required', rule);
  return { allow: true, requires: requirementOf(rule), rule };
}

interface Found {
  readonly rule: Rule | null;
  readonly sure: boolean;
}

// A change without a known target cannot be weighed against a rule about some targets. To skip
// that rule could miss the stricter one, to apply it could take the laxer one: so it is refused.
// A query without a target is about everything, which no rule about some targets covers.
function ruleFor(policy: Policy, { command, kind, target }: PolicyQuestion): Found {
  for (const rule of reachable(policy, command)) {
    const selected = selects(rule.on, target);
    if (selected === true) return { rule, sure: true };
    if (selected === null && kind === 'change') return { rule, sure: false };
  }
  return { rule: null, sure: false };
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

// `service *` may name reads beside changes; what it asks for binds the changes only.
function asRead(rule: Rule): Requirement {
  const asked = { from: null, count: 0, self: false, reason: false };
  return { ...requirementOf(rule), ...asked, escalation: null, breakGlass: null };
}

// An unknown target is ruled out as long as anything is that it could be.
export function neverRuleFor(
  { never }: Policy,
  { command, target }: Pick<PolicyQuestion, 'command' | 'target'>,
): NeverRule | null {
  const ruling = never.find(
    ({ commands, on }) =>
      commands.some((pattern) => covers(pattern, command)) && selects(on, target) !== false,
  );
  return ruling ?? null;
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
