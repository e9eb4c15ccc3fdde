import { isJson, type Json, stringOf } from '../json.ts';
import type { MentionRecord, StoredMessage } from './records.ts';
import { notifyWatchers, type SlackState } from './state.ts';
import { conversationOf, groupOf, memberOf } from './workspace/workspace.ts';

type Mention = Pick<MentionRecord, 'kind' | 'target'>;

/** Records each distinct mention in the message. Ephemeral messages notify nobody. */
export function recordMentions(
  slack: SlackState,
  message: StoredMessage,
  via: MentionRecord['via'],
): void {
  const { channel, ts, ephemeralFor } = message;
  const mentions = [...mentionsInText(message.text), ...message.blocks.flatMap(mentionsInBlocks)];
  const distinct = new Map(mentions.map((one) => [`${one.kind} ${one.target}`, one]));
  for (const mention of ephemeralFor === null ? distinct.values() : []) {
    slack.mentions.push({
      channel,
      ts,
      via,
      ...mention,
      notified: notified(slack, message, mention),
    });
  }
  notifyWatchers(slack);
}

/** Mentions in a mrkdwn text. Slack reads an escaped mention as plain text. */
function mentionsInText(text: string): Mention[] {
  return [...text.matchAll(/<([@!])([^<>|]+)(?:\|[^<>]*)?>/g)].flatMap(([, sign, body = '']) => {
    if (sign === '@') return [{ kind: 'user' as const, target: body }];
    if (body.startsWith('subteam^')) return [{ kind: 'group' as const, target: body.slice(8) }];
    return broadcasts(body);
  });
}

function broadcasts(range: unknown): Mention[] {
  if (range !== 'channel' && range !== 'here' && range !== 'everyone') return [];
  return [{ kind: range, target: range }];
}

/** Mentions in blocks: in mrkdwn and in elements of rich text, but never in plain or raw text. */
function mentionsInBlocks(value: unknown): Mention[] {
  if (Array.isArray(value)) return value.flatMap(mentionsInBlocks);
  if (!isJson(value)) return [];
  return [...mentionsInElement(value), ...Object.values(value).flatMap(mentionsInBlocks)];
}

function mentionsInElement(value: Json): Mention[] {
  switch (value.type) {
    case 'mrkdwn':
      return mentionsInText(stringOf(value.text));
    case 'user':
      return [{ kind: 'user', target: stringOf(value.user_id) }];
    case 'usergroup':
      return [{ kind: 'group', target: stringOf(value.usergroup_id) }];
    case 'broadcast':
      return broadcasts(value.range);
    default:
      return [];
  }
}

function notified(slack: SlackState, message: StoredMessage, { kind, target }: Mention): string[] {
  const { workspace } = slack;
  const inChannel = conversationOf(workspace, message.channel)?.members ?? [];
  const group = kind === 'group' ? groupOf(workspace, target) : undefined;
  const inGroup = group && !group.disabled ? group.users : [];
  const addressed = kind === 'user' ? [target] : kind === 'group' ? inGroup : inChannel;
  return addressed.filter((id) => {
    const member = memberOf(workspace, id);
    return member && !member.deleted && member.kind !== 'bot' && inChannel.includes(member.id);
  });
}
