import { stringOf, textOf } from '../../json.ts';
import type { Channel, ClientState, Message, Person, View } from '../../protocol.ts';
import { fileUrl, mimetypeOf } from '../files.ts';
import { isVisibleTo } from '../messages.ts';
import type { StoredMessage, StoredView } from '../records.ts';
import type { SlackState } from '../state.ts';
import {
  type Conversation,
  isColleague,
  isIn,
  type Member,
  memberOf,
  SLACKBOT,
  SLACKBOT_CHANNEL,
  timezoneOf,
} from '../workspace/workspace.ts';

/** Everything that Slack's client shows to one person at this moment. */
export function clientState(slack: SlackState, as: string): ClientState {
  const { workspace, manifest } = slack;
  const me = memberOf(workspace, as);
  if (!me) throw new RangeError(`there is no person ${as}`);
  const view = slack.modals.get(as);
  const isMember = isColleague(workspace, me);
  return {
    workspace: workspace.name,
    me: toPerson(me),
    people: workspace.members.map(toPerson),
    botName: workspace.botName,
    channels: workspace.channels
      .filter((conversation) => isIn(conversation, as) && !conversation.archived)
      .map((conversation) => toChannel(slack, me, conversation)),
    messages: slack.messages
      .filter((message) => isVisibleTo(slack, me, message))
      .map((message) => toMessage(slack, message)),
    views: view ? [toView(view)] : [],
    home: slack.homes.get(as)?.blocks ?? null,
    commands: (isMember ? manifest.commands : []).map(({ usage_hint, ...rest }) => ({
      command: rest.command,
      description: rest.description,
      usageHint: usage_hint,
    })),
    shortcuts: (isMember ? manifest.shortcuts : []).map(({ callback_id, type, ...rest }) => ({
      callbackId: callback_id,
      name: rest.name,
      description: rest.description,
      kind: type,
    })),
    groups: workspace.groups.map(({ id, handle, name }) => ({ id, handle, name })),
  };
}

/** Records that a person has read all messages of a channel. */
export function markRead(slack: SlackState, person: string, channel: string): void {
  const last = slack.messages.findLast((message) => message.channel === channel);
  if (last) slack.read.set(`${person} ${channel}`, last.ts);
}

function toPerson(member: Member): Person {
  const { id, realName, title, deleted, kind, enterpriseUserId: secondId } = member;
  const timezone = timezoneOf(member);
  const person = {
    id,
    name: realName,
    title,
    kind: deleted ? 'deactivated' : kind,
    timezone,
  } as const;
  return secondId ? { ...person, secondId } : person;
}

function toChannel(slack: SlackState, me: Member, conversation: Conversation): Channel {
  const { id, name, kind, topic } = conversation;
  const read = slack.read.get(`${me.id} ${id}`) ?? '';
  const unread = slack.messages.filter(
    (message) =>
      message.channel === id &&
      message.author !== me.id &&
      message.ts > read &&
      isVisibleTo(slack, me, message),
  );
  const notifies = kind === 'dm' ? () => true : notifyingMessages(slack, me, id);
  return {
    ...{ id, name, kind, topic },
    unread: unread.filter((message) => kind === 'dm' || !isReply(message)).length,
    notifications: unread.filter(notifies).length,
  };
}

const isReply = ({ ts, threadTs }: StoredMessage): boolean => threadTs !== null && threadTs !== ts;

/** Returns a check for the messages of a channel that mention this person, alone or in a group. */
function notifyingMessages(slack: SlackState, me: Member, channel: string) {
  const mentioning = slack.mentions
    .filter((mention) => mention.channel === channel && mention.notified.includes(me.id))
    .map(({ ts }) => ts);
  return ({ ts }: StoredMessage): boolean => mentioning.includes(ts);
}

function toMessage(slack: SlackState, message: StoredMessage): Message {
  const { channel, ts, threadTs, author, byBot, text, blocks } = message;
  const files = message.fileIds.flatMap((id) => slack.files.get(id) ?? []);
  return {
    channel,
    ts,
    threadTs,
    author,
    authorName: authorName(slack, author),
    byBot,
    text,
    blocks,
    ephemeral: message.ephemeralFor !== null && channel !== SLACKBOT_CHANNEL,
    files: files.map((file) => ({
      name: file.name,
      url: fileUrl(slack, file),
      mimetype: mimetypeOf(file),
    })),
  };
}

function authorName(slack: SlackState, author: string): string {
  if (author === SLACKBOT) return 'Slackbot';
  return memberOf(slack.workspace, author)?.realName ?? author;
}

function toView({ id, content, blocks, errors }: StoredView): View {
  return {
    id,
    callbackId: stringOf(content.callback_id),
    title: textOf(content.title),
    submit: textOf(content.submit) || null,
    close: textOf(content.close) || null,
    blocks,
    errors,
  };
}
