import type { Policy } from '../../domain/policy.ts';
import { decide, type PolicyQuestion } from '../../domain/policy.ts';
import { answerOf, type PolicyAnswer } from '../../policy/cases/answer.ts';
import { commandsByName } from './case-targets.ts';

/** Decides a request as the bot does, with the reason that some commands need under every rule. */
export function decideRequest(
  policy: Policy,
  question: Omit<PolicyQuestion, 'kind'>,
): PolicyAnswer {
  const command = commandsByName.get(question.command);
  const answer = answerOf(decide(policy, { ...question, kind: command?.kind ?? 'change' }));
  const needsReason = command?.kind === 'change' && command.needsReason === true;
  const hasReason = question.reason !== null && question.reason !== '';
  if (!answer.allow || !needsReason || hasReason) return answer;
  return { allow: false, rule: answer.rule, refusal: 'reason-required', detail: null };
}
