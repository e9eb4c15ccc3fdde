import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Shows a box in the browser's top layer beside its anchor, where no scrolling parent clips it. In the DOM the box stays
 * inside its dialog, because everything outside of an open dialog is inert. floating.css places it.
 */
export function useFloating(anchor: RefObject<HTMLElement | null>) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (anchor.current) box.current?.showPopover({ source: anchor.current });
  }, [anchor]);
  return box;
}

/** Calls `onAway` when a person presses outside of the element. */
export function useAway(inside: RefObject<HTMLElement | null>, onAway: () => void): void {
  useLayoutEffect(() => {
    const pressed = (event: PointerEvent) => {
      if (event.target instanceof Node && inside.current?.contains(event.target)) return;
      onAway();
    };
    document.addEventListener('pointerdown', pressed);
    return () => document.removeEventListener('pointerdown', pressed);
  }, [inside, onAway]);
}
