import { useSession } from '../session.ts';
import { Icon } from './icon.tsx';

// An app does not act as a person, and a deactivated person cannot sign in.
const CANNOT_ACT = new Set(['bot', 'deactivated']);

interface Props {
  readonly isPanelOpen: boolean;
  readonly onPanel: () => void;
}

export function TopBar({ isPanelOpen, onPanel }: Props) {
  const { client, go } = useSession();
  const people = client.people.filter(({ kind }) => !CANNOT_ACT.has(kind));
  return (
    <header className="top-bar">
      <span className="tile" aria-hidden="true">
        {client.workspace.slice(0, 1).toUpperCase()}
      </span>
      <span className="top-name">{client.workspace}</span>
      <label className="act-as">
        <span>Act as</span>
        <select
          value={client.me.id}
          onChange={({ target }) => go({ as: target.value, thread: null })}
        >
          {people.map(({ id, name, title }) => (
            <option key={id} value={id}>
              {[name, title].filter(Boolean).join(' · ')}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="top-button"
        aria-label="API requests"
        aria-pressed={isPanelOpen}
        onClick={onPanel}
      >
        <Icon name="gauge" size={16} />
        <span>API requests</span>
      </button>
    </header>
  );
}
