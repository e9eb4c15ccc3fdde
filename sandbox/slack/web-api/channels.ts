import type { Json } from '../../protocol.ts';
import type { World } from '../state.ts';
import { directRoom, isIn, memberOf, type Room, roomOf } from '../workspace.ts';
import { type Reply, refuse } from './method.ts';

/** Where the app may speak: the room, or the name of Slack's refusal. */
export function roomToPostIn(world: World, channel: string | undefined): Room | Reply {
  const { workspace, manifest } = world;
  if (channel === undefined) return refuse('channel_not_found');
  const room = /^[UW]/.test(channel) ? roomOfPerson(world, channel) : roomOf(workspace, channel);
  if (!room) return refuse('channel_not_found');
  if (room.archived) return refuse('is_archived');
  if (room.kind === 'dm' && !manifest.messagesTab) return refuse('messages_tab_disabled');
  if (isIn(room, workspace.botUserId)) return room;
  // A private channel that the app is not in does not exist for it.
  if (room.kind === 'private') return refuse('channel_not_found');
  const anywhere = room.kind === 'public' && manifest.scopes.includes('chat:write.public');
  return anywhere ? room : refuse('not_in_channel');
}

function roomOfPerson(world: World, id: string): Room | undefined {
  const member = memberOf(world.workspace, id);
  const writable = member && !member.deleted && member.kind !== 'bot';
  return writable && member.teamId === world.workspace.teamId
    ? directRoom(world.workspace, id)
    : undefined;
}

/** A room that the app can see at all; private ones only from the inside. */
export function visibleRoom(world: World, channel: string | undefined): Room | undefined {
  const room = channel === undefined ? undefined : roomOf(world.workspace, channel);
  const hidden = room?.kind === 'private' || room?.kind === 'dm';
  return room && (!hidden || isIn(room, world.workspace.botUserId)) ? room : undefined;
}

/** `channels:read`, `groups:history` and so on: Slack's scopes go by the kind of conversation. */
export function scopeFor(room: Room, what: 'read' | 'history'): string {
  const kind = { public: 'channels', external: 'channels', private: 'groups', dm: 'im' }[room.kind];
  return `${kind}:${what}`;
}

export function conversationJson(world: World, room: Room): Json {
  const { botUserId, teamId } = world.workspace;
  const dm = room.kind === 'dm';
  return {
    id: room.id,
    is_channel: room.kind === 'public' || room.kind === 'external',
    is_group: room.kind === 'private',
    is_im: dm,
    is_mpim: false,
    is_private: room.kind === 'private' || dm,
    is_archived: room.archived,
    is_general: room.name === 'general',
    is_shared: room.kind === 'external',
    is_ext_shared: room.kind === 'external',
    is_org_shared: false,
    is_pending_ext_shared: false,
    context_team_id: teamId,
    ...(dm
      ? { user: room.members.find((id) => id !== botUserId) }
      : {
          name: room.name,
          previous_names: room.formerNames ?? [],
          is_member: isIn(room, botUserId),
          num_members: room.members.length,
          topic: { value: room.topic, creator: '', last_set: 0 },
          purpose: { value: '', creator: '', last_set: 0 },
        }),
  };
}
