import type { Json } from '../../protocol.ts';
import { fileJson, type StoredFile } from '../files.ts';
import { jsonList, stringOr } from '../json.ts';
import { messageAt, post } from '../messages.ts';
import { freshId, type World } from '../state.ts';
import { roomToPostIn } from './channels.ts';
import {
  count,
  type Methods,
  method,
  type Reply,
  refuse,
  structure,
  TIER,
  text,
} from './method.ts';

function getUploadUrl(world: World, args: Json): Reply {
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
  world.files.set(file.id, file);
  return { ok: true, upload_url: `${world.url}/upload/v1/${file.id}`, file_id: file.id };
}

function completeUpload(world: World, args: Json): Reply {
  const sent = jsonList(structure(args, 'files'));
  const files = sent.flatMap(({ id }) => world.files.get(stringOr(id, '')) ?? []);
  if (files.length === 0 || files.length < sent.length) return refuse('file_not_found');
  if (files.some((file) => file.content === null)) return refuse('file_update_failed');
  // An upload is completed once; a second time there is nothing left to complete.
  if (files.some((file) => file.completed)) return refuse('file_not_found');
  const channel = text(args, 'channel_id') ?? text(args, 'channels');
  const room = channel === undefined ? null : roomToPostIn(world, channel);
  if (room && 'ok' in room) return room;
  const threadTs = text(args, 'thread_ts') ?? null;
  if (room && threadTs && !messageAt(world, room.id, threadTs)) return refuse('thread_not_found');
  sent.forEach(({ title }, index) => {
    const file = files[index];
    if (file) Object.assign(file, { completed: true, title: stringOr(title, file.title) });
  });
  if (room) {
    post(world, {
      channel: room.id,
      author: world.workspace.botUserId,
      text: text(args, 'initial_comment') ?? '',
      threadTs,
      fileIds: files.map(({ id }) => id),
    });
  }
  return { ok: true, files: files.map((file) => fileJson(world, file)) };
}

function info(world: World, args: Json): Reply {
  const file = world.files.get(text(args, 'file') ?? '');
  if (!file?.completed) return refuse('file_not_found');
  const answer = { ok: true, file: fileJson(world, file) };
  file.looks += 1;
  return answer;
}

const write = { scopes: ['files:write'], perMinute: TIER.four };

export const fileMethods: Methods = {
  'files.getUploadURLExternal': method(getUploadUrl, write),
  'files.completeUploadExternal': method(completeUpload, write),
  'files.info': method(info, { scopes: ['files:read'], perMinute: TIER.four }),
};
