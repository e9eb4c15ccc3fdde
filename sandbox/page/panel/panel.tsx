import { useEffect, useState } from 'react';
import type { Panel as PanelState } from '../../protocol.ts';
import { Icon } from '../frame/icon.tsx';
import { post, read } from '../server.ts';
import { Faults } from './faults.tsx';
import { Profiles } from './profiles.tsx';
import { Requests } from './requests.tsx';

export type Ask = (path: string, body: object) => void;

interface Props {
  /** Grows whenever the server said that something changed. */
  readonly version: number;
  readonly onClose: () => void;
}

/** What both simulators saw, and what they should do wrong next. */
export function Panel({ version, onClose }: Props) {
  const [panel, setPanel] = useState<PanelState | null>(null);
  const [failed, setFailed] = useState(false);

  const show = (answer: Promise<PanelState>) =>
    answer.then(
      (seen) => {
        setPanel(seen);
        setFailed(false);
      },
      () => setFailed(true),
    );

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is the reason to read
  useEffect(() => {
    void show(read<PanelState>('panel'));
  }, [version]);

  const ask: Ask = (path, body) => void show(post<PanelState>(`panel/${path}`, body));

  return (
    <aside className="panel" aria-label="Behind the scenes">
      <header className="pane-head">
        <h2>Behind the scenes</h2>
        <button type="button" className="icon-button close" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="panel-body">
        {failed && <p role="alert">The panel could not be read.</p>}
        {panel !== null && (
          <>
            <Faults panel={panel} ask={ask} />
            <Profiles panel={panel} ask={ask} />
            <Requests requests={panel.requests} />
          </>
        )}
      </div>
    </aside>
  );
}
