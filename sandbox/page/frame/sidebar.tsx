import type { ReactNode } from 'react';
import type { Channel } from '../../protocol.ts';
import { SLACKBOT_CHANNEL } from '../../slack/workspace/workspace.ts';
import { href } from '../address.ts';
import { appChannel, useSession } from '../session.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';

interface EntryProps {
  readonly to: { readonly channel: string | null; readonly home: boolean };
  readonly current: boolean;
  /** A channel with unread messages is bold; a badge counts those that notify the person. */
  readonly unread: number;
  readonly notifications: number;
  readonly icon: ReactNode;
  readonly name: string;
}

function Entry({ to, current, unread, notifications, icon, name }: EntryProps) {
  const { address, go } = useSession();
  const target = { ...address, ...to, thread: null, message: null };
  return (
    <li>
      <a
        href={href(target)}
        className={unread > 0 ? 'entry unread' : 'entry'}
        aria-current={current ? 'page' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          go(target);
        }}
      >
        {icon}
        <span className="entry-name">{name}</span>
        {unread > 0 && <span className="visually-hidden">, unread</span>}
        {notifications > 0 && (
          <span className="badge" role="img" aria-label={`${notifications} for you`}>
            {notifications}
          </span>
        )}
      </a>
    </li>
  );
}

const ICONS = { public: 'hash', private: 'lock', external: 'people', dm: 'people' } as const;

/** The channels of the person, and the app. `open` is the id of the visible channel. */
export function Sidebar({ open }: { open: string | null }) {
  const { client, address } = useSession();
  const app = appChannel(client);
  const channels = client.channels.filter(({ kind }) => kind !== 'dm');
  const slackbot = client.channels.filter(({ id }) => id === SLACKBOT_CHANNEL);

  const entryOf = (channel: Channel) => (
    <Entry
      key={channel.id}
      to={{ channel: channel.id, home: false }}
      current={channel.id === open}
      unread={channel.id === open ? 0 : channel.unread}
      notifications={channel.id === open ? 0 : channel.notifications}
      icon={<Icon name={ICONS[channel.kind]} size={16} />}
      name={channel.name}
    />
  );

  return (
    <nav className="sidebar" aria-label="Conversations">
      <h1>{client.workspace}</h1>
      <div className="sidebar-lists">
        <h2>Channels</h2>
        <ul>{channels.map(entryOf)}</ul>
        {channels.length === 0 && <p className="sidebar-note">This person is in no channel.</p>}
        <h2>Apps</h2>
        <ul>
          <Entry
            to={{ channel: null, home: true }}
            current={address.home || (app !== undefined && app.id === open)}
            unread={app === undefined || app.id === open ? 0 : app.unread}
            notifications={app === undefined || app.id === open ? 0 : app.notifications}
            icon={<Avatar id="app" name={client.botName} bot small />}
            name={client.botName}
          />
          {slackbot.map(entryOf)}
        </ul>
      </div>
    </nav>
  );
}
