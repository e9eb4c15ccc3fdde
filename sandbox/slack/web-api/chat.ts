import type { Json } from '../../protocol.ts';
import { messageProblems } from '../block-kit/validate.ts';
import { fileProblems } from '../files.ts';
import { jsonList, stringOr } from '../json.ts';
import { messageAt, messageJson, post, redraw, remove, type StoredMessage } from '../messages.ts';
import type { SlackState } from '../state.ts';
import { type Conversation, isIn, memberOf } from '../workspace.ts';
import { conversationForPosting } from './channels.ts';
import {
  type Methods,
  method,
  refuse,
  refuseBlocks,
  type SlackReply,
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
function contentOf(slack: SlackState, args: Json): Content | SlackReply {
  const said = text(args, 'text');
  const markdown = text(args, 'markdown_text');
  if (markdown && (said || args.blocks)) return refuse('markdown_text_conflict');
  if (markdown && [...markdown].length > MARKDOWN) return refuse('msg_too_long');
  const blocks = args.blocks === undefined ? [] : structure(args, 'blocks');
  if (blocks === undefined) return refuse('invalid_blocks_format');
  const problems = [...messageProblems(blocks), ...fileProblems(slack, blocks)];
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

function isRefusal(value: object): value is SlackReply {
  return 'ok' in value && value.ok === false;
}

function postMessage(slack: SlackState, args: Json): SlackReply {
  const conversation = conversationForPosting(slack, text(args, 'channel'));
  if (isRefusal(conversation)) return conversation;
  const content = contentOf(slack, args);
  if (isRefusal(content)) return content;
  const threadTs = text(args, 'thread_ts') ?? null;
  if (threadTs && !messageAt(slack, conversation.id, threadTs)) return refuse('thread_not_found');
  const author = slack.workspace.botUserId;
  const message = post(slack, { ...content, channel: conversation.id, author, threadTs });
  return {
    ok: true,
    channel: conversation.id,
    ts: message.ts,
    message: messageJson(slack, message),
  };
}

/** A message that the app wrote itself and that is still there. */
function ownMessage(slack: SlackState, args: Json, notOwn: string): StoredMessage | SlackReply {
  const channel = text(args, 'channel') ?? '';
  if (!/^[CDG]/.test(channel)) return refuse('channel_not_found');
  const conversation = conversationForPosting(slack, channel);
  if (isRefusal(conversation)) return conversation;
  const message = messageAt(slack, conversation.id, text(args, 'ts') ?? '');
  if (!message || message.ephemeralFor !== null) return refuse('message_not_found');
  return message.byBot ? message : refuse(notOwn);
}

function update(slack: SlackState, args: Json): SlackReply {
  const message = ownMessage(slack, args, 'cant_update_message');
  if (isRefusal(message)) return message;
  if ([...(text(args, 'text') ?? '')].length > TEXT_UPDATED) return refuse('msg_too_long');
  const content = contentOf(slack, args);
  if (isRefusal(content)) return content;
  // Blocks that are not sent again are gone: a text alone replaces the whole message.
  redraw(slack, message, content);
  if (content.attachments !== undefined) message.attachments = content.attachments;
  if (content.metadata !== undefined) message.metadata = content.metadata;
  const { channel, ts } = message;
  return { ok: true, channel, ts, text: message.text, message: messageJson(slack, message) };
}

function erase(slack: SlackState, args: Json): SlackReply {
  const message = ownMessage(slack, args, 'cant_delete_message');
  if (isRefusal(message)) return message;
  remove(slack, message);
  return { ok: true, channel: message.channel, ts: message.ts };
}

function postEphemeral(slack: SlackState, args: Json): SlackReply {
  const conversation = conversationForPosting(slack, text(args, 'channel'));
  if (isRefusal(conversation)) return conversation;
  const user = text(args, 'user');
  if (!user || !reachable(slack, conversation, user)) return refuse('user_not_in_channel');
  const content = contentOf(slack, args);
  if (isRefusal(content)) return content;
  if (Buffer.byteLength(content.text) > TEXT_UPDATED) return refuse('msg_too_long');
  const { ts } = post(slack, {
    ...content,
    channel: conversation.id,
    author: slack.workspace.botUserId,
    threadTs: text(args, 'thread_ts') ?? null,
    ephemeralFor: user,
  });
  return { ok: true, message_ts: ts };
}

function reachable(slack: SlackState, conversation: Conversation, user: string): boolean {
  return isIn(conversation, user) && memberOf(slack.workspace, user)?.deleted === false;
}

function getPermalink(slack: SlackState, args: Json): SlackReply {
  const channel = stringOr(args.channel, '');
  const message = messageAt(slack, channel, text(args, 'message_ts') ?? '');
  if (!message || message.ephemeralFor !== null) return refuse('message_not_found');
  const { domain } = slack.workspace;
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
