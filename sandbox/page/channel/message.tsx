import { useMemo } from 'react';
import type { Message, Place } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useSurface } from '../blocks/surface.ts';
import { Avatar } from '../frame/avatar.tsx';
import { Icon, IconButton } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { Mrkdwn } from '../text/markup.tsx';
import { plainText } from '../text/plain-text.ts';
import { slackDate, timeOf } from '../text/slack-date.ts';
import { Files } from './files.tsx';
import { dateOf, repliesTo } from './groups.ts';
import { ShortcutMenu } from './shortcut-menu.tsx';

interface Props {
  readonly message: Message;
  readonly first: boolean;
  /** A thread shows no summary of its replies below the parent message. */
  readonly inThread: boolean;
}

export function MessageRow({ message, first, inThread }: Props) {
  const { author, authorName, byBot, ephemeral, text, ts } = message;
  const { client, notices, readDates } = useSession();
  const at = timeOf(dateOf(message), readDates());
  return (
    <article
      className={['message', first ? 'first' : 'next', ephemeral ? 'ephemeral' : ''].join(' ')}
      data-ts={ts}
      aria-label={`${authorName}: ${plainText(text, client).slice(0, 160)}`}
    >
      {ephemeral && (
        <div className="ephemeral-note">
          <Icon name="eye" size={14} />
          <span>Only visible to you</span>
          <span aria-hidden="true">·</span>
          <button type="button" className="link" onClick={() => notices.dismiss(ts)}>
            Dismiss
          </button>
        </div>
      )}
      <div className="gutter">
        {first ? (
          <Avatar id={author} name={authorName} bot={byBot} />
        ) : (
          <small className="gutter-time">{at}</small>
        )}
      </div>
      <div className="message-main">
        {first && (
          <div className="message-head">
            <b>{authorName}</b>
            {byBot && <span className="app-badge">APP</span>}
            <time dateTime={dateOf(message).toISOString()}>{at}</time>
          </div>
        )}
        <Body message={message} />
        <Files files={message.files} />
        {!inThread && <ThreadSummary message={message} />}
      </div>
      {!ephemeral && <MessageTools message={message} inThread={inThread} />}
    </article>
  );
}

function Body({ message: { channel, ts, blocks, text } }: { message: Message }) {
  const place = useMemo<Place>(() => ({ in: 'message', channel, ts }), [channel, ts]);
  const { surface } = useSurface(place, blocks);
  return (
    <div className="message-body">
      {blocks.length > 0 ? <Blocks {...{ surface, blocks }} /> : <Mrkdwn text={text} />}
    </div>
  );
}

function ThreadSummary({ message }: { message: Message }) {
  const { client, go, readDates } = useSession();
  const replies = repliesTo(client.messages, message).filter(({ ephemeral }) => !ephemeral);
  const last = replies.at(-1);
  if (last === undefined) return null;
  const authors = new Map(replies.map((reply) => [reply.author, reply]));
  const when = slackDate(dateOf(last), '{date_short_pretty} at {time}', readDates());
  return (
    <button
      type="button"
      className="thread-summary"
      onClick={() => go({ channel: message.channel, thread: message.ts, home: false })}
    >
      {[...authors.values()].slice(0, 4).map(({ author, authorName, byBot }) => (
        <Avatar key={author} id={author} name={authorName} bot={byBot} small />
      ))}
      <b>{replies.length === 1 ? '1 reply' : `${replies.length} replies`}</b>
      <span>Last reply {when}</span>
    </button>
  );
}

/** The actions for a message: reply in its thread, or use one of the app's shortcuts. */
function MessageTools({ message, inThread }: { message: Message; inThread: boolean }) {
  const { go } = useSession();
  const { channel, ts, threadTs } = message;
  return (
    <div className="message-tools" role="toolbar" aria-label="Actions for this message">
      {!inThread && (
        <IconButton
          icon="reply"
          label="Reply in thread"
          title="Reply in thread"
          onClick={() => go({ channel, thread: ts, home: false })}
        />
      )}
      <ShortcutMenu
        kind="message"
        place={{ channel, threadTs: inThread ? threadTs : null }}
        ts={ts}
      />
    </div>
  );
}
