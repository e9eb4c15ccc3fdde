import { sandboxWorkspace } from './sandbox-workspace.ts';
import type { Conversation, Member, Workspace } from './workspace.ts';

/** Every second channel is archived, and all of these, so that pages of open channels are empty. */
const ARCHIVED = { from: 5_000, to: 8_000 };

/**
 * The sandbox workspace with more public channels, which come first in lists, and more people, who
 * are members of #general.
 */
export function largeWorkspace(channels = 20_000, people = 10_000): Workspace {
  const members = numbered(people, person);
  const ids = members.map(({ id }) => id);
  return {
    ...sandboxWorkspace,
    members: [...sandboxWorkspace.members, ...members],
    channels: [
      ...numbered(channels, team),
      ...sandboxWorkspace.channels.map((channel) =>
        channel.name === 'general'
          ? { ...channel, members: [...channel.members, ...ids] }
          : channel,
      ),
    ],
  };
}

function numbered<Item>(count: number, itemOf: (n: number) => Item): Item[] {
  return Array.from({ length: count }, (_, n) => itemOf(n));
}

function person(n: number): Member {
  const name = `person-${n}`;
  const id = `U1${String(n).padStart(8, '0')}`;
  const kind = 'member';
  const { teamId } = sandboxWorkspace;
  return { id, name, realName: `Person ${n}`, title: '', kind, deleted: n % 10 === 9, teamId };
}

function team(n: number): Conversation {
  const archived = n % 2 === 1 || (n >= ARCHIVED.from && n < ARCHIVED.to);
  const id = `C1${String(n).padStart(8, '0')}`;
  return { id, name: `team-${n}`, kind: 'public', topic: '', members: [], archived };
}
