import type { Json } from '../protocol.ts';
import { completed } from './block-elements.ts';
import { notePings } from './mentions.ts';
import { changed, stamp, type World } from './state.ts';
import { isIn, type Member, roomOf } from './workspace.ts';

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

export function post(world: World, draft: Draft): StoredMessage {
  const message: StoredMessage = {
    channel: draft.channel,
    ts: stamp(world),
    threadTs: draft.threadTs ?? null,
    author: draft.author,
    byBot: draft.author === world.workspace.botUserId,
    text: draft.text,
    blocks: completed(draft.blocks ?? []),
    attachments: draft.attachments,
    metadata: draft.metadata,
    fileIds: draft.fileIds ?? [],
    ephemeralFor: draft.ephemeralFor ?? null,
    updatedTs: null,
  };
  world.messages.push(message);
  notePings(world, message, 'post');
  changed(world);
  return message;
}

/** Draws a message anew: what is not said is gone. */
export function redraw(
  world: World,
  message: StoredMessage,
  { text, blocks }: { readonly text: string; readonly blocks: readonly Json[] },
): void {
  message.text = text;
  message.blocks = completed(blocks);
  message.updatedTs = stamp(world);
  notePings(world, message, 'update');
  changed(world);
}

export function remove(world: World, message: StoredMessage): void {
  world.messages.splice(world.messages.indexOf(message), 1);
  changed(world);
}

export function messageAt(world: World, channel: string, ts: string): StoredMessage | undefined {
  return world.messages.find((message) => message.channel === channel && message.ts === ts);
}

export function sees(world: World, person: Member, message: StoredMessage): boolean {
  const room = roomOf(world.workspace, message.channel);
  if (!room || !isIn(room, person.id)) return false;
  return message.ephemeralFor === null || message.ephemeralFor === person.id;
}

/** A message as Slack writes it in answers, payloads and events. */
export function messageJson(world: World, message: StoredMessage): Json {
  const { botId, appId, teamId } = world.workspace;
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
    ...threadOf(world, message),
    ...(message.updatedTs && { edited: { user: botId, ts: message.updatedTs } }),
  };
}

/** A reply names its thread, and so does a message once somebody has answered it. */
function threadOf(world: World, { ts, channel, threadTs }: StoredMessage): Json {
  if (threadTs) return { thread_ts: threadTs };
  const replies = world.messages.filter(
    (each) => each.channel === channel && each.threadTs === ts && each.ephemeralFor === null,
  );
  return replies.length > 0 ? { thread_ts: ts, reply_count: replies.length } : {};
}
