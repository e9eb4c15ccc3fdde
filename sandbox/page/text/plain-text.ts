import type { ClientState } from '../../protocol.ts';
import { channelOf, personOf } from '../session.ts';
import { type Inline, parseMrkdwn } from './mrkdwn.ts';

export interface Mention {
  readonly kind: 'user' | 'channel' | 'group';
  readonly id: string;
  /** The name in the message, which Slack shows only when the id is unknown. */
  readonly text: string;
}

/** The mention with the current name, for example `@Ana` or `#ops`. */
export function mentionText({ kind, id, text }: Mention, client: ClientState): string {
  if (kind === 'channel') return `#${channelOf(client, id)?.name ?? (text || 'private-channel')}`;
  const name =
    kind === 'user'
      ? personOf(client, id)?.name
      : client.groups.find((group) => group.id === id)?.handle;
  return `@${(name ?? (text || id)).replace(/^@/, '')}`;
}

/** The text without markup and on one line, for labels that screen readers read. */
export function plainText(source: string, client: ClientState): string {
  const plain = (node: Inline): string => {
    if ('inside' in node) return node.inside.map(plain).join('');
    return 'id' in node ? mentionText(node, client) : node.text;
  };
  const parts = parseMrkdwn(source).map((part) =>
    part.kind === 'pre' ? part.text : part.inside.map(plain).join(''),
  );
  return parts.join(' ').replace(/\s+/g, ' ').trim();
}
