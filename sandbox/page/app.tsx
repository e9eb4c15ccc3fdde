import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ClientState } from '../protocol.ts';
import { type Address, type Navigate, useAddress } from './address.ts';
import { AppPage } from './channel/app-page.tsx';
import { ChannelPage } from './channel/channel-page.tsx';
import { Thread } from './channel/thread.tsx';
import { Sidebar } from './frame/sidebar.tsx';
import { TopBar } from './frame/top-bar.tsx';
import { type LiveUpdates, useLive } from './live.ts';
import { ModalView } from './modal/modal-view.tsx';
import { PanelView } from './panel/panel.tsx';
import { deliver } from './server.ts';
import {
  appChannel,
  channelOf,
  type DeliverRequest,
  type Session,
  SessionContext,
} from './session.ts';
import { useNotices } from './slackbot-notices.ts';

export function App() {
  const [address, go] = useAddress();
  const live = useLive(address.as);
  const { client, isDisconnected } = live;
  const [isPanelOpen, setPanelOpen] = useState(false);
  const onPanel = useCallback(() => setPanelOpen((open) => !open), []);
  return (
    <>
      {isDisconnected && (
        <p className="disconnected" role="status">
          The sandbox does not answer. Trying again…
        </p>
      )}
      {client === null ? (
        <p className="starting">Starting…</p>
      ) : (
        <Workspace key={client.me.id} {...{ live, client, address, go, isPanelOpen, onPanel }} />
      )}
    </>
  );
}

interface WorkspaceProps {
  readonly live: LiveUpdates;
  readonly client: ClientState;
  readonly address: Address;
  readonly go: Navigate;
  readonly isPanelOpen: boolean;
  readonly onPanel: () => void;
}

function useSessionOf({ client, address, go, live }: WorkspaceProps): Session {
  const notices = useNotices();
  const { refresh } = live;
  const deliverAndRefresh = useCallback<DeliverRequest>(
    async (path, input) => {
      const delivery = await deliver(path, input);
      refresh();
      return delivery;
    },
    [refresh],
  );
  return useMemo(
    () => ({ client, address, go, notices, deliver: deliverAndRefresh }),
    [client, address, go, notices, deliverAndRefresh],
  );
}

function Workspace(props: WorkspaceProps) {
  const { client, address, live, isPanelOpen, onPanel } = props;
  const session = useSessionOf(props);
  const requested = channelOf(client, address.channel);
  const channel = address.home ? undefined : (requested ?? client.channels[0]);
  // A phone shows the list of conversations until the person selects one.
  const isChosen = address.home || requested !== undefined;
  const parent = client.messages.find(
    (message) => message.channel === channel?.id && message.ts === address.thread,
  );
  const frame = ['shell', isChosen ? 'chosen' : '', parent ? 'threaded' : ''];
  const [view] = client.views;

  const open = channel?.id ?? null;
  const { setOpenChannel } = live;
  useEffect(() => setOpenChannel(open), [setOpenChannel, open]);

  return (
    <SessionContext value={session}>
      <div className={frame.join(' ')}>
        <TopBar {...{ isPanelOpen, onPanel }} />
        <Sidebar open={open} />
        {channel === undefined || channel === appChannel(client) ? (
          <AppPage tab={channel === undefined ? 'home' : 'messages'} />
        ) : (
          <ChannelPage channel={channel} />
        )}
        {channel !== undefined && parent && <Thread channelId={channel.id} ts={parent.ts} />}
        {isPanelOpen && <PanelView version={live.version} onClose={onPanel} />}
      </div>
      {view && <ModalView key={view.id} view={view} />}
    </SessionContext>
  );
}
