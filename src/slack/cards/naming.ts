import type { Change, RoleName, UserId } from '../../changes/change.ts';
import { changeTitle } from '../../changes/change-title.ts';
import { countWords } from '../../intent/answers/texts.ts';
import type { Policy } from '../../policy/policy-types.ts';
import { either, type Line, oneLine, type RichInline } from '../blocks/rich-text.ts';

/** The user groups of a role, as text: a mention would notify their members. */
export function roleText(policy: Policy, role: RoleName | null): string {
  const groups = role ? (policy.roles.get(role)?.groups ?? []) : [];
  const handles = groups.map((group) => (group.startsWith('@') ? group : `the group ${group}`));
  return handles.join(' or ') || `the role ${role ?? 'that the rule names'}`;
}

export function peopleLine(users: readonly UserId[], most = 5): Line {
  const shown: RichInline[] = users.slice(0, most).map((user) => ({ user }));
  const others = users.length - most;
  return either(others > 0 ? [...shown, countWords(others, 'other')] : shown);
}

export function actionText(change: Pick<Change, 'command' | 'plan'>): string {
  return oneLine(changeTitle(change));
}

export function lowerActionText(change: Pick<Change, 'command' | 'plan'>): string {
  const text = actionText(change);
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
