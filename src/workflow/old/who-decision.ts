import type { WhoQuestion } from '../../commands/index.ts';
import type { Actor, RoleName, Target } from '../../domain/change.ts';
import { gate } from '../../domain/gate.ts';
import type { Policy } from '../../domain/policy.ts';
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
  const verb = commands.has(command) ? 'request' : 'query';
  const proposal = { command, target, reason: '-'.repeat(500) };
  const identity = { ok: true, actor: { id: asker.id, roles } } as const;
  const answer = gate(proposal, verb, { identity, policy, now: now() });
  return { refusal: null, ...answer };
}
