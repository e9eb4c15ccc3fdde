import type { Json } from '../json.ts';
import { sendEvent } from './delivery/events.ts';
import { messageAt, remove } from './messages.ts';
import { notifyWatchers, type SlackState } from './state.ts';
import { groupJson, userJson } from './web-api/users.ts';
import {
  type Conversation,
  conversationOf,
  type Group,
  groupOf,
  type Member,
  memberOf,
} from './workspace/workspace.ts';

/**
 * The actions of a workspace administrator. Each promise settles when the app has accepted the
 * events about the action or Slack has stopped retrying them.
 */
export interface Admin {
  /** Replaces the scopes of the app-level token. */
  readonly setAppTokenScopes: (scopes: readonly string[]) => void;
  /** Removes the app from the workspace. Slack sends two events about it, in no certain order. */
  readonly uninstall: () => Promise<void>;
  /** Revokes the bot token, or brings it back, without an event. */
  readonly revokeToken: (isRevoked: boolean) => void;
  readonly setGroup: (handle: string, users: readonly string[]) => Promise<void>;
  readonly disableGroup: (handle: string) => Promise<void>;
  readonly addPerson: (person: Member) => Promise<void>;
  readonly changePerson: (id: string, change: PersonChange) => Promise<void>;
  readonly deactivate: (id: string) => Promise<void>;
  readonly addChannel: (conversation: Conversation) => void;
  readonly archive: (channel: string) => void;
  /** Lets no app post messages in a channel: `restricted_action`. */
  readonly restrict: (channel: string) => void;
  /** Lets messages be edited for these minutes only: `edit_window_closed`. */
  readonly limitEditing: (minutes: number) => void;
  /** Shares a channel with another workspace. */
  readonly share: (channel: string) => void;
  /** Changes the name of a channel; its id stays the same. */
  readonly rename: (channel: string, name: string) => void;
  readonly invite: (channel: string, ...people: string[]) => void;
  readonly kick: (channel: string, person: string) => void;
  /** Deletes a message; a call that names it then gets `message_not_found`. */
  readonly deleteMessage: (channel: string, ts: string) => void;
}

type PersonChange = Partial<Pick<Member, 'kind' | 'deleted' | 'realName' | 'title'>>;

export function adminOf(slack: SlackState): Admin {
  const { workspace } = slack;
  const send = async (event: Json & { readonly type: string }) => {
    notifyWatchers(slack);
    await sendEvent(slack, event).done;
  };
  const changeChannel = (channel: string, change: (conversation: Conversation) => void) => {
    change(required(conversationOf(workspace, channel), channel));
    notifyWatchers(slack);
  };
  const changePerson = (id: string, change: PersonChange) => {
    const person = Object.assign(required(memberOf(workspace, id), id), change);
    return send({ type: 'user_change', user: userJson(slack, person) });
  };
  const updateGroup = (handle: string, change: Partial<Pick<Group, 'users' | 'disabled'>>) => {
    const group = required(groupOf(workspace, handle), handle);
    // Each update has a later time than the one before, so that their order is known.
    const updatedAt = Math.max(Math.floor(slack.now().getTime() / 1000), group.updatedAt + 1);
    return { before: { ...group }, group: Object.assign(group, change, { updatedAt }) };
  };
  const sendGroup = (group: Group) => {
    // The event contains at most 500 members.
    const listed = groupJson(slack, { ...group, users: group.users.slice(0, 500) }, true);
    const subteam = { ...listed, user_count: group.users.length };
    return send({ type: 'subteam_updated', subteam });
  };

  return {
    setAppTokenScopes: (scopes) => {
      slack.tokens.appScopes = [...scopes];
    },
    async uninstall() {
      slack.isUninstalled = true;
      const tokens = { oauth: [], bot: [workspace.botUserId] };
      await Promise.all([
        send({ type: 'tokens_revoked', tokens }),
        send({ type: 'app_uninstalled' }),
      ]);
    },
    revokeToken: (isRevoked) => {
      slack.isUninstalled = isRevoked;
    },
    async setGroup(handle, users) {
      const { before, group } = updateGroup(handle, { users: [...users] });
      const membersChanged = {
        type: 'subteam_members_changed',
        subteam_id: group.id,
        team_id: group.teamId ?? workspace.teamId,
        date_previous_update: before.updatedAt,
        date_update: group.updatedAt,
        added_users: users.filter((id) => !before.users.includes(id)),
        removed_users: before.users.filter((id) => !users.includes(id)),
      };
      await Promise.all([send(membersChanged), sendGroup(group)]);
    },
    disableGroup: async (handle) => sendGroup(updateGroup(handle, { disabled: true }).group),
    addPerson(person) {
      workspace.members.push(person);
      return send({ type: 'team_join', user: userJson(slack, person) });
    },
    changePerson,
    deactivate: (id) => changePerson(id, { deleted: true }),
    addChannel(conversation) {
      workspace.channels.push(conversation);
      notifyWatchers(slack);
    },
    archive: (channel) =>
      changeChannel(channel, (conversation) => {
        conversation.archived = true;
      }),
    restrict: (channel) =>
      changeChannel(channel, (conversation) => {
        conversation.restricted = true;
      }),
    limitEditing: (minutes) => {
      slack.editMinutes = minutes;
    },
    share: (channel) =>
      changeChannel(channel, (conversation) => Object.assign(conversation, { kind: 'external' })),
    rename: (channel, name) =>
      changeChannel(channel, (conversation) => {
        conversation.formerNames = [...(conversation.formerNames ?? []), conversation.name];
        conversation.name = name;
      }),
    invite: (channel, ...people) =>
      changeChannel(channel, ({ members }) => {
        members.push(...people.filter((id) => !members.includes(id)));
      }),
    kick: (channel, person) =>
      changeChannel(channel, ({ members }) => {
        if (members.includes(person)) members.splice(members.indexOf(person), 1);
      }),
    deleteMessage(channel, ts) {
      const { id } = required(conversationOf(workspace, channel), channel);
      remove(slack, required(messageAt(slack, id, ts), ts));
    },
  };
}

function required<Thing>(thing: Thing | undefined, name: string): Thing {
  if (thing === undefined) throw new RangeError(`the workspace has no ${name}`);
  return thing;
}
