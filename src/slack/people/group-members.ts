import type { WebClient } from '@slack/web-api';
import type { IdentityEvidence } from '../../domain/gate.ts';

export interface GroupMembers {
  readonly ids: ReadonlySet<string>;
  readonly evidence: IdentityEvidence['groups'][number];
}

interface GroupRead {
  readonly now: () => Date;
  /** Called for a group that does not exist or is disabled. */
  readonly gone: (group: string) => void;
}

/**
 * Reads the members of these groups in one call, because Slack allows 20 calls per minute. A group
 * that is not in the list has no members: the list is complete. Without groups nothing is read.
 * Source: docs/slack.md#users-and-groups.
 */
export async function readGroupMembers(
  lookups: WebClient,
  groups: readonly string[],
  { now, gone }: GroupRead,
): Promise<ReadonlyMap<string, GroupMembers>> {
  if (groups.length === 0) return new Map();
  const readAt = now().toISOString();
  const { usergroups } = await lookups.usergroups.list({ include_users: true });
  if (!usergroups) throw new Error('Slack answered usergroups.list without groups');
  const listed = new Map(usergroups.map((group) => [group.id, group]));
  const members = groups.map((id) => {
    const group = listed.get(id);
    if (!group) gone(id);
    const users = group ? group.users : [];
    if (!users) throw new Error(`Slack answered without the members of ${id}`);
    const ids = new Set(users);
    return [id, { ids, evidence: { id, size: ids.size, readAt } }] as const;
  });
  return new Map(members);
}
