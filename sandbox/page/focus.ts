import { type KeyboardEvent, useLayoutEffect, useState } from 'react';
import { hasKeyboard } from './device.ts';

const COMPOSER = '.pane .composer textarea';

const isModalOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** True when typing should go to a composer that appears. */
export const canTakeFocus = (): boolean => hasKeyboard() && !isModalOpen();

export function focusComposer(): void {
  if (canTakeFocus()) document.querySelector<HTMLElement>(COMPOSER)?.focus();
}

/**
 * Returns the focus to the element that had it before this component appeared. Where that element
 * is gone, for example because a message was redrawn, the composer gets the focus.
 */
export function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useLayoutEffect(
    () => () => {
      // After the removal: until then the focus is inside.
      queueMicrotask(() => {
        if (document.activeElement !== document.body) return;
        if (before instanceof HTMLElement && before !== document.body && before.isConnected) {
          before.focus();
        } else focusComposer();
      });
    },
    [before],
  );
}

/** Calls `close` when Escape is pressed inside, unless a menu or list inside used the key. */
export const onEscape = (close: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Escape' || event.defaultPrevented) return;
  event.preventDefault();
  close();
};
