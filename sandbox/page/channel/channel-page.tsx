import type { Channel } from '../../protocol.ts';
import { Icon, IconButton } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { Mrkdwn } from '../text/markup.tsx';
import { Composer } from './composer.tsx';
import { inChannel } from './groups.ts';
import { MessageList } from './message-list.tsx';

export function ChannelPage({ channel }: { channel: Channel }) {
  const { client } = useSession();
  const title = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  return (
    <main className="pane" aria-label={title}>
      <header className="pane-head">
        <BackButton />
        <h2>{title}</h2>
        {channel.kind === 'private' && <Icon name="lock" size={14} />}
        {channel.kind === 'external' && <span className="tag">shared with another workspace</span>}
        <p className="topic">
          <Mrkdwn text={channel.topic} />
        </p>
      </header>
      <ChannelMessages key={`${client.me.id} ${channel.id}`} channel={channel} />
    </main>
  );
}

export function ChannelMessages({ channel }: { channel: Channel }) {
  const { client, notices } = useSession();
  const messages = inChannel(notices.withNotices(client.messages), channel.id);
  const intro =
    channel.kind === 'dm'
      ? `This is the start of your messages with ${channel.name}.`
      : `This is the start of the #${channel.name} channel.`;
  return (
    <>
      <MessageList name="Messages" messages={messages} inThread={false} intro={intro} />
      <Composer channel={channel} threadTs={null} />
    </>
  );
}

/** Visible only on a phone, where it shows the list of conversations or closes the thread. */
export function BackButton({ closes }: { closes?: 'thread' }) {
  const { go } = useSession();
  return (
    <IconButton
      icon="back"
      className="back"
      label={closes ? 'Back to the channel' : 'Back to all conversations'}
      onClick={() => go(closes ? { thread: null } : { channel: null, thread: null, home: false })}
    />
  );
}
