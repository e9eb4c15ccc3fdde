import type { Channel, Message, Person, Screen, View } from '../../protocol.ts';
import { fileUrl, mimetypeOf } from '../files.ts';
import { isJson, stringOr } from '../json.ts';
import { type StoredMessage, sees } from '../messages.ts';
import type { World } from '../state.ts';
import { modalsOf, type StoredView } from '../views.ts';
import { isIn, type Member, memberOf, personKind, type Room } from '../workspace.ts';

/** All that one person could see of Slack at this moment. */
export function screen(world: World, as: string): Screen {
  const { workspace, manifest } = world;
  const me = memberOf(workspace, as);
  if (!me) throw new RangeError(`there is no person ${as}`);
  const home = world.homes.get(as);
  const here = me.teamId === workspace.teamId;
  return {
    workspace: workspace.name,
    me: personOf(me),
    people: workspace.members.map(personOf),
    botName: workspace.botName,
    channels: workspace.channels
      .filter((room) => isIn(room, as) && !room.archived)
      .map((room) => channelOf(world, me, room)),
    messages: world.messages
      .filter((message) => sees(world, me, message))
      .map((message) => messageOf(world, message)),
    views: modalsOf(world, as).map(viewOf),
    home: home ? home.blocks : null,
    commands: here
      ? manifest.commands.map(({ command, description, usage_hint }) => ({
          command,
          description,
          usageHint: usage_hint,
        }))
      : [],
    shortcuts: here
      ? manifest.shortcuts.map(({ callback_id, name, description, type }) => ({
          callbackId: callback_id,
          name,
          description,
          kind: type,
        }))
      : [],
    groups: workspace.groups.map(({ id, handle, name }) => ({ id, handle, name })),
  };
}

/** Remembers that a person has seen all there is in a channel. */
export function markRead(world: World, person: string, channel: string): void {
  const last = world.messages.findLast((message) => message.channel === channel);
  if (last) world.read.set(`${person} ${channel}`, last.ts);
}

function personOf(member: Member): Person {
  const { id, realName, title } = member;
  return { id, name: realName, title, kind: personKind(member) };
}

function channelOf(world: World, me: Member, room: Room): Channel {
  const read = world.read.get(`${me.id} ${room.id}`) ?? '';
  const unread = world.messages.filter(
    (message) =>
      message.channel === room.id &&
      message.author !== me.id &&
      message.ts > read &&
      sees(world, me, message),
  ).length;
  return { id: room.id, name: room.name, kind: room.kind, topic: room.topic, unread };
}

function messageOf(world: World, message: StoredMessage): Message {
  const author = memberOf(world.workspace, message.author);
  return {
    channel: message.channel,
    ts: message.ts,
    threadTs: message.threadTs,
    author: message.author,
    authorName: author?.realName ?? message.author,
    byBot: message.byBot,
    text: message.text,
    blocks: message.blocks,
    ephemeral: message.ephemeralFor !== null,
    edited: false,
    files: message.fileIds.flatMap((id) => {
      const file = world.files.get(id);
      if (!file) return [];
      return [{ name: file.name, url: fileUrl(world, file), mimetype: mimetypeOf(file) }];
    }),
  };
}

function viewOf(view: StoredView): View {
  const { content } = view;
  return {
    id: view.id,
    callbackId: stringOr(content.callback_id, ''),
    title: textOf(content.title) ?? '',
    submit: textOf(content.submit),
    close: textOf(content.close),
    blocks: view.blocks,
    errors: view.errors,
  };
}

function textOf(value: unknown): string | null {
  return isJson(value) ? stringOr(value.text, null) : null;
}
