import { type ReactNode, useEffect, useRef } from 'react';

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

  // The whole document listens, for the focused element may be one that the bot just took away.
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      const onTop = [...document.querySelectorAll('dialog[open]')].at(-1);
      if (onTop === dialog.current) onEscape();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [onEscape]);

  return (
    <dialog
      ref={dialog}
      className={className}
      aria-labelledby={labelledBy}
      closedby="none"
      onCancel={(event) => event.preventDefault()}
    >
      {children}
    </dialog>
  );
}
