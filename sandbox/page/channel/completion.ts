import { type KeyboardEvent, useId, useState } from 'react';
import type { SlashCommand } from '../../protocol.ts';
import { completions } from './commands.ts';

interface CompletionInput {
  readonly text: string;
  readonly commands: readonly SlashCommand[];
  readonly setText: (text: string) => void;
}

/** The commands that complete the text, and the keys that select one of them. */
export function useCompletion({ text, commands, setText }: CompletionInput) {
  const [pointed, setPointed] = useState(0);
  const [dismissedText, setDismissedText] = useState<string | null>(null);
  const listId = useId();
  const offered = dismissedText === text ? [] : completions(text, commands);
  const active = Math.min(pointed, offered.length - 1);
  const selected = offered[active];

  function complete({ command }: SlashCommand) {
    setText(`${command} `);
    setPointed(0);
  }

  /** Returns true when the key was for the completion and must have no other effect. */
  function handleKey({ key, shiftKey }: KeyboardEvent): boolean {
    if (selected === undefined) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    // Enter sends a complete command and completes an incomplete one.
    const completes = key === 'Tab' || (key === 'Enter' && !shiftKey && selected.command !== text);
    if (step !== undefined) setPointed((active + step + offered.length) % offered.length);
    else if (completes) complete(selected);
    else if (key === 'Escape') setDismissedText(text);
    else return false;
    return true;
  }

  return { listId, offered, active, selected, point: setPointed, complete, handleKey };
}
