import { type Json, list } from '../../json.ts';
import { messageProblems, refuseBlocks } from '../block-kit/validate.ts';
import { addMessage, messageAt, messageJson, updateMessage } from '../messages.ts';
import type { StoredMessage } from '../records.ts';
import type { SlackState } from '../state.ts';
import { isIn, memberOf } from '../workspace/workspace.ts';
import { conversationForPosting, visibleConversation } from './channels.ts';
import { method, Refused, refuse, type SlackReply, structure, text } from './method.ts';

const MAX_STORED_TEXT = 40_000;
const MAX_UPDATE_TEXT = 4000;

/** The content of the message in the arguments. */
function readContent(args: Json) {
  const unsupported = ['attachments', 'markdown_text'].find((key) => args[key] !== undefined);
  if (unsupported) return refuse('invalid_arguments', { detail: `${unsupported}: not simulated` });
  const blocks = args.blocks === undefined ? [] : structure(args, 'blocks');
  if (blocks === undefined) return refuse('invalid_blocks_format');
  const problems = messageProblems(blocks);
  if (problems.length > 0) throw new Refused(refuseBlocks('invalid_blocks', problems));
  const metadata = readMetadata(args);
  if (metadata === null) return refuse('invalid_metadata_format');
  const content = text(args, 'text') ?? '';
  if (content === '' && list(blocks).length === 0) return refuse('no_text');
  return { text: content.slice(0, MAX_STORED_TEXT), blocks: list(blocks), metadata };
}

function readMetadata(args: Json): unknown {
  if (args.metadata === undefined) return undefined;
  const metadata = structure(args, 'metadata');
  if (typeof metadata !== 'object' || metadata === null) return null;
  return 'event_type' in metadata && 'event_payload' in metadata ? metadata : null;
}

function postMessage(slack: SlackState, args: Json): SlackReply {
  const conversation = conversationForPosting(slack, text(args, 'channel'));
  if (conversation.restricted) return refuse('restricted_action');
  const content = readContent(args);
  const channel = conversation.id;
  const threadTs = text(args, 'thread_ts') ?? null;
  if (threadTs && !messageAt(slack, channel, threadTs)) return refuse('thread_not_found');
  const author = slack.workspace.botUserId;
  const message = addMessage(slack, { ...content, channel, author, threadTs });
  return { ok: true, channel, ts: message.ts, message: messageJson(slack, message) };
}

/** The message in the arguments, if the app posted it. */
function findOwnMessage(slack: SlackState, args: Json): StoredMessage {
  const channel = text(args, 'channel') ?? '';
  if (!/^[CDG]/.test(channel)) return refuse('channel_not_found');
  const conversation = conversationForPosting(slack, channel);
  const message = messageAt(slack, conversation.id, text(args, 'ts') ?? '');
  if (!message || message.ephemeralFor !== null) return refuse('message_not_found');
  return message.byBot ? message : refuse('cant_update_message');
}

function mayBeEdited({ editMinutes, now }: SlackState, { ts }: StoredMessage): boolean {
  return editMinutes === null || now().getTime() - Number(ts) * 1_000 <= editMinutes * 60_000;
}

function update(slack: SlackState, args: Json): SlackReply {
  const message = findOwnMessage(slack, args);
  if (!mayBeEdited(slack, message)) return refuse('edit_window_closed');
  if ([...(text(args, 'text') ?? '')].length > MAX_UPDATE_TEXT) return refuse('msg_too_long');
  const content = readContent(args);
  // An update replaces the whole message: blocks that are not sent again are removed.
  updateMessage(slack, message, content);
  if (content.metadata !== undefined) message.metadata = content.metadata;
  const { channel, ts } = message;
  return { ok: true, channel, ts, text: message.text, message: messageJson(slack, message) };
}

function postEphemeral(slack: SlackState, args: Json): SlackReply {
  const conversation = conversationForPosting(slack, text(args, 'channel'));
  const user = memberOf(slack.workspace, text(args, 'user') ?? '');
  if (!user || user.deleted || !isIn(conversation, user.id)) return refuse('user_not_in_channel');
  const content = readContent(args);
  if (Buffer.byteLength(content.text) > MAX_UPDATE_TEXT) return refuse('msg_too_long');
  const { ts } = addMessage(slack, {
    ...content,
    channel: conversation.id,
    author: slack.workspace.botUserId,
    threadTs: text(args, 'thread_ts') ?? null,
    ephemeralFor: user.id,
  });
  return { ok: true, message_ts: ts };
}

function getPermalink(slack: SlackState, args: Json): SlackReply {
  const { id: channel } = visibleConversation(slack, text(args, 'channel'));
  const message = messageAt(slack, channel, text(args, 'message_ts') ?? '');
  if (!message || message.ephemeralFor !== null) return refuse('message_not_found');
  const { ts, threadTs } = message;
  const inThread = threadTs ? `?thread_ts=${threadTs}&cid=${channel}` : '';
  const place = `archives/${channel}/p${ts.replace('.', '')}${inThread}`;
  return { ok: true, channel, permalink: `https://${slack.workspace.domain}.slack.com/${place}` };
}

const write = { scopes: ['chat:write'] };

export const chatMethods = {
  'chat.postMessage': method('posting', postMessage, write),
  'chat.postEphemeral': method('tier 4', postEphemeral, write),
  'chat.update': method('tier 3', update, write),
  'chat.getPermalink': method('special', getPermalink),
};
