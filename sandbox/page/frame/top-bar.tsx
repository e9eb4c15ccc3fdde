import { useSession } from '../session.ts';
import { ActAs } from './act-as.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly panelOpen: boolean;
  readonly onPanel: () => void;
}

export function TopBar({ panelOpen, onPanel }: Props) {
  const { screen } = useSession();
  return (
    <header className="top-bar">
      <span className="tile" aria-hidden="true">
        {screen.workspace.slice(0, 1).toUpperCase()}
      </span>
      <span className="top-name">{screen.workspace}</span>
      <ActAs />
      <button
        type="button"
        className="top-button"
        aria-label="Behind the scenes"
        aria-pressed={panelOpen}
        onClick={onPanel}
      >
        <Icon name="gauge" size={16} />
        <span>Behind the scenes</span>
      </button>
    </header>
  );
}
