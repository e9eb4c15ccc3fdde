import { type ChangeCommand, oneOf } from '../commands/index.ts';
import { countWords, type InlinePart } from '../domain/answer.ts';
import { type Change, changeTitle, isPerson, type RoleName } from '../domain/change.ts';
import type { SomeMembers } from '../domain/gate.ts';
import type { Policy } from '../domain/policy.ts';
import type { LinkOf } from './links.ts';
import { either, type Line, oneLine, type RichInline } from './rich-text.ts';

/** What every message needs for drawing, besides the change. */
export interface DrawContext {
  readonly policy: Policy;
  readonly prefix: string;
  readonly commands: ReadonlyMap<string, ChangeCommand>;
  /** The ids of the user groups of a role, for mentions. */
  readonly groupIds: (role: RoleName) => readonly string[];
  readonly linkOf: LinkOf;
  /** The address of `cloud.console`; null if the configuration has none. */
  readonly console: string | null;
  /** The app may not act in the workspace any more. */
  readonly isLost: () => boolean;
  /** The word with which Slack refused the last lookup of people; null where the last one was not refused. */
  readonly lookupRefusal: () => string | null;
}

/** Mentions the groups of a role, or its listed users when it has no group. */
export function mentionOf(role: RoleName | null, { policy, groupIds }: DrawContext): Line {
  if (role === null) return [];
  const groups = groupIds(role).map((group) => ({ group }));
  const users = (policy.roles.get(role)?.users ?? []).map((user) => ({ user }));
  const mentions: readonly RichInline[] = groups.length > 0 ? groups : users;
  return mentions.flatMap((one, index) => (index > 0 ? [' ', one] : [one]));
}

/** The user groups of a role, as text: a mention would notify their members. */
export function roleText(policy: Policy, role: RoleName | null): string {
  const groups = role ? (policy.roles.get(role)?.groups ?? []) : [];
  const handles = groups.map((group) => /@.*/.exec(group)?.[0] ?? `the group ${group}`);
  return handles.join(' or ') || `the role ${role ?? 'that the rule names'}`;
}

/** `Your roles: operator (@db-operators), oncall.`, or how to get one. */
export function rolesLine(policy: Policy, own: readonly RoleName[]): readonly InlinePart[] {
  if (own.length === 0) return ['You have no role. ', ...howToGetRole(policy)];
  const named = own.map((role) => {
    const hasGroups = (policy.roles.get(role)?.groups.length ?? 0) > 0;
    return hasGroups ? `${role} (${roleText(policy, role)})` : role;
  });
  return [`Your roles: ${named.join(', ')}.`];
}

/** `Ask to join @engineering (viewer) or @db-leads (approver).`, or the users whom the file lists. */
function howToGetRole(policy: Policy): readonly InlinePart[] {
  const roles = [...policy.roles];
  const groups = roles
    .filter(([, { groups: of }]) => of.length > 0)
    .map(([role]) => `${roleText(policy, role)} (${role})`);
  if (groups.length > 0) return [`Ask to join ${oneOf(groups)}.`];
  const users = [...new Set(roles.flatMap(([, role]) => role.users))].slice(0, LISTED_MAX);
  const named = users.flatMap((user, index) => [index === 0 ? ': ' : ', ', { user }]);
  return ['The configuration file lists the users who have one. Ask one of them', ...named, '.'];
}

const LISTED_MAX = 5;
const NAMED_MAX = 3;

/** `Ben, Cleo or others`, with the number of the others where it is known: `2 more from @db-leads`. */
export function peopleLine({ users, more }: SomeMembers, from = ''): Line {
  const shown: RichInline[] = users.slice(0, NAMED_MAX).map((user) => ({ user }));
  const left = users.length - NAMED_MAX;
  if (more) return either([...shown, `others${from}`]);
  return either(left > 0 ? [...shown, `${left} more${from}`] : shown);
}

/** `1 more approval from @db-leads is needed.` */
export function neededText({ requires, approvals }: Change, { policy }: DrawContext): string {
  const left = requires.count - approvals.length;
  const verb = left === 1 ? 'is' : 'are';
  return `${countWords(left, 'more approval')} from ${roleText(policy, requires.from)} ${verb} needed.`;
}

/** `Ana`, `Ana via copilot` or `agent ci`: who requested a change. */
export function requesterLine({ requester, via }: Pick<Change, 'requester' | 'via'>): Line {
  return [{ user: requester }, ...(via?.for === 'person' ? [` via ${via.agent}`] : [])];
}

/** Mentions the requester, who is notified by it; nothing for an agent. */
export function callRequester({ requester }: Pick<Change, 'requester'>): Line {
  return isPerson(requester) ? [{ user: requester }, ' '] : [];
}

type Named = Pick<Change, 'command' | 'plan'>;

export function actionText(change: Named): string {
  return oneLine(changeTitle(change));
}

/** `Edit alert "5xx rate" (firing)`: with the state of an alert, for a decision about the change. */
export function requestedAction(change: Change): string {
  const { before, target } = change.plan;
  const isFiring = target.kind === 'alert' && before?.volatileFields?.state === 'ALERT';
  return `${actionText(change)}${isFiring ? ' (firing)' : ''}`;
}

export function lowerActionText(change: Named): string {
  return lowerFirst(actionText(change));
}

export function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
