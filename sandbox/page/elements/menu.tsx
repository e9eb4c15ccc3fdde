import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useAway, useFloating } from './floating.ts';

export interface MenuItem {
  readonly id: string;
  readonly label: ReactNode;
  readonly note?: string;
  /** Given in a menu that selects one of its items. */
  readonly isCurrent?: boolean;
  readonly act: () => void;
}

interface Props {
  readonly label: string;
  /** True when the children name the button themselves. */
  readonly isNamedByText?: boolean;
  readonly className: string;
  readonly children: ReactNode;
  readonly items: readonly MenuItem[];
  readonly align?: 'start' | 'end';
}

/** A button that opens a list of actions. */
export function Menu({ label, isNamedByText, className, children, items, align = 'end' }: Props) {
  const [open, setOpen] = useState(false);
  const around = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = useCallback(() => setOpen(false), []);

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Tab') close();
    if (event.key !== 'Escape' || !open) return;
    event.preventDefault();
    close();
    button.current?.focus();
  }

  /** The focus returns before the action, which may move it elsewhere. */
  function act(item: MenuItem) {
    close();
    button.current?.focus();
    item.act();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu inside
    <span ref={around} className="menu-around" onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={className}
        {...(isNamedByText ? {} : { 'aria-label': label })}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && <MenuList {...{ label, items, align, close, act, anchor: button, around }} />}
    </span>
  );
}

interface ListProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly align: 'start' | 'end';
  readonly close: () => void;
  readonly act: (item: MenuItem) => void;
  readonly anchor: RefObject<HTMLButtonElement | null>;
  readonly around: RefObject<HTMLSpanElement | null>;
}

function MenuList({ label, items, align, close, act, anchor, around }: ListProps) {
  const box = useFloating(anchor);
  useAway(around, close);
  useEffect(() => {
    const current = box.current?.querySelector<HTMLElement>('[aria-checked="true"]');
    (current ?? box.current?.querySelector('button'))?.focus();
  }, [box]);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = [...(box.current?.querySelectorAll('button') ?? [])];
    const at = all.findIndex((one) => one.matches(':focus'));
    all.at((at + step) % all.length)?.focus();
  }

  return (
    <div
      ref={box}
      popover="manual"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      className={`floating menu ${align}`}
      onKeyDown={onKeyDown}
    >
      {items.map((item) => (
        <button
          key={item.id}
          type="button"
          {...(item.isCurrent === undefined
            ? { role: 'menuitem' }
            : { role: 'menuitemradio', 'aria-checked': item.isCurrent })}
          onClick={() => act(item)}
        >
          <span>{item.label}</span>
          {item.note !== undefined && item.note !== '' && (
            <small className="menu-note">{item.note}</small>
          )}
        </button>
      ))}
      {items.length === 0 && <p className="menu-empty">Nothing here</p>}
    </div>
  );
}
