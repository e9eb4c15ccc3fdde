import type { Json } from '../protocol.ts';
import { announce } from './delivery/events.ts';
import { changed, type SlackState } from './state.ts';
import { groupJson, userJson } from './web-api/users.ts';
import {
  type Conversation,
  conversationOf,
  type Group,
  groupOf,
  type Member,
  memberOf,
} from './workspace.ts';

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
  readonly addChannel: (conversation: Conversation) => void;
  readonly archive: (channel: string) => void;
  /** Under its old name nobody finds it any more; its id stays. */
  readonly rename: (channel: string, name: string) => void;
  readonly invite: (channel: string, ...people: string[]) => void;
  readonly kick: (channel: string, person: string) => void;
}

export type PersonChange = Partial<Pick<Member, 'kind' | 'deleted' | 'realName' | 'title'>>;

export function adminOf(slack: SlackState): Admin {
  const { workspace } = slack;
  return {
    setGroup: (handle, users) => setGroup(slack, mustBe(groupOf(workspace, handle), handle), users),
    disableGroup: (handle) => disable(slack, mustBe(groupOf(workspace, handle), handle)),
    addPerson(person) {
      workspace.members.push(person);
      return tell(slack, { type: 'team_join', user: userJson(slack, person) });
    },
    changePerson: (id, change) => changePerson(slack, mustBe(memberOf(workspace, id), id), change),
    deactivate: (id) => changePerson(slack, mustBe(memberOf(workspace, id), id), { deleted: true }),
    addChannel(conversation) {
      workspace.channels.push(conversation);
      changed(slack);
    },
    archive(channel) {
      mustBe(conversationOf(workspace, channel), channel).archived = true;
      changed(slack);
    },
    rename(channel, name) {
      const conversation = mustBe(conversationOf(workspace, channel), channel);
      conversation.formerNames = [...(conversation.formerNames ?? []), conversation.name];
      conversation.name = name;
      changed(slack);
    },
    invite(channel, ...people) {
      const conversation = mustBe(conversationOf(workspace, channel), channel);
      conversation.members.push(...people.filter((id) => !conversation.members.includes(id)));
      changed(slack);
    },
    kick(channel, person) {
      const { members } = mustBe(conversationOf(workspace, channel), channel);
      if (members.includes(person)) members.splice(members.indexOf(person), 1);
      changed(slack);
    },
  };
}

function mustBe<Thing>(thing: Thing | undefined, name: string): Thing {
  if (thing === undefined) throw new RangeError(`the workspace has no ${name}`);
  return thing;
}

async function setGroup(slack: SlackState, group: Group, users: readonly string[]): Promise<void> {
  const before = { users: group.users, updatedAt: group.updatedAt };
  group.users = [...users];
  group.updatedAt = nextUpdate(slack, group);
  await Promise.all([
    tell(slack, {
      type: 'subteam_members_changed',
      subteam_id: group.id,
      team_id: slack.workspace.teamId,
      date_previous_update: before.updatedAt,
      date_update: group.updatedAt,
      added_users: users.filter((id) => !before.users.includes(id)),
      removed_users: before.users.filter((id) => !users.includes(id)),
    }),
    tellGroup(slack, group),
  ]);
}

async function disable(slack: SlackState, group: Group): Promise<void> {
  group.disabled = true;
  group.updatedAt = nextUpdate(slack, group);
  await tellGroup(slack, group);
}

/** Later than the last one, so that a chain of updates can be followed. */
function nextUpdate(slack: SlackState, group: Group): number {
  return Math.max(Math.floor(slack.now().getTime() / 1000), group.updatedAt + 1);
}

function tellGroup(slack: SlackState, group: Group): Promise<void> {
  const cut = { ...group, users: group.users.slice(0, 500) };
  const subteam = { ...groupJson(slack, cut, true), user_count: group.users.length };
  return tell(slack, { type: 'subteam_updated', subteam });
}

async function changePerson(
  slack: SlackState,
  person: Member,
  change: PersonChange,
): Promise<void> {
  Object.assign(person, change);
  await tell(slack, { type: 'user_change', user: userJson(slack, person) });
}

async function tell(slack: SlackState, event: Json & { readonly type: string }): Promise<void> {
  changed(slack);
  await announce(slack, event).done;
}
