import { Fragment, type MouseEvent, type ReactNode } from 'react';
import { channelOf, useSession } from '../session.ts';
import { type Inline, type Part, parseMrkdwn } from './mrkdwn.ts';
import { messageOf } from './permalink.ts';
import { type Mention, mentionText } from './plain-text.ts';
import { fullDate, slackDate } from './slack-date.ts';

/** A mention with the current name; the name of a channel opens the channel. */
export function MentionName(mention: Mention) {
  const { client, go } = useSession();
  const { kind, id } = mention;
  const text = mentionText(mention, client);
  if (kind !== 'channel' || channelOf(client, id) === undefined) {
    return <span className="mention">{text}</span>;
  }
  const open = () => go({ channel: id, thread: null, home: false });
  return (
    <button type="button" className="mention mention-link" onClick={open}>
      {text}
    </button>
  );
}

export function SlackDate({ at, format, text }: { at: number; format: string; text: string }) {
  const reading = useSession().readDates();
  const date = new Date(at * 1000);
  if (Number.isNaN(date.getTime())) return <>{text}</>;
  return (
    <time dateTime={date.toISOString()} title={fullDate(date, reading)}>
      {slackDate(date, format, reading)}
    </time>
  );
}

/** A link. One to a message of this workspace opens it, as in Slack's client. */
export function Link({ href, children }: { href: string; children: ReactNode }) {
  const { client, go } = useSession();
  const message = messageOf(href);
  if (!message || !channelOf(client, message.channel)) {
    return <ExternalLink href={href}>{children}</ExternalLink>;
  }
  const open = (event: MouseEvent) => {
    event.preventDefault();
    go({ ...message, home: false });
  };
  return (
    <a href={href} onClick={open}>
      {children}
    </a>
  );
}

function ExternalLink({ href, children }: { href: string; children: ReactNode }) {
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
    case 'link':
      return <Link href={node.href}>{node.text}</Link>;
    case 'user':
    case 'channel':
    case 'group':
      return <MentionName {...node} />;
    case 'broadcast':
      return <span className="mention broadcast">@{node.text}</span>;
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
  return nodes.map((node, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a node has no id other than its position
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
        // biome-ignore lint/suspicious/noArrayIndexKey: a part has no id other than its position
        <PartNode key={at} part={part} />
      ))}
    </span>
  );
}
