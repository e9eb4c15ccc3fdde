import { useId } from 'react';
import type { Json } from '../../protocol.ts';
import { textOf } from '../json.ts';
import { Dialog } from '../modal/dialog.tsx';
import { TextObject } from '../text/text-object.tsx';

interface Props {
  readonly confirm: Json;
  readonly onConfirm: () => void;
  readonly onDeny: () => void;
}

export function ConfirmDialog({ confirm, onConfirm, onDeny }: Props) {
  const title = useId();
  const look = confirm.style === 'danger' ? 'button danger-filled' : 'button primary';
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
        <button type="button" className={look} onClick={onConfirm}>
          {textOf(confirm.confirm) || 'OK'}
        </button>
      </footer>
    </Dialog>
  );
}
