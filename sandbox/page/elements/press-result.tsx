import { useId } from 'react';
import { isJson, type Json, textOf } from '../../json.ts';
import { Dialog } from '../modal/dialog.tsx';
import { TextObject } from '../text/text-object.tsx';
import type { Press } from './field.ts';

/** The confirmation dialog while it is open, or a badge when the delivery failed. */
export function PressResult({ pressed, confirm }: { pressed: Press; confirm: unknown }) {
  const { failure, confirming, send, cancel } = pressed;
  return (
    <>
      {failure !== null && (
        <span
          className="failure-badge"
          role="img"
          aria-label={`Failed: ${failure}`}
          title={failure}
        >
          !
        </span>
      )}
      {confirming !== null && isJson(confirm) && (
        <ConfirmDialog confirm={confirm} onConfirm={() => send(confirming)} onDeny={cancel} />
      )}
    </>
  );
}

interface ConfirmProps {
  readonly confirm: Json;
  readonly onConfirm: () => void;
  readonly onDeny: () => void;
}

function ConfirmDialog({ confirm, onConfirm, onDeny }: ConfirmProps) {
  const title = useId();
  const style = confirm.style === 'danger' ? 'danger-filled' : 'primary';
  return (
    <Dialog className="dialog confirm" labelledBy={title} onEscape={onDeny}>
      <header className="dialog-head">
        <h2 id={title}>{textOf(confirm.title)}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onDeny}>
          ✕
        </button>
      </header>
      <div className="dialog-body">
        <TextObject value={confirm.text} />
      </div>
      <footer className="dialog-foot">
        <button type="button" className="button" onClick={onDeny}>
          {textOf(confirm.deny) || 'Cancel'}
        </button>
        <button type="button" className={`button ${style}`} onClick={onConfirm}>
          {textOf(confirm.confirm) || 'OK'}
        </button>
      </footer>
    </Dialog>
  );
}
