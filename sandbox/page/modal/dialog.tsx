import { type ReactNode, useEffect, useRef } from 'react';
import { useFocusReturn } from '../focus.ts';

interface Props {
  readonly labelledBy: string;
  readonly className: string;
  readonly onEscape: () => void;
  readonly children: ReactNode;
}

/**
 * The browser's modal dialog, which keeps the focus inside and makes the rest of the page inert.
 * The page handles Escape instead of the browser, because only the server can close a modal.
 */
export function Dialog({ labelledBy, className, onEscape, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useFocusReturn();

  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);

  // The listener is on the document, because an update may have removed the focused element.
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
