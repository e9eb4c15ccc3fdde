import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ClientState } from '../protocol.ts';
import { sandboxWorkspace } from '../slack/workspace/sandbox-workspace.ts';
import { type Address, type Navigate, useAddress } from './address.ts';
import { AppPage } from './channel/app-page.tsx';
import { ChannelPage } from './channel/channel-page.tsx';
import { keepDraftsOf } from './channel/sending.ts';
import { Thread } from './channel/thread.tsx';
import { Sidebar } from './frame/sidebar.tsx';
import { type Panes, TopBar } from './frame/top-bar.tsx';
import { Guide } from './guide/guide.tsx';
import { useGuide } from './guide/use-guide.ts';
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
  const isKnown = sandboxWorkspace.members.some(({ id }) => id === address.as);
  return isKnown ? <Client {...{ address, go }} /> : <UnknownPerson name={address.as} />;
}

/** For a link that names nobody of the workspace. */
function UnknownPerson({ name }: { name: string }) {
  const canAct = sandboxWorkspace.members.filter(({ kind }) => kind !== 'bot');
  const people = canAct.map((member) => (
    <li key={member.id}>
      <a href={`?as=${member.name}&channel=ops`}>{member.name}</a>
    </li>
  ));
  return (
    <div className="starting">
      <p role="alert">Nobody here is called “{name}”. Act as one of these people:</p>
      <ul>{people}</ul>
    </div>
  );
}

function Client({ address, go }: Pick<WorkspaceProps, 'address' | 'go'>) {
  const live = useLive(address.as);
  const { client, isDisconnected } = live;
  const [isPanelOpen, setPanelOpen] = useState(false);
  const togglePanel = useCallback(() => setPanelOpen((open) => !open), []);
  const guide = useGuide(live.version);
  const panes = { isPanelOpen, togglePanel, guide };
  useEffect(() => keepDraftsOf(address.as), [address.as]);
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
        <Workspace key={client.me.id} {...{ live, client, address, go, panes }} />
      )}
    </>
  );
}

interface WorkspaceProps {
  readonly live: LiveUpdates;
  readonly client: ClientState;
  readonly address: Address;
  readonly go: Navigate;
  readonly panes: Panes;
}

function useSessionOf({ client, address, go, live }: WorkspaceProps): Session {
  const { refresh, now } = live;
  const notices = useNotices(now);
  const { timezone } = client.me;
  const readDates = useCallback(() => ({ now: now(), timeZone: timezone }), [now, timezone]);
  const deliverAndRefresh = useCallback<DeliverRequest>(
    async (path, input) => {
      const delivery = await deliver(path, input);
      refresh();
      return delivery;
    },
    [refresh],
  );
  return useMemo(
    () => ({ client, address, go, notices, readDates, deliver: deliverAndRefresh }),
    [client, address, go, notices, readDates, deliverAndRefresh],
  );
}

function Workspace(props: WorkspaceProps) {
  const { client, address, live, panes } = props;
  const session = useSessionOf(props);
  const requested = channelOf(client, address.channel);
  const channel = address.home ? undefined : (requested ?? client.channels[0]);
  // A phone shows the list of conversations until the person selects one.
  const isChosen = address.home || requested !== undefined;
  const parent = client.messages.find(
    (message) => message.channel === channel?.id && message.ts === address.thread,
  );
  const frame = ['shell', isChosen ? 'chosen' : '', parent ? 'threaded' : ''].join(' ');
  const [view] = client.views;

  const open = channel?.id ?? null;
  const { setOpenChannel } = live;
  useEffect(() => setOpenChannel(open), [setOpenChannel, open]);

  return (
    <SessionContext value={session}>
      <div className={frame}>
        <TopBar {...panes} />
        <Sidebar open={open} />
        {panes.guide.isOpen && <Guide guide={panes.guide} />}
        {channel === undefined || channel === appChannel(client) ? (
          <AppPage tab={channel === undefined ? 'home' : 'messages'} />
        ) : (
          <ChannelPage channel={channel} />
        )}
        {channel !== undefined && parent && <Thread channelId={channel.id} ts={parent.ts} />}
        {panes.isPanelOpen && <PanelView version={live.version} onClose={panes.togglePanel} />}
      </div>
      {view && <ModalView key={view.id} view={view} />}
    </SessionContext>
  );
}
