import { type ReactNode, useState } from 'react';
import type { Json } from '../../protocol.ts';
import { useSurfaceContext } from '../blocks/surface.ts';
import { isJson } from '../json.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

export interface Press {
  readonly pending: boolean;
  readonly press: (payload: Json) => void;
  /** The confirm dialog while it is open, or the badge of a failed delivery. */
  readonly aftermath: ReactNode;
}

/** Hands an element's action to the bot: asks first where the bot wants that, shows a failure. */
export function usePress(blockId: string, element: Json): Press {
  const surface = useSurfaceContext();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const [asked, setAsked] = useState<Json | null>(null);

  async function send(payload: Json) {
    setAsked(null);
    setPending(true);
    setFailure(null);
    const { error } = await surface.press(blockId, element, payload);
    setPending(false);
    setFailure(error);
  }

  function press(payload: Json) {
    if (isJson(element.confirm)) setAsked(payload);
    else void send(payload);
  }

  const aftermath = (
    <>
      {failure !== null && <FailureBadge why={failure} />}
      {asked !== null && isJson(element.confirm) && (
        <ConfirmDialog
          confirm={element.confirm}
          onConfirm={() => void send(asked)}
          onDeny={() => setAsked(null)}
        />
      )}
    </>
  );
  return { pending, press, aftermath };
}

function FailureBadge({ why }: { why: string }) {
  return (
    <span className="failure-badge" role="img" aria-label={`Failed: ${why}`} title={why}>
      !
    </span>
  );
}
