import type { Target, UserId } from '../../domain/change.ts';
import { minuteText, type PolicyAnswer } from '../../policy/cases/answer.ts';
import { decidedText, expectationText, meetsExpectation } from '../../policy/cases/expectation.ts';
import { caseTargets } from './case-targets.ts';
import { decideRequest } from './decide-request.ts';
import type { CasesRead, LocatedCase, PolicyFile } from './read-files.ts';

interface CasesReport {
  readonly text: string;
  readonly isAsExpected: boolean;
}

/** Decides every case and compares. The report has one line for each case, and a count. */
export function runCases(path: string, { file, cases }: CasesRead): CasesReport {
  const results = cases.map((one) => resultOf(one, file));
  const different = results.filter(({ isMet }) => !isMet).length;
  const lines = results.flatMap((result) => linesFor(path, result));
  const count = results.length === 1 ? '1 case' : `${results.length} cases`;
  const summary = `${count}: ${results.length - different} as expected, ${different} different.`;
  return { text: [...lines, '', summary, ''].join('\n'), isAsExpected: different === 0 };
}

interface CaseResult {
  readonly one: LocatedCase;
  readonly isMet: boolean;
  /** The first target whose decision differs, else the first one. */
  readonly target: Target | null;
  readonly answer: PolicyAnswer;
}

// A policy compares roles only, so that the id of a case without a user has no meaning.
const NO_USER = '' as UserId;

/** Long enough for every rule: the schema of the policy allows a minimum of 500 characters. */
const LONG_REASON = '-'.repeat(500);

function resultOf(one: LocatedCase, file: PolicyFile): CaseResult {
  const { user } = one;
  const listing = [...file.policy.roles].filter(([, { users }]) => user && users.includes(user));
  const roles = [...new Set([...one.roles, ...listing.map(([name]) => name)])];
  const actor = { id: user ?? NO_USER, roles };
  const { command, at: now } = one;
  const reason = one.reason ?? LONG_REASON;
  const results = caseTargets(one, file).map((target): CaseResult => {
    const answer = decideRequest(file.policy, { command, target, actor, reason, now });
    return { one, target, answer, isMet: meetsExpectation(one.expected, one.rule, answer) };
  });
  const [first] = results;
  if (!first) throw new Error('A case without a target is refused when its file is read');
  return results.find(({ isMet }) => !isMet) ?? first;
}

function linesFor(path: string, { one, isMet, target, answer }: CaseResult): readonly string[] {
  const name = `${path}:${one.line}  ${one.name ?? requestText(one)}`;
  if (isMet) return [`✓ ${name}: ${decidedText(answer)}`];
  const on = one.scope.service === null && target ? ` on ${target.name}` : '';
  return [
    `✗ ${name}`,
    `    expected: ${expectationText(one.expected, one.rule)}`,
    `    actual:   ${decidedText(answer)}${on}`,
  ];
}

/** `operator: service stop on analytics-prod at 2026-11-23T10:00Z` */
function requestText({ user, roles, command, scope, at }: LocatedCase): string {
  const who = [user, ...roles].filter((word) => word !== null).join(', ') || 'no role';
  const words = [
    scope.service,
    scope.tag && `tag ${scope.tag}`,
    scope.warehouse && `warehouse ${scope.warehouse}`,
    scope.everything ? 'everything' : null,
  ].filter(Boolean);
  const on = words.length > 0 ? ` on ${words.join(', ')}` : '';
  return `${who}: ${command}${on} at ${minuteText(at)}`;
}
