import { useEffect, useState } from 'react';
import type { Json } from '../../json.ts';
import type { Place } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useSurface } from '../blocks/surface.ts';
import { Avatar } from '../frame/avatar.tsx';
import { appChannel, useSession } from '../session.ts';
import { BackButton, ChannelMessages } from './channel-page.tsx';

/** The page of the app: the Home tab of this person, and the messages with the app. */
export function AppPage({ tab }: { tab: 'home' | 'messages' }) {
  const { client, go } = useSession();
  const channel = appChannel(client);
  const tabs = [
    {
      id: 'home',
      name: 'Home',
      news: 0,
      open: () => go({ channel: null, thread: null, home: true }),
    },
    {
      id: 'messages',
      name: 'Messages',
      news: tab === 'messages' ? 0 : (channel?.notifications ?? 0),
      open: () => go({ channel: channel?.id ?? null, thread: null, home: false }),
    },
  ].filter(({ id }) => id === 'home' || channel !== undefined);
  return (
    <main className="pane" aria-label={client.botName}>
      <header className="pane-head app-head">
        <BackButton />
        <Avatar id="app" name={client.botName} bot small />
        <h2>{client.botName}</h2>
        <span className="app-badge">APP</span>
        <div role="tablist" aria-label={client.botName} className="tabs">
          {tabs.map(({ id, name, news, open }) => (
            <button key={id} type="button" role="tab" aria-selected={id === tab} onClick={open}>
              {name}
              {news > 0 && (
                <span className="badge" role="img" aria-label={`${news} for you`}>
                  {news}
                </span>
              )}
            </button>
          ))}
        </div>
      </header>
      {tab === 'home' && <Home key={client.me.id} />}
      {tab === 'messages' && channel !== undefined && (
        <ChannelMessages key={client.me.id} channel={channel} />
      )}
    </main>
  );
}

const PLACE: Place = { in: 'home' };
const NO_BLOCKS: readonly Json[] = [];

function Home() {
  const { client, deliver } = useSession();
  const as = client.me.id;
  const blocks = client.home ?? NO_BLOCKS;
  const { surface } = useSurface(PLACE, blocks);

  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    void deliver('home', { as }).then(({ error }) => setFailure(error));
  }, [deliver, as]);

  return (
    <div className="home" role="tabpanel" aria-label="Home">
      <div className="home-inside">
        {client.home === null ? (
          <p className="home-empty">
            {failure ?? `${client.botName} has not published its Home tab yet.`}
          </p>
        ) : (
          <Blocks {...{ surface, blocks }} />
        )}
      </div>
    </div>
  );
}
