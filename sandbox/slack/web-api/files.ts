import type { Json } from '../../protocol.ts';
import { fileJson, type StoredFile } from '../files.ts';
import { jsonList, stringOr } from '../json.ts';
import { messageAt, post } from '../messages.ts';
import { freshId, type SlackState } from '../state.ts';
import { conversationForPosting } from './channels.ts';
import {
  count,
  type Methods,
  method,
  refuse,
  type SlackReply,
  structure,
  TIER,
  text,
} from './method.ts';

function getUploadUrl(slack: SlackState, args: Json): SlackReply {
  const name = text(args, 'filename');
  const length = count(args, 'length', 0);
  if (!name || length === 0) return refuse('invalid_arguments');
  const file: StoredFile = {
    id: freshId('F'),
    name,
    title: name,
    length,
    content: null,
    completed: false,
    looks: 0,
  };
  slack.files.set(file.id, file);
  return { ok: true, upload_url: `${slack.url}/upload/v1/${file.id}`, file_id: file.id };
}

function completeUpload(slack: SlackState, args: Json): SlackReply {
  const sent = jsonList(structure(args, 'files'));
  const files = sent.flatMap(({ id }) => slack.files.get(stringOr(id, '')) ?? []);
  if (files.length === 0 || files.length < sent.length) return refuse('file_not_found');
  if (files.some((file) => file.content === null)) return refuse('file_update_failed');
  // An upload is completed once; a second time there is nothing left to complete.
  if (files.some((file) => file.completed)) return refuse('file_not_found');
  const channel = text(args, 'channel_id') ?? text(args, 'channels');
  const conversation = channel === undefined ? null : conversationForPosting(slack, channel);
  if (conversation && 'ok' in conversation) return conversation;
  const threadTs = text(args, 'thread_ts') ?? null;
  if (conversation && threadTs && !messageAt(slack, conversation.id, threadTs))
    return refuse('thread_not_found');
  sent.forEach(({ title }, index) => {
    const file = files[index];
    if (file) Object.assign(file, { completed: true, title: stringOr(title, file.title) });
  });
  if (conversation) {
    post(slack, {
      channel: conversation.id,
      author: slack.workspace.botUserId,
      text: text(args, 'initial_comment') ?? '',
      threadTs,
      fileIds: files.map(({ id }) => id),
    });
  }
  return { ok: true, files: files.map((file) => fileJson(slack, file)) };
}

function info(slack: SlackState, args: Json): SlackReply {
  const file = slack.files.get(text(args, 'file') ?? '');
  if (!file?.completed) return refuse('file_not_found');
  const answer = { ok: true, file: fileJson(slack, file) };
  file.looks += 1;
  return answer;
}

const write = { scopes: ['files:write'], perMinute: TIER.four };

export const fileMethods: Methods = {
  'files.getUploadURLExternal': method(getUploadUrl, write),
  'files.completeUploadExternal': method(completeUpload, write),
  'files.info': method(info, { scopes: ['files:read'], perMinute: TIER.four }),
};
