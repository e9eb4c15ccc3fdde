import { decidingRoles, resolvingRoles } from '../../domain/approvals.ts';
import type { Change, Refusal, RoleName } from '../../domain/change.ts';
import type { Denial, SomeMembers } from '../../domain/gate.ts';
import { type CurrentRuleContext, currentRequirement } from './current-target.ts';
import type { DecisionContext } from './ports.ts';

/** What it takes to know the current rule of a change. */
export type RolesContext = CurrentRuleContext & Pick<DecisionContext, 'now'>;

/** Adds users who could act instead. Called when the refusal is recorded, so that it delays none. */
export async function nameAlternatives(
  context: RolesContext & Pick<DecisionContext, 'people'>,
  denial: Denial,
): Promise<Denial> {
  const { refusal, change, role } = denial;
  const isRequest = refusal === 'not-a-requester' && role !== null;
  const roles = isRequest ? [role] : change ? rolesFor(context, refusal, change) : [];
  if (roles.length === 0) return denial;
  const found = await Promise.all(roles.map((each) => context.people.someMembers(each)));
  return { ...denial, who: joined(found, denial) };
}

/** The roles whose members could press instead; empty where the refusal depends on no role. */
export function rolesFor(
  context: RolesContext,
  refusal: Refusal,
  change: Change,
): readonly RoleName[] {
  const { to, breakGlass } = change.requires;
  if (refusal === 'may-not-break-glass') return breakGlass === null ? [] : [breakGlass];
  if (refusal !== 'self-approval' && refusal !== 'not-an-approver') return [];
  if (change.state === 'unknown') {
    const roles = resolvingRoles(change, currentRequirement(context, change));
    return roles.filter((role) => context.policy.roles.has(role));
  }
  const deciding = decidingRoles(change, context.now());
  return deciding.length > 0 ? deciding : [breakGlass ?? to];
}

function joined(
  found: readonly (SomeMembers | null)[],
  { refusal, change }: Denial,
): SomeMembers | null {
  const known = found.filter((each) => each !== null);
  if (known.length === 0) return null;
  const isExcluded = change && !change.requires.self && refusal !== 'may-not-break-glass';
  const users = known
    .flatMap((each) => each.users)
    .filter((id) => !isExcluded || id !== change.requester);
  const more = known.length < found.length || known.some((each) => each.more);
  return { users: [...new Set(users)], more };
}
