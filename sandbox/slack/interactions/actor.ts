import type { Json } from '../../protocol.ts';
import type { World } from '../state.ts';
import { isIn, type Member, memberOf, type Room, roomOf } from '../workspace.ts';

/** Nobody could do this in Slack: the person, or what they would touch, is not there for them. */
export class ImpossibleGesture extends Error {
  override readonly name = 'ImpossibleGesture';
}

export function actingPerson(world: World, id: string): Member {
  const person = memberOf(world.workspace, id);
  if (!person) throw new ImpossibleGesture(`there is no person ${id}`);
  if (person.deleted) throw new ImpossibleGesture(`${person.realName} is deactivated`);
  if (person.kind === 'bot') throw new ImpossibleGesture('apps do not type or press');
  return person;
}

export function roomWith(world: World, person: Member, channel: string): Room {
  const room = roomOf(world.workspace, channel);
  if (room && isIn(room, person.id)) return room;
  throw new ImpossibleGesture(`${person.realName} is not in ${channel}`);
}

/** Slash commands and shortcuts are not shared with people of other workspaces. */
export function isOfThisWorkspace(world: World, person: Member): boolean {
  return person.teamId === world.workspace.teamId;
}

/** The fields that all interactive payloads begin with. */
export function envelope(world: World, person: Member): Json {
  const { teamId, domain, appId } = world.workspace;
  return {
    token: 'deprecated',
    team: { id: teamId, domain },
    user: {
      id: person.id,
      username: person.name,
      name: person.name,
      team_id: person.teamId,
    },
    api_app_id: appId,
    is_enterprise_install: false,
    enterprise: null,
  };
}

export function roomJson(room: Room): Json {
  return { id: room.id, name: roomName(room) };
}

export function roomName(room: Room): string {
  if (room.kind === 'dm') return 'directmessage';
  return room.kind === 'private' ? 'privategroup' : room.name;
}
