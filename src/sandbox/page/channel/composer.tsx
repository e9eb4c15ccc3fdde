import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import type { SlashCommand } from '../../protocol.ts';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { commandOf, completions } from './commands.ts';
import { Completion } from './completion.tsx';
import { useSending, type Where } from './sending.ts';
import { ShortcutsMenu } from './shortcuts-menu.tsx';

export function Composer(where: Where) {
  const { channel, threadTs } = where;
  const { screen } = useSession();
  const { text, setText, sending, send } = useSending(where);
  const [active, setActive] = useState(0);
  const [dropped, setDropped] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const listId = useId();

  const offered = dropped || threadTs !== null ? [] : completions(text, screen.commands);
  const chosen = offered[Math.min(active, offered.length - 1)];
  const typing = commandOf(text, screen.commands);
  const to = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  const label = threadTs === null ? `Message ${to}` : 'Reply…';

  useLayoutEffect(() => {
    if (box.current === null) return;
    box.current.style.height = 'auto';
    box.current.style.height = `${text === '' ? 22 : box.current.scrollHeight}px`;
  }, [text]);

  function type(next: string) {
    setText(next);
    setActive(0);
    setDropped(false);
  }

  function complete({ command }: SlashCommand) {
    type(`${command} `);
    box.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (chosen !== undefined && step !== undefined)
      setActive((active + step + offered.length) % offered.length);
    else if (chosen !== undefined && event.key === 'Tab') complete(chosen);
    else if (offered.length > 0 && event.key === 'Escape') setDropped(true);
    else if (event.key !== 'Enter' || event.shiftKey) return;
    // A whole command is ready to go; half of one is completed first.
    else if (chosen !== undefined && chosen.command !== text) complete(chosen);
    else void send();
    event.preventDefault();
  }

  return (
    <div className="composer-around">
      {chosen !== undefined && (
        <Completion
          id={listId}
          app={screen.botName}
          commands={offered}
          active={offered.indexOf(chosen)}
          onPoint={setActive}
          onChoose={complete}
        />
      )}
      {chosen === undefined && typing !== undefined && (
        <p className="usage-line">
          <b>{typing.command}</b> <span className="usage">{typing.usageHint}</span>
        </p>
      )}
      <div className="composer" aria-busy={sending}>
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label={label}
          placeholder={label}
          aria-autocomplete="list"
          aria-controls={listId}
          {...(chosen && { 'aria-activedescendant': `${listId}-${offered.indexOf(chosen)}` })}
          onChange={(event) => type(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-foot">
          <ShortcutsMenu where={where} />
          <button
            type="button"
            className="send"
            aria-label="Send now"
            disabled={text.trim() === '' || sending}
            onClick={() => void send()}
          >
            <Icon name="send" size={16} />
          </button>
        </div>
      </div>
    </div>
  );
}
