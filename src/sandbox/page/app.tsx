import { useEffect, useMemo, useRef, useState } from 'react';
import type { Screen } from '../protocol.ts';
import { type Address, type Go, useAddress } from './address.ts';
import { AppPage } from './channel/app-page.tsx';
import { ChannelPage } from './channel/channel-page.tsx';
import { Thread } from './channel/thread.tsx';
import { Sidebar } from './frame/sidebar.tsx';
import { TopBar } from './frame/top-bar.tsx';
import { ModalStack } from './modal/modal-stack.tsx';
import { useNotices } from './notices.ts';
import { Panel } from './panel/panel.tsx';
import { deliver } from './server.ts';
import { appChannel, channelOf, type Session, SessionContext } from './session.ts';
import { follow, type Stream } from './stream.ts';

export function App() {
  const [address, go] = useAddress();
  const { screen, lost, version, refresh } = useScreen(address.as);
  return (
    <>
      {lost && (
        <p className="lost" role="status">
          The sandbox is not answering. Trying again…
        </p>
      )}
      {screen === null ? (
        <p className="starting">Starting…</p>
      ) : (
        <Workspace key={screen.me.id} {...{ screen, address, go, version, refresh }} />
      )}
    </>
  );
}

/** The newest screen of a person; another person's is never shown in its stead. */
function useScreen(as: string | null) {
  const [seen, setSeen] = useState<{ as: string | null; screen: Screen } | null>(null);
  const [lost, setLost] = useState(false);
  const [version, setVersion] = useState(0);
  const stream = useRef<Stream | null>(null);

  useEffect(() => {
    const followed = follow(as, {
      lost: setLost,
      screen: (screen) => {
        setSeen({ as, screen });
        setVersion((before) => before + 1);
      },
    });
    stream.current = followed;
    return followed.close;
  }, [as]);

  const refresh = useMemo(() => () => stream.current?.refresh(), []);
  return { screen: seen?.as === as ? seen.screen : null, lost, version, refresh };
}

interface WorkspaceProps {
  readonly screen: Screen;
  readonly address: Address;
  readonly go: Go;
  readonly version: number;
  readonly refresh: () => void;
}

function Workspace({ screen, address, go, version, refresh }: WorkspaceProps) {
  const [panelOpen, setPanelOpen] = useState(false);
  const notices = useNotices();

  const session = useMemo<Session>(() => {
    const andRefresh: Session['deliver'] = async (path, body) => {
      const delivery = await deliver(path, body);
      refresh();
      return delivery;
    };
    return { screen, address, go, notices, deliver: andRefresh };
  }, [screen, address, go, notices, refresh]);

  const asked = channelOf(screen, address.channel);
  const app = appChannel(screen);
  const shown = address.home ? undefined : (asked ?? screen.channels[0]);
  // On a phone the list of conversations comes first, as long as nobody chose one.
  const chosen = address.home || asked !== undefined;
  const threaded = asked !== undefined && !address.home ? address.thread : null;

  return (
    <SessionContext value={session}>
      <div
        className={['shell', chosen ? 'chosen' : '', threaded === null ? '' : 'threaded'].join(' ')}
      >
        <TopBar panelOpen={panelOpen} onPanel={() => setPanelOpen(!panelOpen)} />
        <Sidebar open={shown?.id ?? null} />
        {shown === undefined ? (
          <AppPage tab="home" />
        ) : shown === app ? (
          <AppPage tab="messages" />
        ) : (
          <ChannelPage channel={shown} />
        )}
        {shown !== undefined && threaded !== null && <Thread channelId={shown.id} ts={threaded} />}
        {panelOpen && <Panel version={version} onClose={() => setPanelOpen(false)} />}
      </div>
      <ModalStack />
    </SessionContext>
  );
}
