import { z } from 'zod';
import {
  declaredName,
  quoted,
  strictConfigObject,
  suggestion,
  withHint,
} from '../../base/problem.ts';
import type { RoleName } from '../../domain/change.ts';
import type { PolicyDenial } from '../../domain/policy.ts';
import { Allowed } from '../../domain/policy-schema.ts';
import { answerText, approvalsText, type PolicyAnswer, ruleText } from './answer.ts';

/** The decision that a case expects. A part that is null is not compared. */
export type Expectation =
  | {
      readonly allow: true;
      readonly count: number;
      readonly from: RoleName | null;
      readonly self: boolean | null;
      readonly breakGlass: RoleName | 'none' | null;
    }
  | { readonly allow: false; readonly refusal: PolicyDenial };

const DENIALS: readonly PolicyDenial[] = [
  'no-rule',
  'not-a-requester',
  'frozen',
  'never',
  'reason-required',
  'not-listed',
  'not-verified',
];

const WORDS: Readonly<Record<string, object>> = {
  immediate: { approvals: 0 },
  frozen: { denied: 'frozen' },
};

/** The schema of `expect`: a word, or what the rule must require, or the refusal. */
export function expectationSchema(roles: readonly string[]) {
  const role = declaredName('role', roles);
  const fields = strictConfigObject({
    approvals: z.int().min(0).max(20).optional(),
    from: role.optional(),
    self: Allowed.unwrap().optional(),
    breakGlass: declaredName('role', [...roles, 'none']).optional(),
    denied: z.enum(DENIALS).optional(),
  });
  return z
    .unknown()
    .transform(expandWord)
    .pipe(fields.superRefine(refuseContradictions))
    .transform(expectationOf);
}

type Fields = {
  readonly approvals?: number | undefined;
  readonly from?: string | undefined;
  readonly self?: 'refused' | 'allowed' | undefined;
  readonly breakGlass?: string | undefined;
  readonly denied?: PolicyDenial | undefined;
};

function expandWord(input: unknown, context: z.RefinementCtx): unknown {
  if (typeof input !== 'string') return input;
  const known = WORDS[input];
  if (known) return known;
  const near = suggestion(input, Object.keys(WORDS));
  const forms = '{ approvals: 2, from: approver } or { denied: no-rule }';
  const message = withHint(`cannot be ${quoted(input)}`, `${near}; other forms: ${forms}`);
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

function refuseContradictions(fields: Fields, context: z.RefinementCtx): void {
  const { approvals, from, denied, self, breakGlass } = fields;
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message });
  if (denied !== undefined) {
    const allowed = { approvals, from, self, breakGlass };
    const [key] = Object.entries(allowed).find(([, value]) => value !== undefined) ?? [];
    if (key) refuse(key, withHint('contradicts denied', 'remove one of them'));
    return;
  }
  if (approvals === undefined) {
    refuse('approvals', withHint('is missing', 'set approvals or denied'));
  } else if (approvals > 0 && from === undefined) {
    refuse('from', withHint('is missing', 'the role whose approvals count'));
  } else if (approvals === 0 && from !== undefined) {
    refuse('from', withHint('needs approvals', 'set approvals to 1 or more, or remove it'));
  }
}

function expectationOf(fields: Fields): Expectation {
  const { approvals = 0, from = null, self, breakGlass = null, denied } = fields;
  if (denied !== undefined) return { allow: false, refusal: denied };
  const own = self === undefined ? null : self === 'allowed';
  return { allow: true, count: approvals, from, self: own, breakGlass };
}

/** Whether an answer is as expected. `rule` null: any rule may decide. */
export function meetsExpectation(
  expected: Expectation,
  rule: number | null,
  answer: PolicyAnswer,
): boolean {
  if (rule !== null && rule !== answer.rule) return false;
  if (!expected.allow) return !answer.allow && answer.refusal === expected.refusal;
  if (!answer.allow) return false;
  const { count, from, self, breakGlass } = answer.requires;
  return (
    expected.count === count &&
    expected.from === from &&
    (expected.self === null || expected.self === self) &&
    (expected.breakGlass === null || expected.breakGlass === (breakGlass ?? 'none'))
  );
}

/** `2 approvals from approver (rule 2)` */
export function expectationText(expected: Expectation, rule: number | null): string {
  const decidedBy = rule === null ? '' : ` (rule ${rule})`;
  if (!expected.allow) return `denied: ${expected.refusal}${decidedBy}`;
  const { self, breakGlass } = expected;
  const parts = [
    approvalsText(expected),
    self === null ? null : self ? 'the requester counts' : 'the requester does not count',
    breakGlass === null ? null : `break-glass for ${breakGlass === 'none' ? 'no one' : breakGlass}`,
  ];
  return `${parts.filter((part) => part !== null).join(', ')}${decidedBy}`;
}

/** `denied: frozen (until …: year end) (rule 2)` */
export function decidedText(answer: PolicyAnswer): string {
  return `${answerText(answer)} (${ruleText(answer)})`;
}
