import type { SlashCommand } from '../../protocol.ts';

/** The commands that a line may still become, while only its first word is being typed. */
export function completions(
  text: string,
  commands: readonly SlashCommand[],
): readonly SlashCommand[] {
  if (!/^\/\S*$/.test(text)) return [];
  return commands.filter(({ command }) => command.startsWith(text.toLowerCase()));
}

/** The command whose arguments are being typed. */
export function commandOf(
  text: string,
  commands: readonly SlashCommand[],
): SlashCommand | undefined {
  const [first] = text.split(/\s/, 1);
  return commands.find(({ command }) => command === first);
}

export const isCommand = (text: string): boolean => /^\/\S/.test(text);
