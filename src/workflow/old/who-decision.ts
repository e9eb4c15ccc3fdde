import type { WhoQuestion } from '../../commands/index.ts';
import type { Actor, RoleName, Target } from '../../domain/change.ts';
import { type Decision, decide, type Policy, type PolicyQuestion } from '../../domain/policy.ts';
import type { DecisionContext } from './ports.ts';

export type WhoContext = Pick<
  DecisionContext,
  | 'database'
  | 'auditKey'
  | 'policy'
  | 'services'
  | 'discoversServices'
  | 'people'
  | 'now'
  | 'commands'
>;

/** The command and target of a question, and the user who asks. */
export interface WhoSubject {
  readonly command: string;
  readonly scope: WhoQuestion['scope'];
  readonly target: Target | null;
  readonly asker: Actor;
}

/** Returns the decision about a user with these roles who gives a long enough reason. */
export function decideFor(
  { commands, now }: WhoContext,
  policy: Policy,
  { command, target, asker }: WhoSubject,
  roles: readonly RoleName[],
) {
  const kind: PolicyQuestion['kind'] = commands.has(command) ? 'change' : 'query';
  const actor = { id: asker.id, roles };
  const reason = '-'.repeat(500);
  const decision: Decision = decide(policy, { command, kind, target, actor, reason, now: now() });
  return { refusal: null, ...decision };
}
