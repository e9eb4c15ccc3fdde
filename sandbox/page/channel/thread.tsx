import { onEscape, useFocusReturn } from '../focus.ts';
import { IconButton } from '../frame/icon.tsx';
import { channelOf, useSession } from '../session.ts';
import { BackButton } from './channel-page.tsx';
import { Composer } from './composer.tsx';
import { repliesTo } from './groups.ts';
import { MessageList } from './message-list.tsx';

/** The panel at the right: one message and its replies. */
export function Thread({ channelId, ts }: { channelId: string; ts: string }) {
  const { client, notices, go } = useSession();
  useFocusReturn();
  const close = () => go({ thread: null });
  const channel = channelOf(client, channelId);
  const all = notices.withNotices(client.messages);
  const parent = all.find((message) => message.channel === channelId && message.ts === ts);
  if (channel === undefined || parent === undefined) return null;
  return (
    <aside className="thread" aria-label="Thread" onKeyDown={onEscape(close)}>
      <header className="pane-head">
        <BackButton closes="thread" />
        <h2>
          Thread <small>{channel.kind === 'dm' ? channel.name : `#${channel.name}`}</small>
        </h2>
        <IconButton icon="close" label="Close thread" className="close" onClick={close} />
      </header>
      <MessageList
        key={ts}
        name="Thread"
        messages={[parent, ...repliesTo(all, parent)]}
        inThread
        intro=""
      />
      <Composer key={`${client.me.id} ${ts}`} channel={channel} threadTs={ts} />
    </aside>
  );
}
