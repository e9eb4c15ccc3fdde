import { useMemo } from 'react';
import type { Message, Place } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useSurface } from '../blocks/surface.ts';
import { Avatar } from '../frame/avatar.tsx';
import { Icon } from '../frame/icon.tsx';
import { SLACKBOT } from '../notices.ts';
import { useSession } from '../session.ts';
import { Mrkdwn } from '../text/markup.tsx';
import { plainText } from '../text/plain.ts';
import { timeOf } from '../text/slack-date.ts';
import { Files } from './files.tsx';
import { momentOf } from './groups.ts';
import { MessageTools } from './message-tools.tsx';
import { ThreadSummary } from './thread-summary.tsx';

interface Props {
  readonly message: Message;
  readonly first: boolean;
  /** In a thread the parent shows no summary of the replies below it. */
  readonly inThread: boolean;
}

export function MessageRow({ message, first, inThread }: Props) {
  const { author, authorName, byBot, ephemeral } = message;
  const { screen } = useSession();
  const at = timeOf(momentOf(message), new Date());
  return (
    <article
      className={['message', first ? 'first' : 'next', ephemeral ? 'ephemeral' : ''].join(' ')}
      aria-label={`${authorName}: ${plainText(message.text, screen).slice(0, 160)}`}
    >
      {ephemeral && <EphemeralNote ts={message.ts} />}
      <div className="gutter">
        {first ? (
          <Avatar id={author} name={authorName} bot={isApp(message)} />
        ) : (
          <small className="gutter-time">{at}</small>
        )}
      </div>
      <div className="message-main">
        {first && (
          <div className="message-head">
            <b>{authorName}</b>
            {byBot && author !== SLACKBOT && <span className="app-badge">APP</span>}
            <time dateTime={momentOf(message).toISOString()}>{at}</time>
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

const isApp = ({ byBot, author }: Message) => byBot && author !== SLACKBOT;

function Body({ message }: { message: Message }) {
  const { channel, ts, blocks, text, edited } = message;
  const place = useMemo<Place>(() => ({ in: 'message', channel, ts }), [channel, ts]);
  const { surface } = useSurface(place, blocks);
  return (
    <div className="message-body">
      {blocks.length > 0 ? <Blocks {...{ surface, blocks }} /> : <Mrkdwn text={text} />}
      {edited && <small className="edited"> (edited)</small>}
    </div>
  );
}

function EphemeralNote({ ts }: { ts: string }) {
  const { notices } = useSession();
  return (
    <div className="ephemeral-note">
      <Icon name="eye" size={14} />
      <span>Only visible to you</span>
      <span aria-hidden="true">·</span>
      <button type="button" className="link" onClick={() => notices.dismiss(ts)}>
        Dismiss
      </button>
    </div>
  );
}
