import type { ChangeCommand } from '../../commands/define.ts';
import type { RoleName } from '../../domain/change.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Line, RichInline } from '../blocks/rich-text.ts';
import type { LinkOf } from './card-link.ts';

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
}

/** Mentions the groups of a role, or its listed users when it has no group. */
export function mentionOf(role: RoleName | null, { policy, groupIds }: DrawContext): Line {
  if (role === null) return [];
  const groups = groupIds(role).map((group) => ({ group }));
  const users = (policy.roles.get(role)?.users ?? []).map((user) => ({ user }));
  const mentions: readonly RichInline[] = groups.length > 0 ? groups : users;
  return mentions.flatMap((one, index) => (index > 0 ? [' ', one] : [one]));
}
