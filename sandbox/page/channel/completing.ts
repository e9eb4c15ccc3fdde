import { type KeyboardEvent, useId, useState } from 'react';
import type { SlashCommand } from '../../protocol.ts';
import { completions } from './commands.ts';

interface Typing {
  readonly text: string;
  readonly commands: readonly SlashCommand[];
  readonly setText: (text: string) => void;
}

/** The commands offered for what is typed, and the keys that choose among them. */
export function useCompleting({ text, commands, setText }: Typing) {
  const [pointed, setPointed] = useState(0);
  const [dropped, setDropped] = useState<string | null>(null);
  const listId = useId();
  const offered = dropped === text ? [] : completions(text, commands);
  const at = Math.min(pointed, offered.length - 1);
  const chosen = offered[at];

  function complete({ command }: SlashCommand) {
    setText(`${command} `);
    setPointed(0);
  }

  /** True when the key was about the completion; then it does nothing else. */
  function take({ key, shiftKey }: KeyboardEvent): boolean {
    if (chosen === undefined) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    // A whole command is ready to go; half of one is completed first.
    const completes = key === 'Tab' || (key === 'Enter' && !shiftKey && chosen.command !== text);
    if (step !== undefined) setPointed((at + step + offered.length) % offered.length);
    else if (completes) complete(chosen);
    else if (key === 'Escape') setDropped(text);
    else return false;
    return true;
  }

  return { listId, offered, at, chosen, point: setPointed, complete, take };
}
