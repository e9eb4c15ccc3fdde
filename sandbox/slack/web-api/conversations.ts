import type { Json } from '../../json.ts';
import { messageAt, messageJson } from '../messages.ts';
import type { StoredMessage } from '../records.ts';
import type { SlackState } from '../state.ts';
import {
  type Conversation,
  directConversation,
  isIn,
  memberOf,
  payloadId,
  teamsOf,
} from '../workspace/workspace.ts';
import { conversationJson, isVisible, scopeFor, visibleConversation } from './channels.ts';
import { flag, method, missingScope, page, refuse, type SlackReply, text } from './method.ts';

/** The conversation, if the app can see it and has the scope. */
function findConversation(slack: SlackState, args: Json, use: 'read' | 'history'): Conversation {
  const conversation = visibleConversation(slack, text(args, 'channel'));
  const needed = scopeFor(conversation, use);
  return slack.manifest.scopes.includes(needed)
    ? conversation
    : missingScope(slack.manifest.scopes, needed);
}

function info(slack: SlackState, args: Json): SlackReply {
  const conversation = findConversation(slack, args, 'read');
  return { ok: true, channel: conversationJson(slack, conversation) };
}

const kinds: ReadonlyMap<string, readonly Conversation['kind'][]> = new Map([
  ['public_channel', ['public', 'external']],
  ['private_channel', ['private']],
  ['im', ['dm']],
  ['mpim', []],
]);

function list(slack: SlackState, args: Json): SlackReply {
  const types = (text(args, 'types') ?? 'public_channel').split(',').map((type) => type.trim());
  if (!types.every((type) => kinds.has(type))) return refuse('invalid_types');
  const wanted = types.flatMap((type) => kinds.get(type) ?? []);
  const { scopes } = slack.manifest;
  const lacking = wanted
    .map((kind) => scopeFor({ kind }, 'read'))
    .find((one) => !scopes.includes(one));
  if (lacking) return missingScope(scopes, lacking);
  const team = slack.workspace.orgWide ? text(args, 'team_id') : undefined;
  const isListed = (conversation: Conversation) =>
    wanted.includes(conversation.kind) &&
    isVisible(slack, conversation) &&
    (team === undefined || teamsOf(slack.workspace, conversation).includes(team)) &&
    !(conversation.archived && flag(args, 'exclude_archived'));
  const { items, response_metadata } = page(slack.workspace.channels, args, isListed);
  const channels = items.map((conversation) => conversationJson(slack, conversation));
  return { ok: true, channels, response_metadata };
}

function members(slack: SlackState, args: Json): SlackReply {
  const conversation = findConversation(slack, args, 'read');
  const { items, response_metadata } = page(conversation.members, args);
  const ids = items.map((id) => {
    const member = memberOf(slack.workspace, id);
    return member ? payloadId(slack.workspace, member) : id;
  });
  return { ok: true, members: ids, response_metadata };
}

/** Opens the direct conversation with one person. */
function open(slack: SlackState, args: Json): SlackReply {
  const users = (text(args, 'users') ?? '').split(',').filter(Boolean);
  if (users.length === 0) return refuse('users_list_not_supplied');
  const [id = '', ...others] = users;
  if (others.length > 0) return missingScope(slack.manifest.scopes, 'mpim:write');
  const member = memberOf(slack.workspace, id);
  if (!member) return refuse('user_not_found');
  if (member.deleted) return refuse('user_disabled');
  if (member.kind === 'bot') return refuse('cannot_dm_bot');
  return { ok: true, channel: { id: directConversation(slack.workspace, member.id).id } };
}

/** The conversation, if the app may read its messages. */
function readableConversation(slack: SlackState, args: Json): Conversation {
  const conversation = findConversation(slack, args, 'history');
  return isIn(conversation, slack.workspace.botUserId) ? conversation : refuse('not_in_channel');
}

function history(slack: SlackState, args: Json): SlackReply {
  const conversation = readableConversation(slack, args);
  const oldest = text(args, 'oldest') ?? '0';
  const latest = text(args, 'latest') ?? '9999999999.999999';
  const inclusive = flag(args, 'inclusive');
  const within = ({ ts, threadTs }: StoredMessage) =>
    (threadTs === null || threadTs === ts) &&
    ((ts > oldest && ts < latest) || (inclusive && (ts === oldest || ts === latest)));
  return messagesReply(slack, args, storedMessages(slack, conversation).filter(within).reverse());
}

function replies(slack: SlackState, args: Json): SlackReply {
  const conversation = readableConversation(slack, args);
  const ts = text(args, 'ts') ?? '';
  if (!messageAt(slack, conversation.id, ts)) return refuse('thread_not_found');
  const thread = storedMessages(slack, conversation).filter(
    (one) => one.ts === ts || one.threadTs === ts,
  );
  return messagesReply(slack, args, thread);
}

/** The messages that Slack stores; it does not store ephemeral messages. */
function storedMessages(slack: SlackState, conversation: Conversation): StoredMessage[] {
  return slack.messages.filter(
    ({ channel, ephemeralFor }) => channel === conversation.id && ephemeralFor === null,
  );
}

function messagesReply(
  slack: SlackState,
  args: Json,
  messages: readonly StoredMessage[],
): SlackReply {
  const { items, response_metadata } = page(messages, args);
  const withMetadata = flag(args, 'include_all_metadata');
  const listed = items.map((message) => {
    const { metadata, ...rest } = messageJson(slack, message);
    return withMetadata && metadata !== undefined ? { ...rest, metadata } : rest;
  });
  const more = response_metadata.next_cursor !== '';
  return { ok: true, messages: listed, has_more: more, response_metadata };
}

export const conversationMethods = {
  'conversations.info': method('tier 3', info),
  'conversations.members': method('tier 4', members),
  'conversations.open': method('tier 3', open, { scopes: ['im:write'] }),
  'conversations.list': method('tier 2', list, { isInOneWorkspace: true }),
  'conversations.history': method('tier 3', history),
  'conversations.replies': method('tier 3', replies),
};
