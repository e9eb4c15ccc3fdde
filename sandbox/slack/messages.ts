import type { Json } from '../json.ts';
import { withIds } from './block-elements.ts';
import { type EventDelivery, sendEvent } from './delivery/events.ts';
import { recordMentions } from './mentions.ts';
import type { StoredMessage } from './records.ts';
import { nextTs, notifyWatchers, type SlackState } from './state.ts';
import { conversationOf, isIn, type Member } from './workspace/workspace.ts';

export interface NewMessage {
  readonly channel: string;
  readonly author: string;
  readonly text: string;
  readonly blocks?: readonly Json[];
  readonly threadTs?: string | null;
  readonly ephemeralFor?: string | null;
  readonly metadata?: unknown;
  readonly fileIds?: readonly string[];
}

export function addMessage(slack: SlackState, draft: NewMessage): StoredMessage {
  const message: StoredMessage = {
    channel: draft.channel,
    ts: nextTs(slack),
    threadTs: draft.threadTs ?? null,
    author: draft.author,
    byBot: draft.author === slack.workspace.botUserId,
    text: draft.text,
    blocks: withIds(draft.blocks ?? []),
    metadata: draft.metadata,
    fileIds: draft.fileIds ?? [],
    ephemeralFor: draft.ephemeralFor ?? null,
    updatedTs: null,
  };
  slack.messages.push(message);
  recordMentions(slack, message, 'post');
  if (message.byBot) sendDirectMessageEvent(slack, message);
  return message;
}

/** Replaces the text and all blocks of a message. */
export function updateMessage(
  slack: SlackState,
  message: StoredMessage,
  { text, blocks }: { readonly text: string; readonly blocks: readonly Json[] },
): void {
  const previous_message = messageJson(slack, message);
  message.text = text;
  message.blocks = withIds(blocks);
  message.updatedTs = nextTs(slack);
  recordMentions(slack, message, 'update');
  const change = { message: messageJson(slack, message), previous_message };
  sendDirectMessageEvent(slack, message, { subtype: 'message_changed', ...change });
}

export function remove(slack: SlackState, message: StoredMessage): void {
  slack.messages.splice(slack.messages.indexOf(message), 1);
  notifyWatchers(slack);
  const change = { deleted_ts: message.ts, previous_message: messageJson(slack, message) };
  sendDirectMessageEvent(slack, message, { subtype: 'message_deleted', ...change });
}

/**
 * Reports a message in the direct messages of the app to the app: those of the person, and as
 * Slack does, also those that the app posts, updates and deletes.
 */
export function sendDirectMessageEvent(
  slack: SlackState,
  message: StoredMessage,
  change?: Json,
): EventDelivery | null {
  const { channel, ts, ephemeralFor } = message;
  const isDirect = conversationOf(slack.workspace, channel)?.kind === 'dm';
  if (!isDirect || ephemeralFor !== null) return null;
  if (!slack.manifest.scopes.includes('im:history')) return null;
  const changedTs = change && nextTs(slack);
  const fields = change ? { ...change, hidden: true, ts: changedTs } : messageJson(slack, message);
  const place = { type: 'message', channel, channel_type: 'im', event_ts: changedTs ?? ts };
  return sendEvent(slack, { ...fields, ...place }, 'message.im');
}

export function messageAt(
  slack: SlackState,
  channel: string,
  ts: string,
): StoredMessage | undefined {
  return slack.messages.find((message) => message.channel === channel && message.ts === ts);
}

export function isVisibleTo(slack: SlackState, person: Member, message: StoredMessage): boolean {
  const conversation = conversationOf(slack.workspace, message.channel);
  if (!conversation || !isIn(conversation, person.id)) return false;
  return message.ephemeralFor === null || message.ephemeralFor === person.id;
}

/** A message in the shape of Slack's replies, payloads and events. */
export function messageJson(slack: SlackState, message: StoredMessage): Json {
  const { botId, appId, teamId } = slack.workspace;
  return {
    type: 'message',
    user: message.author,
    ts: message.ts,
    text: message.text,
    team: teamId,
    ...(message.byBot && { bot_id: botId, app_id: appId }),
    ...(message.blocks.length > 0 && { blocks: message.blocks }),
    ...(message.metadata !== undefined && { metadata: message.metadata }),
    ...threadFields(slack, message),
    ...(message.updatedTs && { edited: { user: botId, ts: message.updatedTs } }),
  };
}

/** A reply has the ts of its thread, and so has a message that has replies. */
function threadFields(slack: SlackState, { ts, channel, threadTs }: StoredMessage): Json {
  if (threadTs) return { thread_ts: threadTs };
  const replies = slack.messages.filter(
    (each) => each.channel === channel && each.threadTs === ts && each.ephemeralFor === null,
  );
  return replies.length > 0 ? { thread_ts: ts, reply_count: replies.length } : {};
}
