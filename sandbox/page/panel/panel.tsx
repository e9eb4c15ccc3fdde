import { useLayoutEffect, useRef } from 'react';
import type { Panel as PanelState } from '../../protocol.ts';
import { onEscape, useFocusReturn } from '../focus.ts';
import { IconButton } from '../frame/icon.tsx';
import { useServed } from '../server.ts';
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
  const { state: panel, problem, send: post } = useServed<PanelState>('panel', version);
  const send = (path: string, body: object) => post(`panel/${path}`, body);
  const closeButton = useRef<HTMLButtonElement>(null);
  useFocusReturn();
  useLayoutEffect(() => closeButton.current?.focus(), []);

  return (
    <aside className="panel" aria-label="Controls" onKeyDown={onEscape(onClose)}>
      <header className="pane-head">
        <h2>Controls</h2>
        <IconButton
          ref={closeButton}
          icon="close"
          label="Close"
          className="close"
          onClick={onClose}
        />
      </header>
      <div className="panel-body">
        <ClockSection version={version} />
        {problem !== null && <p role="alert">The sandbox refused this or does not answer.</p>}
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
