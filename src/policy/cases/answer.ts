import type { Requirement } from '../../changes/requirement.ts';
import type { Decision, PolicyDenial } from '../decide.ts';

/** A decision in the form that cases and the replay compare and print. */
export type PolicyAnswer =
  | { readonly allow: true; readonly rule: number; readonly requires: Requirement }
  | {
      readonly allow: false;
      /** The rule that decided; null if no rule matched, or if it was not recorded. */
      readonly rule: number | null;
      /** `other-approvers`: change and revert need different roles, so that nobody can approve both. */
      readonly refusal: PolicyDenial | 'other-approvers';
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

/** Returns how two answers differ, one text for each difference. Other rule numbers are none. */
export function answerDifferences(before: PolicyAnswer, after: PolicyAnswer): readonly string[] {
  if (before.allow && after.allow) return requirementDifferences(before.requires, after.requires);
  if (before.allow !== after.allow) {
    const what = (answer: PolicyAnswer) => (answer.allow ? 'allowed' : 'denied');
    return [`${what(before)} → ${what(after)}`];
  }
  const refusalOf = (answer: PolicyAnswer) => (answer.allow ? '' : answer.refusal);
  const [first, second] = [refusalOf(before), refusalOf(after)];
  return first === second ? [] : [`refusal: ${first} → ${second}`];
}

// The channel of the card decides nothing. The role of the requester is part of allow or deny.
function requirementDifferences(before: Requirement, after: Requirement): readonly string[] {
  const aspects: readonly (readonly [string, (requires: Requirement) => string])[] = [
    ['approvals', approvalsText],
    ["the requester's own approval", ({ self }) => (self ? 'counts' : 'does not count')],
    ['expires after', ({ expiresAfterMs }) => durationText(expiresAfterMs)],
    ['escalation', ({ escalation }) => escalationText(escalation)],
    ['break-glass', ({ breakGlass }) => breakGlass ?? 'no one'],
  ];
  return aspects.flatMap(([name, text]) => {
    const [first, second] = [text(before), text(after)];
    return first === second ? [] : [`${name}: ${first} → ${second}`];
  });
}

function escalationText(escalation: Requirement['escalation']): string {
  return escalation ? `${escalation.to} after ${durationText(escalation.afterMs)}` : 'none';
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? ['m', 60_000];
  return `${ms / size}${unit}`;
}
