import type { Requirement } from '../../domain/change.ts';
import type { Decision, PolicyDenial } from '../../domain/policy.ts';

/** A decision in the form that cases compare and print. */
export type PolicyAnswer =
  | { readonly allow: true; readonly rule: number; readonly requires: Requirement }
  | {
      readonly allow: false;
      /** The rule that decided; null if no rule matched. */
      readonly rule: number | null;
      readonly refusal: PolicyDenial;
      /** The freeze, the `never` rule or the role; null if there is nothing to add. */
      readonly detail: string | null;
    };

/** Returns the decision with the text of what refused it. */
export function answerOf(decision: Decision): PolicyAnswer {
  if (decision.allow) {
    return { allow: true, rule: decision.rule.place, requires: decision.requires };
  }
  const { refusal, rule } = decision;
  // For these refusals, the rule is the one that may or may not match.
  const decides = refusal === 'no-rule' || refusal === 'not-verified' ? null : rule;
  return { allow: false, rule: decides?.place ?? null, refusal, detail: detailOf(decision) };
}

function detailOf({ refusal, rule, freeze, never }: Decision & { allow: false }): string | null {
  if (freeze) return `until ${minuteText(freeze.until)}: ${freeze.reason}`;
  if (never) return never.reason;
  if (!rule) return null;
  if (refusal === 'no-rule') return `rule ${rule.place} needs tags or a warehouse that are unknown`;
  if (refusal === 'not-verified') {
    return `rule ${rule.place} needs tags or a warehouse that the server did not send`;
  }
  if (refusal === 'not-listed') return `rule ${rule.place} does not allow discovered services`;
  if (refusal === 'not-a-requester') return `only ${rule.to} may request it`;
  return rule.reason.minimum > 1 ? `at least ${rule.reason.minimum} characters` : null;
}

/** `2 approvals from approver`, `immediate`, `denied: frozen (until …: year end)`. */
export function answerText(answer: PolicyAnswer): string {
  if (answer.allow) return requirementText(answer.requires);
  const detail = answer.detail === null ? '' : ` (${answer.detail})`;
  return `denied: ${answer.refusal}${detail}`;
}

export function ruleText({ rule }: Pick<PolicyAnswer, 'rule'>): string {
  return rule === null ? 'no rule' : `rule ${rule}`;
}

function requirementText(requires: Requirement): string {
  const also = [
    requires.self ? 'the requester counts' : null,
    requires.breakGlass === null ? null : `break-glass for ${requires.breakGlass}`,
  ].filter((part) => part !== null);
  return [approvalsText(requires), ...also].join(', ');
}

export function approvalsText({ from, count }: Pick<Requirement, 'from' | 'count'>): string {
  if (from === null) return 'immediate';
  return `${count} ${count === 1 ? 'approval' : 'approvals'} from ${from}`;
}

/** Returns a time in UTC to the minute: `2026-12-24T00:00Z`. */
export function minuteText(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}
