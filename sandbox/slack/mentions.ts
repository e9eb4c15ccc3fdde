import type { Json } from '../protocol.ts';
import { isJson, stringOr } from './json.ts';
import type { StoredMessage } from './messages.ts';
import { changed, type SlackState } from './state.ts';
import { conversationOf, groupOf, memberOf } from './workspace.ts';

/** Someone was called by name in a message; `who` are the people whom that reached. */
export interface MentionRecord {
  readonly channel: string;
  readonly ts: string;
  readonly via: 'post' | 'update';
  readonly kind: 'user' | 'group' | 'channel' | 'here' | 'everyone';
  readonly target: string;
  readonly notified: readonly string[];
}

type Mention = Pick<MentionRecord, 'kind' | 'target'>;

export function recordMentions(
  slack: SlackState,
  message: StoredMessage,
  via: MentionRecord['via'],
): void {
  if (message.ephemeralFor !== null) return;
  const mentions = [...mentionsIn(message.text), ...message.blocks.flatMap(mentionsOf)];
  for (const { kind, target } of unique(mentions)) {
    const who = reached(slack, message, { kind, target });
    slack.mentions.push({
      channel: message.channel,
      ts: message.ts,
      via,
      kind,
      target,
      notified: who,
    });
  }
  changed(slack);
}

function unique(mentions: readonly Mention[]): Mention[] {
  return [...new Map(mentions.map((one) => [`${one.kind} ${one.target}`, one])).values()];
}

/** Mentions in a text that Slack reads as mrkdwn. Escaped ones are plain text and reach nobody. */
export function mentionsIn(text: string): Mention[] {
  return [...text.matchAll(/<([@!])([^<>|]+)(?:\|[^<>]*)?>/g)].flatMap(([, sign, body = '']) => {
    if (sign === '@') return [{ kind: 'user' as const, target: body }];
    if (body.startsWith('subteam^')) return [{ kind: 'group' as const, target: body.slice(8) }];
    return ranges(body);
  });
}

function ranges(range: unknown): Mention[] {
  if (range !== 'channel' && range !== 'here' && range !== 'everyone') return [];
  return [{ kind: range, target: range }];
}

/** Mentions in blocks: rich text has elements for them, plain and raw texts never mention. */
function mentionsOf(value: unknown): Mention[] {
  if (Array.isArray(value)) return value.flatMap(mentionsOf);
  if (!isJson(value)) return [];
  return [...mentionsOfOne(value), ...Object.values(value).flatMap(mentionsOf)];
}

function mentionsOfOne(value: Json): Mention[] {
  switch (value.type) {
    case 'mrkdwn':
    case 'markdown':
      return mentionsIn(stringOr(value.text, ''));
    case 'user':
      return [{ kind: 'user', target: stringOr(value.user_id, '') }];
    case 'usergroup':
      return [{ kind: 'group', target: stringOr(value.usergroup_id, '') }];
    case 'broadcast':
      return ranges(value.range);
    default:
      return [];
  }
}

function reached(slack: SlackState, message: StoredMessage, { kind, target }: Mention): string[] {
  const { workspace } = slack;
  const conversation = conversationOf(workspace, message.channel);
  const here = conversation?.members ?? [];
  const asked = kind === 'user' ? [target] : kind === 'group' ? membersOf(slack, target) : here;
  return asked.filter((id) => {
    const member = memberOf(workspace, id);
    return member && !member.deleted && member.kind !== 'bot' && here.includes(id);
  });
}

function membersOf(slack: SlackState, groupId: string): readonly string[] {
  const group = groupOf(slack.workspace, groupId);
  return group && !group.disabled ? group.users : [];
}
