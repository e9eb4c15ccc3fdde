import type { SlashCommand } from '../../protocol.ts';

export const isCommand = (text: string): boolean => /^\/\S/.test(text);

/** The commands that begin with the text, while only the first word is typed. */
export function completions(
  text: string,
  commands: readonly SlashCommand[],
): readonly SlashCommand[] {
  if (!/^\/\S*$/.test(text)) return [];
  return commands.filter(({ command }) => command.startsWith(text.toLowerCase()));
}

/** The command whose arguments are typed. */
export function commandOf(
  text: string,
  commands: readonly SlashCommand[],
): SlashCommand | undefined {
  const [first] = text.split(/\s/, 1);
  return commands.find(({ command }) => command === first);
}
