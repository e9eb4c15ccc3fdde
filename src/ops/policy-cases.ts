import { z } from 'zod';
import {
  declaredName,
  InstantTextSchema,
  quoted,
  strictConfigObject,
  suggestion,
  withHint,
} from '../base/problem.ts';
import { POLICY_DENIALS, type Requirement, type UserId } from '../domain/change.ts';
import type { Decision, PolicyVocabulary } from '../domain/policy.ts';
import { Allowed, MemberId } from '../domain/policy-schema.ts';

/** A policy compares roles only, so that the id of a person has no meaning here. */
export const NOBODY = '' as UserId;
/** Long enough for every rule: the schema of the policy allows a minimum of 500 characters. */
export const LONG_REASON = '-'.repeat(500);

/** A decision in the form that cases compare and print. */
export type PolicyAnswer = ReturnType<typeof answerOf>;

/** Returns the decision with the text of what refused it. */
export function answerOf(decision: Decision) {
  if (decision.allow) {
    const { rule, requires } = decision;
    return { allow: true as const, rule: rule.requires.rule, requires };
  }
  const { refusal, rule } = decision;
  // For these refusals, the rule is the one that may or may not match.
  const decides = refusal === 'no-rule' || refusal === 'not-verified' ? null : rule;
  return {
    allow: false as const,
    /** The rule that decided; null if no rule matched. */
    rule: decides?.requires.rule ?? null,
    refusal,
    /** The freeze, the `never` rule or the role; null if there is nothing to add. */
    detail: detailOf(decision),
  };
}

function detailOf({ refusal, rule, freeze, never }: Decision & { allow: false }): string | null {
  if (freeze) return `until ${minuteText(freeze.until)}: ${freeze.reason}`;
  if (never) return never.reason;
  if (!rule) return null;
  const { rule: place, to } = rule.requires;
  if (refusal === 'no-rule') return `rule ${place} needs tags or a warehouse that are unknown`;
  if (refusal === 'not-verified') {
    return `rule ${place} needs tags or a warehouse that the server did not send`;
  }
  if (refusal === 'not-listed') return `rule ${place} does not allow discovered services`;
  if (refusal === 'not-a-requester') return `only ${to} may request it`;
  if (refusal === 'agent-not-admitted') return `rule ${place} does not admit the agent`;
  return rule.leastReason > 1 ? `at least ${rule.leastReason} characters` : null;
}

export function requirementText(requires: Requirement): string {
  const also = [
    requires.self ? 'the requester counts' : null,
    requires.breakGlass === null ? null : `break-glass for ${requires.breakGlass}`,
  ].filter((part) => part !== null);
  return [approvalsText(requires), ...also].join(', ');
}

function approvalsText({ from, count }: Pick<Requirement, 'from' | 'count'>): string {
  if (from === null) return 'immediate';
  return `${count} ${count === 1 ? 'approval' : 'approvals'} from ${from}`;
}

/** Returns a time in UTC to the minute: `2026-12-24T00:00Z`. */
export function minuteText(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}

const WORDS: Readonly<Record<string, object>> = {
  immediate: { approvals: 0 },
  frozen: { denied: 'frozen' },
};

function expectationFields(roles: readonly string[]) {
  const role = declaredName('role', roles);
  return strictConfigObject({
    approvals: z.int().min(0).max(20).optional(),
    from: role.optional(),
    self: Allowed.unwrap().optional(),
    breakGlass: declaredName('role', [...roles, 'none']).optional(),
    denied: z.enum(POLICY_DENIALS).optional(),
  });
}

/** The decision that a case expects: a refusal, or `approvals` with what of the rule is compared. */
type Expectation = z.output<ReturnType<typeof expectationFields>>;

/** The schema of `expect`: a word, or what the rule must require, or the refusal. */
function expectationSchema(roles: readonly string[]) {
  const fields = expectationFields(roles).superRefine(refuseContradictions);
  return z.unknown().transform(expandWord).pipe(fields);
}

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

function refuseContradictions(fields: Expectation, context: z.RefinementCtx): void {
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

type Expected = Pick<PolicyCase, 'expect' | 'rule'>;

/** Whether an answer is as expected. Without `rule` any rule may decide. */
export function meetsExpectation({ expect, rule }: Expected, answer: PolicyAnswer): boolean {
  if (rule !== undefined && rule !== answer.rule) return false;
  if (expect.denied) return !answer.allow && answer.refusal === expect.denied;
  if (!answer.allow) return false;
  const { count, from, self, breakGlass } = answer.requires;
  return (
    (expect.approvals ?? 0) === count &&
    (expect.from ?? null) === from &&
    (expect.self ?? allowedText(self)) === allowedText(self) &&
    (expect.breakGlass ?? breakGlass ?? 'none') === (breakGlass ?? 'none')
  );
}

const allowedText = (isAllowed: boolean) => (isAllowed ? 'allowed' : 'refused');

/** `2 approvals from approver (rule 2)` */
export function expectationText({ expect, rule }: Expected): string {
  const decidedBy = rule === undefined ? '' : ` (rule ${rule})`;
  if (expect.denied) return `denied: ${expect.denied}${decidedBy}`;
  const { approvals: count = 0, from = null, self, breakGlass } = expect;
  const parts = [
    approvalsText({ count, from }),
    self && `the requester ${self === 'allowed' ? 'counts' : 'does not count'}`,
    breakGlass && `break-glass for ${breakGlass === 'none' ? 'no one' : breakGlass}`,
  ];
  return `${parts.filter(Boolean).join(', ')}${decidedBy}`;
}

/** `2 approvals from approver (rule 1)`, `immediate (rule 3)`, `denied: frozen (until …: year end) (rule 2)` */
export function decidedText(answer: PolicyAnswer): string {
  const by = answer.rule === null ? 'no rule' : `rule ${answer.rule}`;
  if (answer.allow) return `${requirementText(answer.requires)} (${by})`;
  const detail = answer.detail === null ? '' : ` (${answer.detail})`;
  return `denied: ${answer.refusal}${detail} (${by})`;
}

/** How a case names the target of a command: a service, a scope of freezes, or not at all. */
export type CaseTargetKind = 'service' | 'scope' | 'none';

export interface CaseVocabulary extends PolicyVocabulary {
  /** The users that roles list by id; null if unknown, because the file has problems. */
  readonly users: readonly string[] | null;
  readonly targetKindOf: (command: string) => CaseTargetKind;
}

/** One case: a user who requests a command, and the decision that the policy must make. */
export type PolicyCase = z.output<ReturnType<typeof casesSchema>>[number];

/** The schema of a file of cases for the names that the configuration file declares. */
export function casesSchema(words: CaseVocabulary) {
  const fields = strictConfigObject({
    at: InstantTextSchema.optional(),
    cases: z.array(caseSchema(words)).min(1),
  });
  return fields.transform(({ at: common, cases }, context) =>
    cases.flatMap((fields, index) => {
      const at = fields.at ?? common;
      if (at) return [{ ...fields, at }];
      const hint = 'set it here or once at the top: the decision depends on freezes';
      const path = ['cases', index, 'at'];
      context.addIssue({ code: 'custom', path, message: withHint('is missing', hint) });
      return [];
    }),
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function caseSchema(words: CaseVocabulary) {
  const { queries, changes, services, tags, warehouses, roles } = words;
  const names = [...services.keys()];
  const service = z.string().refine((text) => names.includes(text) || UUID.test(text), {
    error: ({ input }) =>
      withHint(`names no service: ${quoted(String(input))}`, suggestion(String(input), names)),
  });
  return strictConfigObject({
    name: z.string().trim().min(1, { error: 'must not be empty' }).max(200).optional(),
    user: MemberId.optional(),
    roles: z.array(declaredName('role', roles)).optional(),
    // That requests it for the user; without user and roles for itself.
    agent: declaredName('agent', words.agents ?? []).optional(),
    command: declaredName('command', [...queries, ...changes]),
    service: service.optional(),
    tag: declaredName('tag of a service', tags).optional(),
    warehouse: declaredName('warehouse', warehouses).optional(),
    organization: declaredName('organization', [...(words.organizations?.keys() ?? [])]).optional(),
    everything: z.literal(true).optional(),
    at: InstantTextSchema.optional(),
    // Absent: one that is long enough for every rule.
    reason: z.string().max(500).optional(),
    expect: expectationSchema(roles),
    rule: z.int().min(1).optional(),
  }).superRefine((fields, context) => {
    // Refinements also run after a problem of one field, which needs no second message.
    for (const [path, message] of [...userProblems(fields, words), ...scopeProblems(fields, words)])
      context.addIssue({ code: 'custom', path: [path], message });
  });
}

type FieldsCaseSchema = z.output<ReturnType<typeof caseSchema>>;
type FieldMessage = readonly [path: string, message: string];

function userProblems(
  { user, roles, agent }: FieldsCaseSchema,
  { users }: CaseVocabulary,
): readonly FieldMessage[] {
  if (!user && !roles && !agent) {
    const hint = 'set roles: [operator], or user: U… for a user whom the file lists';
    return [['roles', withHint('is missing', hint)]];
  }
  if (!user || roles || users === null || users.includes(user)) return [];
  if (!MemberId.safeParse(user).success) return [];
  const hint = 'user groups cannot be read without Slack; set roles: […] for this user';
  return [['user', withHint(`${user} is in no role of the file by id`, hint)]];
}

function scopeProblems(fields: FieldsCaseSchema, words: CaseVocabulary): readonly FieldMessage[] {
  const { command, service, tag, warehouse, everything } = fields;
  const given = Object.entries({ service, tag, warehouse, everything }).flatMap(([key, value]) =>
    value === undefined ? [] : [key],
  );
  if (![...words.queries, ...words.changes].includes(command)) return [];
  const kind = words.targetKindOf(command);
  const [first = 'service'] = given;
  if (kind === 'none') {
    return given.map((key) => [key, withHint(`does not fit ${quoted(command)}`, 'remove it')]);
  }
  if (given.length === 0) {
    const everythingToo = kind === 'scope' ? ', or everything: true' : '';
    return [['service', withHint('is missing', `or tag, or warehouse${everythingToo}`)]];
  }
  if (kind === 'service' && everything) {
    return [['everything', withHint(`does not fit ${quoted(command)}`, 'name a service')]];
  }
  const isOne = given.length === 1 || (kind === 'service' && service === undefined);
  return isOne ? [] : [[first, withHint(`contradicts ${given[1]}`, 'remove one of them')]];
}
