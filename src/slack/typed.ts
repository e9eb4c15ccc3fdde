import { note } from '../base/log.ts';
import { plainText } from '../base/text.ts';
import {
  type ChangeCommand,
  type Command,
  commandLine,
  fieldContext,
  fieldsOf,
  type HelpReader,
  helpFor,
  type Intent,
  listedSnapshots,
  nounOf,
  type ParseProblem,
  type ParseResult,
  parseLine,
  parseProblemOf,
  parseValues,
  type QueryCommand,
  type ServerLists,
  type TypedValues,
  type Vocabulary,
} from '../commands/index.ts';
import { type Answer, type AnswerPart, type CommandOffer, slashCommand } from '../domain/answer.ts';
import type { Change, UserId } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import { isTimingKey } from '../domain/timing.ts';
import { authorizeForm, authorizeForms, authorizeQuery, requestChange } from '../workflow/index.ts';
import { answerMessage, answerWithCard, sentenceMessage } from './answer.ts';
import { lines, type Message, message, withNote } from './blocks.ts';
import type { CommandLine, SlackContext } from './context.ts';
import { localVocabulary, namedKinds, readLists, vocabularyWith } from './form-lists.ts';
import { newsCards } from './links.ts';
import { rolesLine } from './naming.ts';
import { openForm } from './open-form.ts';
import { withPlaces } from './place.ts';
import { postMessage, type ReplyTarget } from './post.ts';
import { preview } from './preview.ts';
import { reasonProblem } from './reason-form.ts';
import { refusalMessage } from './refusals.ts';
import { type Line, withChannelLink } from './rich-text.ts';

/** Answers a query that the policy allows. */
async function answerQuery(
  bot: SlackContext,
  typed: CommandLine,
  command: QueryCommand,
  args: Intent['args'],
): Promise<Message> {
  const { by, replyTarget } = typed;
  const place = command.acts?.(args) ? typed.place : undefined;
  const request = { command: command.name, target: command.target(args), by, place };
  const authorized = await authorizeQuery(bot.context, request);
  if (!authorized.ok) return answerRefusal(bot, authorized.denial);
  const found = await command.answer(args, bot.context.commandContext(), {
    by,
    channel: replyTarget.channel,
  });
  const answer = await withSentFiles(bot, typed, found);
  bot.context.measures.answered(command.name, 'answered');
  await bot.permalinks.load(cardsIn(answer));
  return answerWithCard(await withUsableOffers(bot, by, answer), bot.drawing);
}

/**
 * Uploads the files of an answer, because Slack has no private files: into the thread where the user
 * asked, else into a thread of their direct messages. Returns the answer with a note for each file.
 */
async function withSentFiles(
  bot: SlackContext,
  { by, replyTarget }: CommandLine,
  answer: Answer,
): Promise<Answer> {
  const { posts } = bot.clients;
  const files = answer.parts.filter((part) => part.kind === 'file');
  if (files.length === 0) return answer;
  const thread = await threadFor(bot, replyTarget);
  const heading = message(lines([{ bold: answer.title }]));
  const { channel, ts } = thread ?? (await postMessage(posts, by, heading));
  for (const { name, text: content } of files) {
    await posts.files.uploadV2({ channel_id: channel, thread_ts: ts, filename: name, content });
  }
  const where = thread
    ? 'in this thread, visible to everyone in it'
    : 'in your direct messages with Signalbox';
  const parts = answer.parts.map((part): AnswerPart => {
    return part.kind === 'file' ? { kind: 'note', text: `${part.name} is ${where}.` } : part;
  });
  return { ...answer, parts };
}

/** Null for a channel that is shared with another workspace, or whose sharing is unknown. */
async function threadFor({ context }: SlackContext, { channel, thread }: ReplyTarget) {
  if (channel === null || thread === null) return null;
  const found = (await context.messenger.findChannels([channel])).get(channel);
  return found?.ok && !found.room.outside && found.room.joined ? { channel, ts: thread } : null;
}

async function withUsableOffers(bot: SlackContext, by: UserId, answer: Answer): Promise<Answer> {
  const parts = await Promise.all(
    answer.parts.map(async (part) =>
      part.kind === 'offers' ? { ...part, offers: await usableOffers(bot, by, part.offers) } : part,
    ),
  );
  return { ...answer, parts };
}

function cardsIn({ change, parts }: Answer): readonly Change['card'][] {
  const listed = parts.flatMap((part) => (part.kind === 'changes' ? part.changes : []));
  return [...(change ? [change.change] : []), ...listed].map(({ card }) => card);
}

/** The refusal of a command, which is counted. */
export function answerRefusal({ context, drawing }: SlackContext, denial: Denial): Message {
  context.measures.answered(denial.command ?? 'none', 'refused');
  return refusalMessage(denial, drawing);
}

/** Help works for every user. Without an identity it lists no command as usable. */
async function answerHelp(
  bot: SlackContext,
  { by }: CommandLine,
  { noun, about }: ParseResult & { readonly kind: 'help' },
): Promise<Message> {
  const { context, commands, prefix } = bot;
  const names = commands.map(({ name }) => name);
  const [authorized, frequent] = await Promise.all([
    authorizeForms(context, by, names),
    context.commandContext().changes.frequent(by),
  ]);
  const usable = authorized.ok ? authorized.commands : [];
  const reader: HelpReader = {
    who: authorized.ok
      ? rolesLine(context.policy, authorized.roles)
      : [refusalMessage(authorized.denial, bot.drawing).text],
    mayUse: ({ name }) => usable.includes(name),
    frequent,
    prefix,
  };
  const of = commands.some((command) => nounOf(command) === noun) ? noun : null;
  return answerMessage(helpFor({ noun: of, about }, commands, reader));
}

/** The private answer to a command; null when a modal was opened instead. */
export async function answerTyped(bot: SlackContext, typed: CommandLine): Promise<Message | null> {
  return answerRead(bot, typed, await read(bot, typed));
}

async function answerRead(
  bot: SlackContext,
  typed: CommandLine,
  understood: Awaited<ReturnType<typeof read>>,
): Promise<Message | null> {
  switch (understood.kind) {
    case 'refused':
      return answerRefusal(bot, understood.denial);
    case 'help':
      return answerHelp(bot, typed, understood);
    case 'misread':
      bot.context.measures.answered(understood.asked?.command.name ?? 'none', 'misread');
      return misread(bot, typed, understood);
    case 'incomplete':
      return openForm(bot, typed, understood.command, understood.given, {
        line: understood.unclear === undefined ? null : [understood.unclear],
      });
    case 'intent':
      return asksNothing(understood)
        ? openForm(bot, typed, understood.command, {
            ...understood.given,
            reason: understood.reason ?? '',
          })
        : answerIntent(bot, typed, understood);
  }
}

/** Runs the command line of a button as the user who pressed it. */
export function answerLine(
  bot: SlackContext,
  typed: CommandLine,
  line: string,
): Promise<Message | null> {
  return answerTyped(bot, { ...typed, ...lineOf(line) });
}

/** Requests a command with these values as the user who pressed a button. */
export async function answerValues(
  bot: SlackContext,
  typed: CommandLine,
  command: Command,
  given: TypedValues,
  reason: string,
): Promise<Message | null> {
  const personal = await personalWords(bot, typed.by, '');
  const known = await vocabularyWith(bot, namedKinds(command));
  const read = parseValues(command, given, reason, { ...known, ...personal });
  return answerRead(bot, typed, read);
}

function lineOf(line: string): Pick<CommandLine, 'noun' | 'text'> {
  const end = `${line} `.indexOf(' ');
  return { noun: line.slice(0, end), text: line.slice(end + 1) };
}

/** Wrong values of a change, without similar ones to offer, are corrected in its form. */
async function misread(
  bot: SlackContext,
  typed: CommandLine,
  read: ParseProblem,
): Promise<Message | null> {
  const { sentence, offers, asked, problems } = read;
  const isWrong = Object.keys(problems).some((field) => field !== '' && field !== 'reason');
  if (asked?.command.kind === 'change' && isWrong && offers.length === 0) {
    return correctInForm(bot, typed, read);
  }
  const answer = placed(bot, typed, sentenceMessage([sentence], offers));
  return withNote(answer, ...typedLine(typed, bot.prefix));
}

async function correctInForm(
  bot: SlackContext,
  typed: CommandLine,
  { asked, sentence, problems }: ParseProblem,
): Promise<Message | null> {
  if (!asked) return sentenceMessage([sentence]);
  // The sentence above the fields says what is wrong with a typed value; below its field stands what it accepts.
  const wrong = Object.keys(problems).filter((name) => asked.given[name]);
  const below = Object.fromEntries(wrong.map((name) => [name, 'Correct this value.']));
  const correction = { line: [sentence], problems: { ...problems, ...below } };
  return openForm(bot, typed, asked.command, asked.given, correction);
}

const CHANNEL = /<#([CG][A-Z0-9]{6,})(?:\|[^>]*)?>/;

/** The command as it was typed, so that it can be copied and corrected. */
function typedLine({ noun, text }: CommandLine, prefix: string): Line {
  const typed = slashCommand(prefix, `${noun} ${plainText(text)}`);
  const [, id] = CHANNEL.exec(typed) ?? [];
  return id ? withChannelLink(typed.replace(CHANNEL, '$1'), id) : [typed];
}

/** `service scale staging` names its target and no value to change, so its form opens. */
function asksNothing({ command, given }: Intent): boolean {
  if (command.kind === 'query') return command.needsForm?.(given) ?? false;
  const asking = fieldsOf(command.args).filter(
    ({ name, word, rest }) => (word ?? rest) && !(command.timed && isTimingKey(name)),
  );
  return asking.length > 0 && asking.every(({ name }) => !given[name]);
}

/** Reads a line; the names that only an API or the database knows are read if the line needs them. */
async function read(bot: SlackContext, { noun, text, by }: CommandLine) {
  const personal = await personalWords(bot, by, text);
  const local = { ...localVocabulary(bot), ...personal };
  const first = parseLine(noun, text, local);
  if (first.kind === 'help') return first;
  const meant = first.kind === 'misread' ? first.asked?.command : first.command;
  const typedValues = first.kind === 'misread' ? first.named : first.kind === 'intent' && first;
  const kinds = typedValues ? listsToRead(typedValues, first.kind === 'misread') : [];
  const about = meant ? nounOf(meant) : noun;
  const own = bot.commands.filter((each) => nounOf(each) === about);
  const related = own.length > 0 ? own : bot.commands;
  // A line without a verb can name an alert: `/alert 5xx rate`.
  const hasWords = text.trim().split(/\s+/).length > 1;
  const asked = hasWords ? related.flatMap(namedKinds) : [];
  const readsNone = !asked.includes('alert') && !asked.includes('freeze') && kinds.length === 0;
  if (first.kind === 'intent' && readsNone) return first;
  // Before names are read or suggested. What runs a complete line authorizes it.
  const commands = (meant ? [meant] : related).map(({ name }) => name);
  const authorized = await authorizeForm(bot.context, { commands, by, record: true });
  if (!authorized.ok) return { kind: 'refused', denial: authorized.denial } as const;
  if (readsNone) return usable(bot, by, first, local);
  const lists = typedValues ? await readLists(bot, kinds, { ...typedValues, by }) : {};
  const vocabulary = { ...(await vocabularyWith(bot, asked)), ...personal, lists };
  return usable(bot, by, parseLine(noun, text, vocabulary), vocabulary);
}

/** Without the offers that this person may not use, and those that are certain to fail. */
async function usable(
  bot: SlackContext,
  by: UserId,
  result: ParseResult,
  vocabulary: Vocabulary,
): Promise<ParseResult> {
  if (result.kind !== 'misread') return result;
  const allowed = await usableOffers(bot, by, result.offers);
  const offers = await effectiveOffers(bot, allowed, vocabulary);
  const others = allowed.filter((offer) => !offers.includes(offer)).map(({ label }) => label);
  const without = `\nNo button for ${others.join(', ')}: the change would have no effect there, or the server would reject it.`;
  return { ...result, offers, sentence: `${result.sentence}${others.length > 0 ? without : ''}` };
}

/** Of the same change of several services, those that have an effect: one read shows all their states. */
async function effectiveOffers(
  { context }: SlackContext,
  offers: readonly CommandOffer[],
  vocabulary: Vocabulary,
): Promise<readonly CommandOffer[]> {
  const read = offers.map(({ line }) => {
    const { noun, text } = lineOf(line);
    return parseLine(noun, text, { ...vocabulary, isCheck: true });
  });
  const targets = read.map((each) => (each.kind === 'intent' ? serviceOf(each) : null));
  if (new Set(targets.filter((target) => target !== null)).size < 2) return offers;
  const snapshots = await listedSnapshots(context.commandContext());
  return offers.filter((_, index) => {
    const [intent, id] = [read[index], targets[index]];
    const isChange = intent?.kind === 'intent' && intent.command.kind === 'change';
    const before = snapshots.get(id ?? '') ?? null;
    if (!isChange || before === null || intent.timing.at || intent.timing.inMs) return true;
    return (intent.command.noEffect?.(intent.args, before) ?? null) === null;
  });
}

function serviceOf({ args }: Intent): string | null {
  const { service } = args;
  return typeof service === 'object' && service !== null && 'id' in service
    ? String(service.id)
    : null;
}

async function usableOffers(
  { context, commands }: SlackContext,
  by: UserId,
  offers: readonly CommandOffer[],
): Promise<readonly CommandOffer[]> {
  if (offers.length === 0) return offers;
  const names = commands.map(({ name }) => name);
  const allowed = await authorizeForms(context, by, names);
  if (!allowed.ok) return [];
  // The longest name: `service schedule list` is not `service schedule`.
  const nameOf = (line: string) =>
    names
      .filter((name) => `${line} `.startsWith(`${name} `))
      .sort((a, b) => b.length - a.length)[0];
  return offers.filter(({ line }) => {
    const name = nameOf(line);
    return name === undefined || allowed.commands.includes(name);
  });
}

/** What the reading of a line needs of the person and the installation: times are those of their zone. */
export async function personalWords({ context }: SlackContext, by: UserId, text: string) {
  const zone = await context.people.zoneOf(by);
  const clock = zone === null ? null : { now: context.now(), zone };
  const asksSchedules = /\b(pause|resume)\b/i.test(text);
  const schedules = asksSchedules ? await context.commandContext().schedules.all() : [];
  const scheduled = schedules.map(({ service }) => service.id);
  return { clock, scheduled, isPriced: context.prices !== null };
}

/** The lists in which the typed names may be. The backups of a service have no names to type. */
function listsToRead(
  { command, given }: Pick<Intent, 'command' | 'given'>,
  isUnknownName: boolean,
): readonly (keyof ServerLists)[] {
  const fields = fieldsOf(command.args).filter(({ name }) => given[name]);
  const listed = fields.flatMap(({ lists }) => (lists && lists !== 'backup' ? [lists] : []));
  const namesPipe = isUnknownName && fields.some(({ names }) => names === 'pipe');
  return namesPipe ? [...listed, 'pipe'] : listed;
}

export async function answerIntent(
  bot: SlackContext,
  typed: CommandLine,
  intent: Intent,
): Promise<Message | null> {
  const { command } = intent;
  const { answered } = bot.context.measures;
  const answering =
    command.kind === 'query'
      ? answerQuery(bot, typed, command, intent.args)
      : answerRequest(bot, typed, command, intent);
  const answer = await answering.catch((error: unknown) => {
    answered(command.name, 'failed');
    throw error;
  });
  // Slack does not show a slash command in the channel, so the answer repeats it.
  return answer && withNote(placed(bot, typed, answer), ...repeatedLine(intent, bot.prefix));
}

/** With a MAC in the buttons of lines that act at once. */
function placed(bot: SlackContext, { by }: CommandLine, answer: Message): Message {
  // A list has some lines for each of its rows, and to read one takes long.
  const acting = bot.commands.filter((each) => each.kind === 'query' && each.acts).map(nounOf);
  const acts = (action: string, line: string) => {
    const { noun, text } = lineOf(line);
    if (!action.startsWith('command.') || !acting.includes(noun)) return false;
    const read = parseLine(noun, text, localVocabulary(bot));
    const isQuery = read.kind === 'intent' && read.command.kind === 'query';
    return isQuery && read.command.acts?.(read.args) === true;
  };
  const to = { user: by, kind: 'private' } as const;
  return { ...answer, blocks: withPlaces(bot.places, answer.blocks, to, acts) };
}

/** The command as it was understood; a channel is shown by its name. */
function repeatedLine(intent: Intent, prefix: string): Line {
  const { command, given, reason } = intent;
  const field = fieldsOf(command.args).find(({ input }) => input?.kind === 'channel');
  const [, id] =
    /^(?:<#)?([CG][A-Z0-9]{6,})(?:\|[^>]*)?>?$/.exec(given[field?.name ?? ''] ?? '') ?? [];
  const shown = { ...namesIn(intent, given), ...(field && id && { [field.name]: id }) };
  const line = slashCommand(prefix, commandLine(command, shown, reason ?? ''));
  return id ? withChannelLink(line, id) : [line];
}

function namesIn({ command, args }: Intent, given: Intent['given']) {
  const named = fieldsOf(command.args).flatMap(({ name, names }) => {
    const thing = args[name];
    const isNamed = names && typeof thing === 'object' && thing !== null && 'name' in thing;
    return isNamed ? [[name, String(thing.name)] as const] : [];
  });
  return { ...given, ...Object.fromEntries(named) };
}

async function answerRequest(
  bot: SlackContext,
  typed: CommandLine,
  command: ChangeCommand,
  intent: Intent,
): Promise<Message | null> {
  const { context, drawing } = bot;
  const { args, given, reason, timing } = intent;
  const requested = await requestChange(context, {
    ...{ command, args, given, timing, reason },
    edits: typed.replyTarget.edits ?? null,
    requester: typed.by,
    key: `request:${typed.trigger}`,
  });
  if (requested.ok) {
    context.measures.answered(command.name, 'drafted');
    note({ 'signalbox.change': requested.draft.id });
    await bot.permalinks.load(newsCards(requested.draft));
    return preview(requested.draft, drawing);
  }
  if ('denial' in requested) {
    // The form keeps the other values, so that only the reason has to be added.
    if (requested.denial.refusal !== 'reason-required') return answerRefusal(bot, requested.denial);
    const problem = reasonProblem(bot, intent)?.problem ?? '';
    const correction = { problems: { reason: problem } };
    return openForm(bot, typed, command, { ...given, reason: reason ?? '' }, correction);
  }
  if ('noEffect' in requested) {
    const { sentence, offers } = requested.noEffect;
    context.measures.answered(command.name, 'answered');
    return sentenceMessage([sentence], offers);
  }
  const asked = { command, given, reason: reason ?? '' };
  context.measures.answered(command.name, 'misread');
  const among = fieldContext(context.commandContext(), given);
  const read = parseProblemOf(asked, requested.problems, among);
  if (read.offers.length > 0) return sentenceMessage([read.sentence], read.offers);
  return correctInForm(bot, typed, read);
}
