import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Panel as PanelState } from '../../protocol.ts';
import { onEscape, useFocusReturn } from '../focus.ts';
import { Icon } from '../frame/icon.tsx';
import { post, read } from '../server.ts';
import { ClockSection } from './clock-section.tsx';
import { AlertForm, FaultForm } from './fault-form.tsx';
import { RequestList } from './request-list.tsx';

interface Props {
  /** Grows with each change on the server. */
  readonly version: number;
  readonly onClose: () => void;
}

/** The clock, the requests to both API simulators, and the faults for their next replies. */
export function PanelView({ version, onClose }: Props) {
  const [panel, setPanel] = useState<PanelState | null>(null);
  const [isFailed, setFailed] = useState(false);
  const closeButton = useRef<HTMLButtonElement>(null);
  useFocusReturn();
  useLayoutEffect(() => closeButton.current?.focus(), []);

  const show = (answer: Promise<PanelState>) =>
    answer.then(
      (state) => {
        setPanel(state);
        setFailed(false);
      },
      () => setFailed(true),
    );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect reads again for each version
  useEffect(() => {
    void show(read<PanelState>('panel'));
  }, [version]);

  const send = (path: string, body: object) => void show(post<PanelState>(`panel/${path}`, body));

  return (
    <aside className="panel" aria-label="Controls" onKeyDown={onEscape(onClose)}>
      <header className="pane-head">
        <h2>Controls</h2>
        <button
          ref={closeButton}
          type="button"
          className="icon-button close"
          aria-label="Close"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div className="panel-body">
        <ClockSection version={version} />
        {isFailed && <p role="alert">The sandbox refused this or does not answer.</p>}
        {panel !== null && (
          <>
            <AlertForm {...{ panel, send }} />
            <FaultForm {...{ panel, send }} />
            <RequestList requests={panel.requests} />
          </>
        )}
      </div>
    </aside>
  );
}
