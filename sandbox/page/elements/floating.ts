import { type RefObject, useLayoutEffect, useRef } from 'react';

const GAP = 4;

/** Places a box below its anchor, or above it when there is too little space below. */
function place(anchor: HTMLElement, box: HTMLElement, align: 'start' | 'end') {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const below = at.bottom + GAP + height <= innerHeight || at.top < innerHeight - at.bottom;
  const left = align === 'end' ? at.right - width : at.left;
  box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  box.style.top = `${below ? at.bottom + GAP : Math.max(8, at.top - GAP - height)}px`;
  box.style.minWidth = `${at.width}px`;
}

/**
 * Shows a box in the browser's top layer, where no scrolling parent clips it. In the DOM the box
 * stays inside its dialog, because everything outside of an open dialog is inert.
 */
export function useFloating<A extends HTMLElement>(
  anchor: RefObject<A | null>,
  align: 'start' | 'end' = 'start',
): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = box.current;
    const beside = anchor.current;
    if (shown === null || beside === null) return;
    const put = () => place(beside, shown, align);
    shown.showPopover();
    put();
    const watch = new ResizeObserver(put);
    watch.observe(shown);
    addEventListener('scroll', put, true);
    addEventListener('resize', put);
    return () => {
      watch.disconnect();
      removeEventListener('scroll', put, true);
      removeEventListener('resize', put);
    };
  }, [anchor, align]);
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
