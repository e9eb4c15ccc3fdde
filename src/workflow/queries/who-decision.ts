import type { RoleName, Target } from '../../changes/change.ts';
import type { Actor } from '../../changes/outcome.ts';
import type { Service } from '../../directory/directory.ts';
import type { WhoQuestion } from '../../intent/ports/who-queries.ts';
import { type Decision, decide, type Question } from '../../policy/decide.ts';
import type { Policy } from '../../policy/policy-types.ts';
import type { World } from '../ports.ts';

export type WhoWorld = Pick<World, 'database' | 'policy' | 'people' | 'now' | 'commands'> & {
  readonly services: () => readonly Service[];
};

export interface Asked {
  readonly command: string;
  readonly scope: WhoQuestion['scope'];
  readonly target: Target | null;
  readonly asker: Actor;
}

/** What would be decided now about somebody with these roles who gives a long reason. */
export function decideFor(
  { commands, now }: WhoWorld,
  policy: Policy,
  { command, target, asker }: Asked,
  roles: readonly RoleName[],
) {
  const kind: Question['kind'] = commands.has(command) ? 'change' : 'query';
  const actor = { id: asker.id, roles };
  const reason = '-'.repeat(500);
  const decision: Decision = decide(policy, { command, kind, target, actor, reason, now: now() });
  return { refusal: null, ...decision };
}
