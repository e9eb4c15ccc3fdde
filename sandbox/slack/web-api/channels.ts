import type { Json } from '../../json.ts';
import type { SlackState } from '../state.ts';
import {
  type Conversation,
  conversationOf,
  directConversation,
  isColleague,
  isIn,
  memberOf,
  teamsOf,
} from '../workspace/workspace.ts';
import { refuse } from './method.ts';

/** The conversation, if the app may post in it. */
export function conversationForPosting(slack: SlackState, channel = ''): Conversation {
  const { workspace, manifest } = slack;
  // A name means a channel of one workspace.
  const isNamed = workspace.orgWide && !/^[CDGUW][A-Z0-9]+$/.test(channel);
  if (channel === '' || isNamed) return refuse('channel_not_found');
  const conversation = postedTo(slack, channel);
  if (!conversation) return refuse('channel_not_found');
  if (conversation.archived) return refuse('is_archived');
  if (conversation.kind === 'dm' && !manifest.messagesTab) return refuse('messages_tab_disabled');
  if (isIn(conversation, workspace.botUserId)) return conversation;
  // Slack hides private channels from an app that is not a member.
  if (conversation.kind === 'private') return refuse('channel_not_found');
  const anywhere = conversation.kind === 'public' && manifest.scopes.includes('chat:write.public');
  return anywhere ? conversation : refuse('not_in_channel');
}

/** The conversation with this id or name, or with the person who has this id. */
export function postedTo(slack: SlackState, id: string): Conversation | undefined {
  if (!/^[UW]/.test(id)) return conversationOf(slack.workspace, id);
  const member = memberOf(slack.workspace, id);
  const writable = member && !member.deleted && member.kind !== 'bot';
  return writable && isColleague(slack.workspace, member)
    ? directConversation(slack.workspace, member.id)
    : undefined;
}

/** The conversation, if the app can see it: private ones only when the app is a member. */
export function visibleConversation(slack: SlackState, channel = ''): Conversation {
  const conversation = conversationOf(slack.workspace, channel);
  if (!conversation || !isVisible(slack, conversation)) return refuse('channel_not_found');
  return conversation;
}

export function isVisible(slack: SlackState, conversation: Conversation): boolean {
  const isHidden = conversation.kind === 'private' || conversation.kind === 'dm';
  return !isHidden || isIn(conversation, slack.workspace.botUserId);
}

/** The scope for this kind of conversation, for example `groups:history`. */
export function scopeFor({ kind }: Pick<Conversation, 'kind'>, what: 'read' | 'history'): string {
  const prefix = { public: 'channels', external: 'channels', private: 'groups', dm: 'im' }[kind];
  return `${prefix}:${what}`;
}

export function conversationJson(slack: SlackState, conversation: Conversation): Json {
  const { botUserId } = slack.workspace;
  const teams = teamsOf(slack.workspace, conversation);
  const isDirect = conversation.kind === 'dm';
  return {
    id: conversation.id,
    is_channel: conversation.kind === 'public' || conversation.kind === 'external',
    is_group: conversation.kind === 'private',
    is_im: isDirect,
    is_mpim: false,
    is_private: conversation.kind === 'private' || isDirect,
    is_archived: conversation.archived,
    is_general: conversation.name === 'general',
    is_shared: conversation.kind === 'external' || teams.length > 1,
    is_ext_shared: conversation.kind === 'external',
    ...{ is_org_shared: teams.length > 1, is_pending_ext_shared: false },
    context_team_id: teams[0],
    ...(isDirect
      ? { user: conversation.members.find((id) => id !== botUserId) }
      : {
          name: conversation.name,
          previous_names: conversation.formerNames ?? [],
          is_member: isIn(conversation, botUserId),
          num_members: conversation.members.length,
          topic: { value: conversation.topic, creator: '', last_set: 0 },
          purpose: { value: '', creator: '', last_set: 0 },
        }),
  };
}
