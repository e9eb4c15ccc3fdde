import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

interface Props {
  readonly labelledBy: string;
  readonly className: string;
  readonly onEscape: () => void;
  readonly children: ReactNode;
}

/**
 * The browser's own modal dialog: it keeps the focus inside and the rest of the page inert. Escape
 * is answered here and not by the browser, because only the bot may take a modal away.
 */
export function Dialog({ labelledBy, className, onEscape, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);

  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);

  function onKeyDown(event: KeyboardEvent) {
    event.stopPropagation();
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    onEscape();
  }

  return (
    <dialog
      ref={dialog}
      className={className}
      aria-labelledby={labelledBy}
      closedby="none"
      onKeyDown={onKeyDown}
      onCancel={(event) => event.preventDefault()}
    >
      {children}
    </dialog>
  );
}
