import type { Answer, AnswerPart } from './answers/answer.ts';
import { slashCommand } from './answers/texts.ts';
import { type Field, fieldsOf, isPlaced } from './arguments/arguments.ts';
import { type Command, nounOf, verbOf } from './define.ts';

/** The hint that Slack shows while a user types the slash command. */
export function usageHint(commands: readonly Command[], noun: string): string {
  const verbs = commands.filter((command) => nounOf(command) === noun).map(verbOf);
  return `${verbs.join(' | ')} | help`;
}

/** `/service stop <service> [reason]` */
export function usage(command: Command, prefix = ''): string {
  const fields = fieldsOf(command.args).map((field) => {
    const text = isPlaced(field) ? `<${field.label.toLowerCase()}>` : wordOf(field);
    return field.optional ? `[${text}]` : text;
  });
  const reason = command.kind === 'change' ? ['[reason]'] : [];
  return slashCommand(prefix, [command.name, ...fields, ...reason].join(' '));
}

function wordOf({ name, word, rest }: Field): string {
  return rest ? name : `${word}=`;
}

/** Returns the help: first the commands that the reader may use, then the others. */
export function helpFor(
  noun: string | null,
  commands: readonly Command[],
  mayUse: (command: Command) => boolean,
  prefix = '',
): Answer {
  const own = commands.filter((command) => noun === null || nounOf(command) === noun);
  const usable = own.filter(mayUse);
  const others = own.filter((command) => !mayUse(command));
  return {
    title: noun === null ? 'Commands of Signalbox' : slashCommand(prefix, noun),
    parts: [
      ...lines('You can use', usable, prefix),
      ...lines('You do not have the role for', others, prefix),
    ],
  };
}

function lines(title: string, commands: readonly Command[], prefix: string): readonly AnswerPart[] {
  if (commands.length === 0) return [];
  const rows = commands.map((command) => [usage(command, prefix), command.summary] as const);
  return [{ kind: 'table', columns: [title, 'What it does'], rows }];
}
