import { Menu, type MenuItem } from '../elements/menu.tsx';
import type { GuideState } from '../guide/use-guide.ts';
import { useSession } from '../session.ts';
import { Avatar } from './avatar.tsx';
import { Clock } from './clock.tsx';
import { Icon } from './icon.tsx';

// An app does not act as a person, and a deactivated person cannot sign in.
const CANNOT_ACT = new Set(['bot', 'deactivated']);

export interface Panes {
  readonly isPanelOpen: boolean;
  readonly togglePanel: () => void;
  readonly guide: GuideState;
}

export function TopBar({ isPanelOpen, togglePanel, guide }: Panes) {
  const { client } = useSession();
  const help: readonly MenuItem[] = [
    { id: 'guide', label: guide.isOpen ? 'Hide the guide' : 'Show the guide', act: guide.toggle },
    {
      id: 'link',
      label: 'Copy a link to this page',
      note: `It opens this place as ${client.me.name}`,
      act: () => void navigator.clipboard.writeText(location.href),
    },
  ];
  return (
    <header className="top-bar">
      <span className="tile" aria-hidden="true">
        {client.workspace.slice(0, 1).toUpperCase()}
      </span>
      <span className="top-name">{client.workspace}</span>
      <Menu label="Help" className="top-button" items={help}>
        <Icon name="help" size={16} />
      </Menu>
      <button
        type="button"
        className="top-button controls"
        title="Clock, faults, API requests"
        aria-pressed={isPanelOpen}
        onClick={togglePanel}
      >
        <Icon name="gauge" size={16} />
        <span className="top-label">Controls</span>
        <Clock />
      </button>
      <ActAs />
    </header>
  );
}

/** A menu: a native select would change the person at every arrow key. */
function ActAs() {
  const { client, go } = useSession();
  const { me } = client;
  const items = client.people
    .filter(({ kind }) => !CANNOT_ACT.has(kind))
    .map(({ id, name, title }) => ({
      id,
      isCurrent: id === me.id,
      label: [name, title].join(' · '),
      act: () => go({ as: id, thread: null }),
    }));
  return (
    <Menu label="Act as" isNamedByText className="top-button act-as" items={items}>
      <Avatar id={me.id} name={me.name} bot={false} small />
      <span>
        <span className="visually-hidden">Act as: </span>
        <b>{me.name}</b>
        <span className="act-title"> · {me.title}</span>
      </span>
      <span className="chevron" aria-hidden="true" />
    </Menu>
  );
}
