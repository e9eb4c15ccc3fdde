import { type Json, list, stringOf, stringOr } from '../../json.ts';
import { fileJson } from '../files.ts';
import { addMessage, messageAt } from '../messages.ts';
import type { StoredFile } from '../records.ts';
import { newId, type SlackState } from '../state.ts';
import { conversationForPosting } from './channels.ts';
import { count, method, refuse, type SlackReply, structure, text } from './method.ts';

function getUploadUrl(slack: SlackState, args: Json): SlackReply {
  const name = text(args, 'filename');
  const length = count(args, 'length', 0);
  if (!name || length === 0) return refuse('invalid_arguments');
  const id = newId('F');
  const file: StoredFile = { id, name, title: name, length, content: null, completed: false };
  slack.files.set(id, file);
  return { ok: true, upload_url: `${slack.url}/upload/v1/${id}`, file_id: id };
}

function completeUpload(slack: SlackState, args: Json): SlackReply {
  const sent = list(structure(args, 'files'));
  const files = sent.flatMap(({ id }) => slack.files.get(stringOf(id)) ?? []);
  if (files.length === 0 || files.length < sent.length) return refuse('file_not_found');
  if (files.some((file) => file.content === null)) return refuse('file_update_failed');
  // An upload can be completed only once.
  if (files.some((file) => file.completed)) return refuse('file_not_found');
  const channel = text(args, 'channel_id') ?? text(args, 'channels');
  const conversation = conversationForPosting(slack, channel);
  const threadTs = text(args, 'thread_ts') ?? null;
  if (threadTs && !messageAt(slack, conversation.id, threadTs)) return refuse('thread_not_found');
  for (const [index, file] of files.entries()) {
    file.completed = true;
    file.title = stringOr(sent[index]?.title, file.title);
  }
  addMessage(slack, {
    channel: conversation.id,
    author: slack.workspace.botUserId,
    text: text(args, 'initial_comment') ?? '',
    threadTs,
    fileIds: files.map(({ id }) => id),
  });
  return { ok: true, files: files.map((file) => fileJson(slack, file)) };
}

const write = { scopes: ['files:write'] };

export const fileMethods = {
  'files.getUploadURLExternal': method('tier 4', getUploadUrl, write),
  'files.completeUploadExternal': method('tier 4', completeUpload, write),
};
