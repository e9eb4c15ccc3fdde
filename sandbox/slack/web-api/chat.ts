import type { Json } from '../../protocol.ts';
import { messageProblems } from '../block-kit/validate.ts';
import { fileProblems } from '../files.ts';
import { jsonList, stringOr } from '../json.ts';
import { messageAt, messageJson, post, redraw, remove, type StoredMessage } from '../messages.ts';
import type { World } from '../state.ts';
import { isIn, memberOf, type Room } from '../workspace.ts';
import { roomToPostIn } from './channels.ts';
import {
  type Methods,
  method,
  type Reply,
  refuse,
  refuseBlocks,
  structure,
  TIER,
  text,
} from './method.ts';

const TEXT_KEPT = 40_000;
const TEXT_UPDATED = 4000;
const MARKDOWN = 12_000;

interface Content {
  readonly text: string;
  readonly blocks: readonly Json[];
  readonly attachments?: unknown;
  readonly metadata?: unknown;
}

/** What a message is to say, or Slack's refusal of it. */
function contentOf(world: World, args: Json): Content | Reply {
  const said = text(args, 'text');
  const markdown = text(args, 'markdown_text');
  if (markdown && (said || args.blocks)) return refuse('markdown_text_conflict');
  if (markdown && [...markdown].length > MARKDOWN) return refuse('msg_too_long');
  const blocks = args.blocks === undefined ? [] : structure(args, 'blocks');
  if (blocks === undefined) return refuse('invalid_blocks_format');
  const problems = [...messageProblems(blocks), ...fileProblems(world, blocks)];
  if (problems.length > 0) return refuseBlocks('invalid_blocks', problems);
  const metadata = metadataOf(args);
  if (metadata === null) return refuse('invalid_metadata_format');
  const attachments = structure(args, 'attachments');
  const nothing = !said && !markdown && jsonList(blocks).length === 0 && !attachments;
  if (nothing) return refuse('no_text');
  const shown = markdown ? [{ type: 'markdown', text: markdown }] : jsonList(blocks);
  return { text: (said ?? '').slice(0, TEXT_KEPT), blocks: shown, attachments, metadata };
}

function metadataOf(args: Json): unknown {
  if (args.metadata === undefined) return undefined;
  const metadata = structure(args, 'metadata');
  if (typeof metadata !== 'object' || metadata === null) return null;
  return 'event_type' in metadata && 'event_payload' in metadata ? metadata : null;
}

function isRefusal(value: object): value is Reply {
  return 'ok' in value && value.ok === false;
}

function postMessage(world: World, args: Json): Reply {
  const room = roomToPostIn(world, text(args, 'channel'));
  if (isRefusal(room)) return room;
  const content = contentOf(world, args);
  if (isRefusal(content)) return content;
  const threadTs = text(args, 'thread_ts') ?? null;
  if (threadTs && !messageAt(world, room.id, threadTs)) return refuse('thread_not_found');
  const author = world.workspace.botUserId;
  const message = post(world, { ...content, channel: room.id, author, threadTs });
  return { ok: true, channel: room.id, ts: message.ts, message: messageJson(world, message) };
}

/** A message that the app wrote itself and that is still there. */
function ownMessage(world: World, args: Json, notOwn: string): StoredMessage | Reply {
  const channel = text(args, 'channel') ?? '';
  if (!/^[CDG]/.test(channel)) return refuse('channel_not_found');
  const room = roomToPostIn(world, channel);
  if (isRefusal(room)) return room;
  const message = messageAt(world, room.id, text(args, 'ts') ?? '');
  if (!message || message.ephemeralFor !== null) return refuse('message_not_found');
  return message.byBot ? message : refuse(notOwn);
}

function update(world: World, args: Json): Reply {
  const message = ownMessage(world, args, 'cant_update_message');
  if (isRefusal(message)) return message;
  if ([...(text(args, 'text') ?? '')].length > TEXT_UPDATED) return refuse('msg_too_long');
  const content = contentOf(world, args);
  if (isRefusal(content)) return content;
  // Blocks that are not sent again are gone: a text alone replaces the whole message.
  redraw(world, message, content);
  if (content.attachments !== undefined) message.attachments = content.attachments;
  if (content.metadata !== undefined) message.metadata = content.metadata;
  const { channel, ts } = message;
  return { ok: true, channel, ts, text: message.text, message: messageJson(world, message) };
}

function erase(world: World, args: Json): Reply {
  const message = ownMessage(world, args, 'cant_delete_message');
  if (isRefusal(message)) return message;
  remove(world, message);
  return { ok: true, channel: message.channel, ts: message.ts };
}

function postEphemeral(world: World, args: Json): Reply {
  const room = roomToPostIn(world, text(args, 'channel'));
  if (isRefusal(room)) return room;
  const user = text(args, 'user');
  if (!user || !reachable(world, room, user)) return refuse('user_not_in_channel');
  const content = contentOf(world, args);
  if (isRefusal(content)) return content;
  if (Buffer.byteLength(content.text) > TEXT_UPDATED) return refuse('msg_too_long');
  const { ts } = post(world, {
    ...content,
    channel: room.id,
    author: world.workspace.botUserId,
    threadTs: text(args, 'thread_ts') ?? null,
    ephemeralFor: user,
  });
  return { ok: true, message_ts: ts };
}

function reachable(world: World, room: Room, user: string): boolean {
  return isIn(room, user) && memberOf(world.workspace, user)?.deleted === false;
}

function getPermalink(world: World, args: Json): Reply {
  const channel = stringOr(args.channel, '');
  const message = messageAt(world, channel, text(args, 'message_ts') ?? '');
  if (!message || message.ephemeralFor !== null) return refuse('message_not_found');
  const { domain } = world.workspace;
  const place = `archives/${channel}/p${message.ts.replace('.', '')}`;
  return { ok: true, channel, permalink: `https://${domain}.slack.com/${place}` };
}

const write = { scopes: ['chat:write'] };

export const chatMethods: Methods = {
  'chat.postMessage': method(postMessage, { ...write, perMinute: 300 }),
  'chat.postEphemeral': method(postEphemeral, { ...write, perMinute: TIER.four }),
  'chat.update': method(update, write),
  'chat.delete': method(erase, write),
  'chat.getPermalink': method(getPermalink, { perMinute: TIER.special }),
};
