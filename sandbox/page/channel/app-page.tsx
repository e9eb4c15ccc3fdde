import { useEffect, useState } from 'react';
import type { Json, Place } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { useSurface } from '../blocks/surface.ts';
import { Avatar } from '../frame/avatar.tsx';
import { appChannel, useSession } from '../session.ts';
import { BackButton, ChannelMessages } from './channel-page.tsx';

/** The app's own page: its home, drawn by the bot for this person, and the messages with it. */
export function AppPage({ tab }: { tab: 'home' | 'messages' }) {
  const { screen, go } = useSession();
  const channel = appChannel(screen);
  const tabs = [
    { id: 'home', name: 'Home', open: () => go({ channel: null, thread: null, home: true }) },
    {
      id: 'messages',
      name: 'Messages',
      open: () => go({ channel: channel?.id ?? null, thread: null, home: false }),
    },
  ].filter(({ id }) => id === 'home' || channel !== undefined);
  return (
    <main className="pane" aria-label={screen.botName}>
      <header className="pane-head app-head">
        <BackButton />
        <Avatar id="app" name={screen.botName} bot small />
        <h2>{screen.botName}</h2>
        <span className="app-badge">APP</span>
        <div role="tablist" aria-label={screen.botName} className="tabs">
          {tabs.map(({ id, name, open }) => (
            <button key={id} type="button" role="tab" aria-selected={id === tab} onClick={open}>
              {name}
            </button>
          ))}
        </div>
      </header>
      {tab === 'home' && <Home key={screen.me.id} />}
      {tab === 'messages' && channel !== undefined && (
        <ChannelMessages key={screen.me.id} channel={channel} />
      )}
    </main>
  );
}

const PLACE: Place = { in: 'home' };
const NOTHING: readonly Json[] = [];

function Home() {
  const { screen, deliver } = useSession();
  const as = screen.me.id;
  const blocks = screen.home ?? NOTHING;
  const { surface } = useSurface(PLACE, blocks);

  const [failure, setFailure] = useState<string | null>(null);

  useEffect(() => {
    void deliver('home', { as }).then(({ error }) => setFailure(error));
  }, [deliver, as]);

  return (
    <div className="home" role="tabpanel" aria-label="Home">
      <div className="home-inside">
        {screen.home === null ? (
          <p className="home-empty">
            {failure ?? `${screen.botName} has not shown anything here yet.`}
          </p>
        ) : (
          <Blocks {...{ surface, blocks }} />
        )}
      </div>
    </div>
  );
}
