import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';

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

/** A button that opens a list of actions. The browser closes it when a person presses elsewhere, and moves the focus back. */
export function Menu({ label, isNamedByText, className, children, items, align = 'end' }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const close = () => box.current?.hidePopover();

  useEffect(() => {
    if (!isOpen) return;
    const current = box.current?.querySelector<HTMLElement>('[aria-checked="true"]');
    (current ?? box.current?.querySelector('button'))?.focus();
  }, [isOpen]);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Tab') return close();
    if (step === undefined && event.key !== 'Escape') return;
    event.preventDefault();
    if (step === undefined) return close();
    const all = [...(box.current?.querySelectorAll('button') ?? [])];
    const at = all.findIndex((one) => one.matches(':focus'));
    all.at((at + step) % all.length)?.focus();
  }

  /** The focus returns before the action, which may move it elsewhere. */
  function act(item: MenuItem) {
    close();
    item.act();
  }

  return (
    <>
      <button
        type="button"
        className={className}
        {...(isNamedByText ? {} : { 'aria-label': label })}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        {children}
      </button>
      <div
        ref={box}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className={`floating menu ${align}`}
        onToggle={({ newState }) => setOpen(newState === 'open')}
        onKeyDown={onKeyDown}
      >
        {isOpen &&
          items.map((item) => (
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
    </>
  );
}
