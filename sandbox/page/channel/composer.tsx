import { type KeyboardEvent, useEffect, useRef } from 'react';
import type { SlashCommand } from '../../protocol.ts';
import { canTakeFocus } from '../focus.ts';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { commandOf } from './commands.ts';
import { useCompletion } from './completion.ts';
import { CompletionList } from './completion-list.tsx';
import { type ComposerPlace, useSending } from './sending.ts';
import { ShortcutMenu } from './shortcut-menu.tsx';

const NO_COMMANDS: readonly SlashCommand[] = [];

export function Composer(place: ComposerPlace) {
  const { channel, threadTs } = place;
  const { client } = useSession();
  const { text, setText, isSending, send } = useSending(place);
  const box = useRef<HTMLTextAreaElement>(null);
  // Slack does not support slash commands in threads.
  const commands = threadTs === null ? client.commands : NO_COMMANDS;
  const completion = useCompletion({ text, commands, setText });
  const { listId, active, selected } = completion;
  const command = commandOf(text, commands);
  const to = channel.kind === 'dm' ? channel.name : `#${channel.name}`;
  const label = threadTs === null ? `Message ${to}` : 'Reply…';

  useEffect(() => {
    if (canTakeFocus()) box.current?.focus();
  }, []);

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const isHandled = completion.handleKey(event);
    if (!isHandled && (event.key !== 'Enter' || event.shiftKey)) return;
    event.preventDefault();
    if (!isHandled) void send();
  }

  return (
    <div className="composer-around">
      {selected !== undefined && <CompletionList app={client.botName} completion={completion} />}
      {selected === undefined && command !== undefined && (
        <p className="usage-line">
          <b>{command.command}</b> <span className="usage">{command.usageHint}</span>
        </p>
      )}
      <div className="composer" aria-busy={isSending}>
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label={label}
          placeholder={label}
          aria-autocomplete="list"
          {...(selected && {
            'aria-controls': listId,
            'aria-activedescendant': `${listId}-${active}`,
          })}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-foot">
          <ShortcutMenu kind="global" place={{ channel: channel.id, threadTs }} />
          <button
            type="button"
            className="send"
            aria-label="Send now"
            disabled={text.trim() === '' || isSending}
            onClick={() => void send()}
          >
            <Icon name="send" size={16} />
          </button>
        </div>
      </div>
    </div>
  );
}
