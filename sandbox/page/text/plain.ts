import type { ClientState } from '../../protocol.ts';
import { channelOf, personOf } from '../session.ts';
import { type Inline, parseMrkdwn } from './mrkdwn.ts';

/** The same words without their look, for names that assistive technology reads out. */
export function plainText(source: string, screen: ClientState): string {
  const words = parseMrkdwn(source).map((part) =>
    part.kind === 'pre' ? part.text : part.inside.map((node) => plain(node, screen)).join(''),
  );
  return words.join(' ').replace(/\s+/g, ' ').trim();
}

function plain(node: Inline, screen: ClientState): string {
  switch (node.kind) {
    case 'emoji':
      return `:${node.name}:`;
    case 'user':
      return `@${personOf(screen, node.id)?.name ?? (node.label || node.id)}`;
    case 'channel':
      return `#${channelOf(screen, node.id)?.name ?? (node.label || node.id)}`;
    case 'group':
      return `@${screen.groups.find(({ id }) => id === node.id)?.handle ?? node.id}`;
    case 'broadcast':
      return `@${node.range}`;
    case 'bold':
    case 'italic':
    case 'strike':
      return node.inside.map((one) => plain(one, screen)).join('');
    default:
      return node.text;
  }
}
