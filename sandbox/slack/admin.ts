import type { Json } from '../protocol.ts';
import { announce } from './delivery/events.ts';
import { changed, type World } from './state.ts';
import { groupJson, userJson } from './web-api/users.ts';
import { type Group, groupOf, type Member, memberOf, type Room, roomOf } from './workspace.ts';

/**
 * What an administrator of the workspace does. Each function settles when the app has taken the
 * events that follow, or Slack has given them up.
 */
export interface Admin {
  readonly setGroup: (handle: string, users: readonly string[]) => Promise<void>;
  readonly disableGroup: (handle: string) => Promise<void>;
  readonly addPerson: (person: Member) => Promise<void>;
  readonly changePerson: (id: string, change: PersonChange) => Promise<void>;
  readonly deactivate: (id: string) => Promise<void>;
  readonly addChannel: (room: Room) => void;
  readonly archive: (channel: string) => void;
  /** Under its old name nobody finds it any more; its id stays. */
  readonly rename: (channel: string, name: string) => void;
  readonly invite: (channel: string, ...people: string[]) => void;
  readonly kick: (channel: string, person: string) => void;
}

export type PersonChange = Partial<Pick<Member, 'kind' | 'deleted' | 'realName' | 'title'>>;

export function adminOf(world: World): Admin {
  const { workspace } = world;
  return {
    setGroup: (handle, users) => setGroup(world, mustBe(groupOf(workspace, handle), handle), users),
    disableGroup: (handle) => disable(world, mustBe(groupOf(workspace, handle), handle)),
    addPerson(person) {
      workspace.members.push(person);
      return tell(world, { type: 'team_join', user: userJson(world, person) });
    },
    changePerson: (id, change) => changePerson(world, mustBe(memberOf(workspace, id), id), change),
    deactivate: (id) => changePerson(world, mustBe(memberOf(workspace, id), id), { deleted: true }),
    addChannel(room) {
      workspace.channels.push(room);
      changed(world);
    },
    archive(channel) {
      mustBe(roomOf(workspace, channel), channel).archived = true;
      changed(world);
    },
    rename(channel, name) {
      const room = mustBe(roomOf(workspace, channel), channel);
      room.formerNames = [...(room.formerNames ?? []), room.name];
      room.name = name;
      changed(world);
    },
    invite(channel, ...people) {
      const room = mustBe(roomOf(workspace, channel), channel);
      room.members.push(...people.filter((id) => !room.members.includes(id)));
      changed(world);
    },
    kick(channel, person) {
      const { members } = mustBe(roomOf(workspace, channel), channel);
      if (members.includes(person)) members.splice(members.indexOf(person), 1);
      changed(world);
    },
  };
}

function mustBe<Thing>(thing: Thing | undefined, name: string): Thing {
  if (thing === undefined) throw new RangeError(`the workspace has no ${name}`);
  return thing;
}

async function setGroup(world: World, group: Group, users: readonly string[]): Promise<void> {
  const before = { users: group.users, updatedAt: group.updatedAt };
  group.users = [...users];
  group.updatedAt = nextUpdate(world, group);
  await Promise.all([
    tell(world, {
      type: 'subteam_members_changed',
      subteam_id: group.id,
      team_id: world.workspace.teamId,
      date_previous_update: before.updatedAt,
      date_update: group.updatedAt,
      added_users: users.filter((id) => !before.users.includes(id)),
      removed_users: before.users.filter((id) => !users.includes(id)),
    }),
    tellGroup(world, group),
  ]);
}

async function disable(world: World, group: Group): Promise<void> {
  group.disabled = true;
  group.updatedAt = nextUpdate(world, group);
  await tellGroup(world, group);
}

/** Later than the last one, so that a chain of updates can be followed. */
function nextUpdate(world: World, group: Group): number {
  return Math.max(Math.floor(world.now().getTime() / 1000), group.updatedAt + 1);
}

function tellGroup(world: World, group: Group): Promise<void> {
  const cut = { ...group, users: group.users.slice(0, 500) };
  const subteam = { ...groupJson(world, cut, true), user_count: group.users.length };
  return tell(world, { type: 'subteam_updated', subteam });
}

async function changePerson(world: World, person: Member, change: PersonChange): Promise<void> {
  Object.assign(person, change);
  await tell(world, { type: 'user_change', user: userJson(world, person) });
}

async function tell(world: World, event: Json & { readonly type: string }): Promise<void> {
  changed(world);
  await announce(world, event).done;
}
