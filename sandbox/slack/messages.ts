import type { Json } from '../protocol.ts';
import { completed } from './block-elements.ts';
import { recordMentions } from './mentions.ts';
import { changed, type SlackState, stamp } from './state.ts';
import { conversationOf, isIn, type Member } from './workspace.ts';

export interface StoredMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  readonly author: string;
  readonly byBot: boolean;
  text: string;
  blocks: Json[];
  attachments: unknown;
  metadata: unknown;
  readonly fileIds: readonly string[];
  /** The only person who sees it; null when everyone in the channel does. */
  readonly ephemeralFor: string | null;
  /** When the app last changed it: there, but without Slack's “(edited)”. */
  updatedTs: string | null;
}

export interface Draft {
  readonly channel: string;
  readonly author: string;
  readonly text: string;
  readonly blocks?: readonly Json[];
  readonly threadTs?: string | null;
  readonly ephemeralFor?: string | null;
  readonly attachments?: unknown;
  readonly metadata?: unknown;
  readonly fileIds?: readonly string[];
}

export function post(slack: SlackState, draft: Draft): StoredMessage {
  const message: StoredMessage = {
    channel: draft.channel,
    ts: stamp(slack),
    threadTs: draft.threadTs ?? null,
    author: draft.author,
    byBot: draft.author === slack.workspace.botUserId,
    text: draft.text,
    blocks: completed(draft.blocks ?? []),
    attachments: draft.attachments,
    metadata: draft.metadata,
    fileIds: draft.fileIds ?? [],
    ephemeralFor: draft.ephemeralFor ?? null,
    updatedTs: null,
  };
  slack.messages.push(message);
  recordMentions(slack, message, 'post');
  changed(slack);
  return message;
}

/** Draws a message anew: what is not said is gone. */
export function redraw(
  slack: SlackState,
  message: StoredMessage,
  { text, blocks }: { readonly text: string; readonly blocks: readonly Json[] },
): void {
  message.text = text;
  message.blocks = completed(blocks);
  message.updatedTs = stamp(slack);
  recordMentions(slack, message, 'update');
  changed(slack);
}

export function remove(slack: SlackState, message: StoredMessage): void {
  slack.messages.splice(slack.messages.indexOf(message), 1);
  changed(slack);
}

export function messageAt(
  slack: SlackState,
  channel: string,
  ts: string,
): StoredMessage | undefined {
  return slack.messages.find((message) => message.channel === channel && message.ts === ts);
}

export function sees(slack: SlackState, person: Member, message: StoredMessage): boolean {
  const conversation = conversationOf(slack.workspace, message.channel);
  if (!conversation || !isIn(conversation, person.id)) return false;
  return message.ephemeralFor === null || message.ephemeralFor === person.id;
}

/** A message as Slack writes it in answers, payloads and events. */
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
    ...(message.attachments !== undefined && { attachments: message.attachments }),
    ...(message.metadata !== undefined && { metadata: message.metadata }),
    ...threadOf(slack, message),
    ...(message.updatedTs && { edited: { user: botId, ts: message.updatedTs } }),
  };
}

/** A reply names its thread, and so does a message once somebody has answered it. */
function threadOf(slack: SlackState, { ts, channel, threadTs }: StoredMessage): Json {
  if (threadTs) return { thread_ts: threadTs };
  const replies = slack.messages.filter(
    (each) => each.channel === channel && each.threadTs === ts && each.ephemeralFor === null,
  );
  return replies.length > 0 ? { thread_ts: ts, reply_count: replies.length } : {};
}
