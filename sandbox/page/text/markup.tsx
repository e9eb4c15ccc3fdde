import { Fragment, type ReactNode } from 'react';
import { channelOf, personOf, useSession } from '../session.ts';
import { emojiOf } from './emoji.ts';
import { type Inline, type Part, parseMrkdwn } from './mrkdwn.ts';
import { slackDate } from './slack-date.ts';

export function Mention({ children }: { children: ReactNode }) {
  return <span className="mention">{children}</span>;
}

export function UserMention({ id, label }: { id: string; label?: string }) {
  const { screen } = useSession();
  const name = personOf(screen, id)?.name ?? (label || id);
  return <Mention>@{name.replace(/^@/, '')}</Mention>;
}

export function ChannelMention({ id, label }: { id: string; label?: string }) {
  const { screen, go } = useSession();
  const channel = channelOf(screen, id);
  if (channel === undefined) return <Mention>#{label || 'private-channel'}</Mention>;
  const open = () => go({ channel: id, thread: null, home: false });
  return (
    <button type="button" className="mention mention-link" onClick={open}>
      #{channel.name}
    </button>
  );
}

export function GroupMention({ id, label }: { id: string; label?: string }) {
  const { screen } = useSession();
  const handle = screen.groups.find((group) => group.id === id)?.handle ?? (label || id);
  return <Mention>@{handle.replace(/^@/, '')}</Mention>;
}

export function SlackDate({ at, format, text }: { at: number; format: string; text: string }) {
  const when = new Date(at * 1000);
  if (Number.isNaN(when.getTime())) return <>{text}</>;
  const full = when.toLocaleString('en-US', { dateStyle: 'full', timeStyle: 'long' });
  return (
    <time dateTime={when.toISOString()} title={full}>
      {slackDate(when, format, new Date())}
    </time>
  );
}

export function OutsideLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

const TAGS = { bold: 'b', italic: 'i', strike: 's' } as const;

function InlineNode({ node }: { node: Inline }) {
  switch (node.kind) {
    case 'text':
      return <>{node.text}</>;
    case 'code':
      return <code>{node.text}</code>;
    case 'emoji':
      return <>{emojiOf(node.name)}</>;
    case 'link':
      return <OutsideLink href={node.href}>{node.text}</OutsideLink>;
    case 'user':
      return <UserMention id={node.id} label={node.label} />;
    case 'channel':
      return <ChannelMention id={node.id} label={node.label} />;
    case 'group':
      return <GroupMention id={node.id} label={node.label} />;
    case 'broadcast':
      return <span className="mention broadcast">@{node.range}</span>;
    case 'date':
      return <SlackDate {...node} />;
    default: {
      const Tag = TAGS[node.kind];
      return (
        <Tag>
          <InlineNodes nodes={node.inside} />
        </Tag>
      );
    }
  }
}

function InlineNodes({ nodes }: { nodes: readonly Inline[] }) {
  // The tree is drawn anew from its source, so a node's position is its identity.
  return nodes.map((node, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={at}>
      <InlineNode node={node} />
    </Fragment>
  ));
}

function PartNode({ part }: { part: Part }) {
  if (part.kind === 'pre') return <pre>{part.text}</pre>;
  const Tag = part.kind === 'quote' ? 'blockquote' : 'span';
  return (
    <Tag className="lines">
      <InlineNodes nodes={part.inside} />
    </Tag>
  );
}

export function Mrkdwn({ text }: { text: string }) {
  return (
    <span className="mrkdwn">
      {parseMrkdwn(text).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part's position is its identity
        <PartNode key={at} part={part} />
      ))}
    </span>
  );
}
