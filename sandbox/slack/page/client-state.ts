import type { Channel, ClientState, Message, Person, View } from '../../protocol.ts';
import { fileUrl, mimetypeOf } from '../files.ts';
import { isJson, stringOr } from '../json.ts';
import { type StoredMessage, sees } from '../messages.ts';
import type { SlackState } from '../state.ts';
import { modalsOf, type StoredView } from '../views.ts';
import { type Conversation, isIn, type Member, memberOf, personKind } from '../workspace.ts';

/** All that one person could see of Slack at this moment. */
export function clientState(slack: SlackState, as: string): ClientState {
  const { workspace, manifest } = slack;
  const me = memberOf(workspace, as);
  if (!me) throw new RangeError(`there is no person ${as}`);
  const home = slack.homes.get(as);
  const here = me.teamId === workspace.teamId;
  return {
    workspace: workspace.name,
    me: personOf(me),
    people: workspace.members.map(personOf),
    botName: workspace.botName,
    channels: workspace.channels
      .filter((conversation) => isIn(conversation, as) && !conversation.archived)
      .map((conversation) => channelOf(slack, me, conversation)),
    messages: slack.messages
      .filter((message) => sees(slack, me, message))
      .map((message) => messageOf(slack, message)),
    views: modalsOf(slack, as).map(viewOf),
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
export function markRead(slack: SlackState, person: string, channel: string): void {
  const last = slack.messages.findLast((message) => message.channel === channel);
  if (last) slack.read.set(`${person} ${channel}`, last.ts);
}

function personOf(member: Member): Person {
  const { id, realName, title } = member;
  return { id, name: realName, title, kind: personKind(member) };
}

function channelOf(slack: SlackState, me: Member, conversation: Conversation): Channel {
  const read = slack.read.get(`${me.id} ${conversation.id}`) ?? '';
  const unread = slack.messages.filter(
    (message) =>
      message.channel === conversation.id &&
      message.author !== me.id &&
      message.ts > read &&
      sees(slack, me, message),
  ).length;
  return {
    id: conversation.id,
    name: conversation.name,
    kind: conversation.kind,
    topic: conversation.topic,
    unread,
  };
}

function messageOf(slack: SlackState, message: StoredMessage): Message {
  const author = memberOf(slack.workspace, message.author);
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
      const file = slack.files.get(id);
      if (!file) return [];
      return [{ name: file.name, url: fileUrl(slack, file), mimetype: mimetypeOf(file) }];
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
