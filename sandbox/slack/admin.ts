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

type PersonChange = Partial<Pick<Member, 'kind' | 'deleted' | 'realName' | 'title'>>;

/**
 * The actions of a workspace administrator. Each promise settles when the app has accepted the
 * events about the action or Slack has stopped retrying them.
 */
export function adminOf(slack: SlackState) {
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
    /** Replaces the scopes of the app-level token. */
    setAppTokenScopes: (scopes: readonly string[]): void => {
      slack.tokens.appScopes = [...scopes];
    },
    /** Removes the app from the workspace. Slack sends two events about it, in no certain order. */
    async uninstall(): Promise<void> {
      slack.isUninstalled = true;
      const tokens = { oauth: [], bot: [workspace.botUserId] };
      await Promise.all([
        send({ type: 'tokens_revoked', tokens }),
        send({ type: 'app_uninstalled' }),
      ]);
    },
    /** Revokes the bot token, or brings it back, without an event. */
    revokeToken: (isRevoked: boolean): void => {
      slack.isUninstalled = isRevoked;
    },
    async setGroup(handle: string, users: readonly string[]): Promise<void> {
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
    disableGroup: async (handle: string) =>
      sendGroup(updateGroup(handle, { disabled: true }).group),
    addPerson(person: Member): Promise<void> {
      workspace.members.push(person);
      return send({ type: 'team_join', user: userJson(slack, person) });
    },
    changePerson,
    deactivate: (id: string) => changePerson(id, { deleted: true }),
    addChannel(conversation: Conversation): void {
      workspace.channels.push(conversation);
      notifyWatchers(slack);
    },
    archive: (channel: string) =>
      changeChannel(channel, (conversation) => {
        conversation.archived = true;
      }),
    /** Lets no app post messages in a channel: `restricted_action`. */
    restrict: (channel: string) =>
      changeChannel(channel, (conversation) => {
        conversation.restricted = true;
      }),
    /** Lets messages be edited for these minutes only: `edit_window_closed`. */
    limitEditing: (minutes: number): void => {
      slack.editMinutes = minutes;
    },
    /** Shares a channel with another workspace. */
    share: (channel: string) =>
      changeChannel(channel, (conversation) => Object.assign(conversation, { kind: 'external' })),
    /** Changes the name of a channel; its id stays the same. */
    rename: (channel: string, name: string) =>
      changeChannel(channel, (conversation) => {
        conversation.formerNames = [...(conversation.formerNames ?? []), conversation.name];
        conversation.name = name;
      }),
    invite: (channel: string, ...people: string[]) =>
      changeChannel(channel, ({ members }) => {
        members.push(...people.filter((id) => !members.includes(id)));
      }),
    kick: (channel: string, person: string) =>
      changeChannel(channel, ({ members }) => {
        if (members.includes(person)) members.splice(members.indexOf(person), 1);
      }),
    /** Deletes a message; a call that names it then gets `message_not_found`. */
    deleteMessage(channel: string, ts: string): void {
      const { id } = required(conversationOf(workspace, channel), channel);
      remove(slack, required(messageAt(slack, id, ts), ts));
    },
  };
}

function required<Thing>(thing: Thing | undefined, name: string): Thing {
  if (thing === undefined) throw new RangeError(`the workspace has no ${name}`);
  return thing;
}
