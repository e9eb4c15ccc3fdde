import {
  type Answer,
  type AnswerPart,
  type CommandOffer,
  oneLineOf,
  slashCommand,
} from '../domain/answer.ts';
import { fieldsOf, isPlaced } from './arguments.ts';
import { type Command, nounOf, titleOf, verbOf } from './define.ts';
import { linesAnswer, type TextLine } from './reported.ts';

/** The line that shows every command with its syntax. */
const ALL = 'all';

/** A noun, or null for all; `about` is a verb of it, or `all` for every command with its syntax. */
interface HelpTopic {
  readonly noun: string | null;
  readonly about: string | null;
}

export interface HelpReader {
  /** The roles of the reader, as a sentence. */
  readonly who: TextLine;
  readonly mayUse: (command: Command) => boolean;
  /** The names of the commands that the reader uses most, in order. */
  readonly frequent: readonly string[];
  readonly prefix: string;
}

/** Returns the help: examples first, at most 12 lines, and buttons. Every command has one more answer. */
export function helpFor(
  { noun, about }: HelpTopic,
  commands: readonly Command[],
  reader: HelpReader,
): Answer {
  const own = commands.filter((command) => noun === null || nounOf(command) === noun);
  if (about === ALL) return everything(own, reader);
  if (!commands.some(reader.mayUse)) return helpWithoutCommands(reader);
  if (noun === null && commands.some((each) => nounOf(each) === about)) {
    return helpFor({ noun: about, about: null }, commands, reader);
  }
  const asked = own.find((each) => about !== null && [each.name, verbOf(each)].includes(about));
  if (asked) return helpOf(asked, reader);
  if (about !== null) return noHelp(about, reader);
  return noun === null ? overview(own, reader) : helpOfNoun(noun, own, reader);
}

function noHelp(about: string, { prefix }: HelpReader): Answer {
  const help = slashCommand(prefix, 'signalbox help');
  const offers = [{ label: 'Help', line: 'signalbox help' }, SHOW_ALL];
  const title = `No help for “${oneLineOf(about, 40)}”`;
  return linesAnswer(title, [[`${help} shows the commands.`]], offers);
}

/** For a user whom no rule allows a command: how to get one, and no command that would be refused. */
function helpWithoutCommands({ who }: HelpReader): Answer {
  const lines = [who, ['No rule of the policy allows you a command.']];
  return { title: 'Commands of Signalbox', parts: [{ kind: 'lines', lines }] };
}

function overview(commands: readonly Command[], reader: HelpReader): Answer {
  const usable = commands.filter(reader.mayUse);
  const names = [...new Set(usable.map(nounOf))];
  const rows = names.map((noun) => nounLine(noun, usable, reader));
  const last = [`More examples: ${slashCommand(reader.prefix, 'service help')}`];
  return answer('Commands of Signalbox', commands, { rows, names, last, reader });
}

/** `service  /service stop staging · also list, show, start`; a change says more than a list. */
function nounLine(noun: string, usable: readonly Command[], { prefix }: HelpReader): TextLine {
  const own = usable.filter((each) => nounOf(each) === noun);
  const shown = own.find(({ kind }) => kind === 'change') ?? own[0];
  const others = own.filter((each) => each !== shown).map(verbOf);
  const verbs = others.filter((verb) => verb !== '').join(', ');
  const example = slashCommand(prefix, shown?.examples[0] ?? noun);
  return [{ bold: noun }, `  ${example}${verbs === '' ? '' : ` · also ${verbs}`}`];
}

function helpOfNoun(noun: string, own: readonly Command[], reader: HelpReader): Answer {
  const { prefix, mayUse } = reader;
  const usable = own.filter(mayUse);
  const rows = usable.map((command): TextLine => {
    const example = slashCommand(prefix, command.examples[0] ?? command.name);
    return [{ bold: example }, `  ${command.summary}`];
  });
  const others = own.filter((command) => !mayUse(command)).map(({ name }) => name);
  const who = slashCommand(prefix, `change who ${others[0]}`);
  const last =
    others.length > 0 ? [`Not for your roles: ${others.join(', ')}. ${who} shows who may.`] : [];
  const names = usable.map(({ name }) => name);
  return answer(slashCommand(prefix, noun), own, { rows, names, last, reader });
}

function helpOf(command: Command, { prefix, mayUse }: HelpReader): Answer {
  const may = mayUse(command);
  const lines: readonly TextLine[] = [
    [command.summary],
    ...command.examples.map((example): TextLine => [{ bold: slashCommand(prefix, example) }]),
    [`Syntax: ${usage(command, prefix)}`],
    [may ? 'A rule of the policy allows it to you.' : 'No rule allows it to your roles.'],
  ];
  const who = { label: 'Who may use it', line: `change who ${command.name}` };
  const offers = [...(may ? [offerOf(command)] : []), who, SHOW_ALL];
  return linesAnswer(slashCommand(prefix, command.name), lines, offers);
}

interface HelpLines {
  readonly rows: readonly TextLine[];
  /** What each row is about, for the rows that do not fit. */
  readonly names: readonly string[];
  readonly last: readonly string[];
  readonly reader: HelpReader;
}

const LINES_MAX = 12;

/** Keeps the limit of lines, the title included, however many commands there are. */
function answer(
  title: string,
  commands: readonly Command[],
  { rows, names, last, reader }: HelpLines,
): Answer {
  const after = last.map((text): TextLine => [text]);
  const room = LINES_MAX - 2 - after.length;
  const others = names.slice(room - 1).join(', ');
  const shown = rows.length > room ? [...rows.slice(0, room - 1), [`More: ${others}.`]] : rows;
  return linesAnswer(title, [reader.who, ...shown, ...after], offersFor(commands, reader));
}

const BUTTONS_MAX = 4;
const SHOW_ALL: CommandOffer = { label: 'Show all commands', line: `signalbox help ${ALL}` };
/** Offered to a reader who has requested little so far. */
const COMMON = ['service list', 'change list', 'cost', 'service show', 'alert list'];

function offersFor(commands: readonly Command[], { frequent, mayUse }: HelpReader) {
  const usable = commands.filter(mayUse);
  const names = [...frequent, ...COMMON, ...usable.map(({ name }) => name)];
  const offered = [...new Set(names)].flatMap((name) => usable.filter((one) => one.name === name));
  return [...offered.slice(0, BUTTONS_MAX).map(offerOf), SHOW_ALL];
}

function offerOf(command: Command): CommandOffer {
  return { label: titleOf(command), line: command.name };
}

/** Every command with an example and its syntax: first those that the reader may use. */
function everything(commands: readonly Command[], { mayUse, prefix }: HelpReader): Answer {
  const others = commands.filter((command) => !mayUse(command));
  return {
    title: 'All commands of Signalbox',
    parts: [
      ...table('You can use', commands.filter(mayUse), prefix),
      ...table('Your roles do not allow', others, prefix),
    ],
  };
}

function table(
  caption: string,
  commands: readonly Command[],
  prefix: string,
): readonly AnswerPart[] {
  if (commands.length === 0) return [];
  const rows = commands.map((command) => {
    const example = slashCommand(prefix, command.examples[0] ?? command.name);
    return [example, command.summary, usage(command, prefix)] as const;
  });
  return [{ kind: 'table', caption, columns: [caption, 'What it does', 'Syntax'], rows }];
}

/** `/service stop <service> [reason]` */
function usage(command: Command, prefix: string): string {
  const fields = fieldsOf(command.args).map((field) => {
    const key = field.rest ? field.name : `${field.word}=`;
    const text = isPlaced(field) ? `<${field.label.toLowerCase()}>` : key;
    return field.optional ? `[${text}]` : text;
  });
  const reason = command.kind === 'change' ? ['[reason]'] : [];
  return slashCommand(prefix, [command.name, ...fields, ...reason].join(' '));
}

/** The hint that Slack shows while a user types the slash command. */
export function usageHint(commands: readonly Command[], noun: string): string {
  const own = commands.filter((command) => nounOf(command) === noun);
  // Of `schedule`, `schedule list` and `schedule pause` the hint has one.
  const verbs = new Set(own.map((command) => verbOf(command).split(' ')[0]));
  return `${[...verbs].join(' | ')} | help`;
}
