import { type KeyboardEvent, useLayoutEffect, useRef } from 'react';
import type { SlashCommand } from '../../protocol.ts';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { commandOf } from './commands.ts';
import { useCompleting } from './completing.ts';
import { Completion } from './completion.tsx';
import { useSending, type Where } from './sending.ts';
import { ShortcutsMenu } from './shortcuts-menu.tsx';

const NO_COMMANDS: readonly SlashCommand[] = [];
const LINE_PX = 22;

export function Composer(where: Where) {
  const { channel, threadTs } = where;
  const { screen } = useSession();
  const { text, setText, sending, send } = useSending(where);
  const box = useRef<HTMLTextAreaElement>(null);
  // Slash commands do not work in threads, so none is offered there.
  const commands = threadTs === null ? screen.commands : NO_COMMANDS;
  const completing = useCompleting({ text, commands, setText });
  const { listId, offered, at, chosen } = completing;
  const to = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  const label = threadTs === null ? `Message ${to}` : 'Reply…';

  useLayoutEffect(() => {
    if (box.current === null) return;
    box.current.style.height = 'auto';
    box.current.style.height = `${text === '' ? LINE_PX : box.current.scrollHeight}px`;
  }, [text]);

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const taken = completing.take(event);
    if (!taken && (event.key !== 'Enter' || event.shiftKey)) return;
    event.preventDefault();
    if (!taken) void send();
  }

  return (
    <div className="composer-around">
      {chosen === undefined ? (
        <UsageLine command={commandOf(text, commands)} />
      ) : (
        <Completion
          {...{ id: listId, app: screen.botName, commands: offered, active: at }}
          onPoint={completing.point}
          onChoose={completing.complete}
        />
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
          {...(chosen && { 'aria-activedescendant': `${listId}-${at}` })}
          onChange={(event) => setText(event.target.value)}
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

function UsageLine({ command }: { command: SlashCommand | undefined }) {
  if (command === undefined) return null;
  return (
    <p className="usage-line">
      <b>{command.command}</b> <span className="usage">{command.usageHint}</span>
    </p>
  );
}
