import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ClientState } from '../protocol.ts';
import { type Address, type Go, useAddress } from './address.ts';
import { AppPage } from './channel/app-page.tsx';
import { ChannelPage } from './channel/channel-page.tsx';
import { Thread } from './channel/thread.tsx';
import { Sidebar } from './frame/sidebar.tsx';
import { TopBar } from './frame/top-bar.tsx';
import { useLive } from './live.ts';
import { ModalStack } from './modal/modal-stack.tsx';
import { useNotices } from './notices.ts';
import { Panel } from './panel/panel.tsx';
import { deliver } from './server.ts';
import { appChannel, channelOf, type Deliver, type Session, SessionContext } from './session.ts';

export function App() {
  const [address, go] = useAddress();
  const { screen, lost, version, refresh, look } = useLive(address.as);
  const [panelOpen, setPanelOpen] = useState(false);
  const onPanel = useCallback(() => setPanelOpen((open) => !open), []);
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
        <Workspace
          key={screen.me.id}
          {...{ screen, address, go, refresh, look, onPanel }}
          panelAt={panelOpen ? version : null}
        />
      )}
    </>
  );
}

interface WorkspaceProps {
  readonly screen: ClientState;
  readonly address: Address;
  readonly go: Go;
  readonly refresh: () => void;
  readonly look: (channel: string | null) => void;
  /** The version that the open panel shows; null while it is closed. */
  readonly panelAt: number | null;
  readonly onPanel: () => void;
}

function useSessionOf({ screen, address, go, refresh }: WorkspaceProps): Session {
  const notices = useNotices();
  const andRefresh = useCallback<Deliver>(
    async (path, done) => {
      const delivery = await deliver(path, done);
      refresh();
      return delivery;
    },
    [refresh],
  );
  return useMemo(
    () => ({ screen, address, go, notices, deliver: andRefresh }),
    [screen, address, go, notices, andRefresh],
  );
}

function Workspace(props: WorkspaceProps) {
  const { screen, address, look, panelAt, onPanel } = props;
  const session = useSessionOf(props);
  const asked = channelOf(screen, address.channel);
  const app = appChannel(screen);
  const shown = address.home ? undefined : (asked ?? screen.channels[0]);
  // On a phone the list of conversations comes first, as long as nobody chose one.
  const chosen = address.home || asked !== undefined;
  const parent = screen.messages.find(
    ({ channel, ts }) => channel === shown?.id && ts === address.thread,
  );
  const thread = parent?.ts ?? null;
  const frame = ['shell', chosen ? 'chosen' : '', thread === null ? '' : 'threaded'];

  const open = shown?.id ?? null;
  useEffect(() => look(open), [look, open]);

  return (
    <SessionContext value={session}>
      <div className={frame.join(' ')}>
        <TopBar panelOpen={panelAt !== null} onPanel={onPanel} />
        <Sidebar open={open} />
        {shown === undefined || shown === app ? (
          <AppPage tab={shown === undefined ? 'home' : 'messages'} />
        ) : (
          <ChannelPage channel={shown} />
        )}
        {shown !== undefined && thread !== null && <Thread channelId={shown.id} ts={thread} />}
        {panelAt !== null && <Panel version={panelAt} onClose={onPanel} />}
      </div>
      <ModalStack />
    </SessionContext>
  );
}
