import type { z } from 'zod';
import {
  type Command,
  type CommandContext,
  type Field,
  fieldsOf,
  itemsOf,
  type ListedItem,
  type ListedKind,
  type ServerLists,
  type TypedValues,
  type Vocabulary,
} from '../commands/index.ts';
import type { UserId } from '../domain/change.ts';
import { findByName, type Service, serviceTarget } from '../domain/targets.ts';
import { authorizeForm, authorizeQuery } from '../workflow/index.ts';
import type { SlackContext } from './context.ts';
import { commandByCallbackId, settingOf } from './form.ts';
import { type Choice, choicesFor, optionOf, VALUE_MAX } from './inputs.ts';
import { givenOf, type Searched } from './payload.ts';
import { orLate, PROGRESS_AFTER_MS } from './private-answers.ts';

type Reads = CommandContext['reads'];

const IS_OFF: Readonly<Record<ListedKind, (reads: Reads) => boolean>> = {
  backup: ({ cloud }) => cloud.isOff('backups'),
  'data warehouse': ({ cloud }) => cloud.isOff('services'),
  webhook: ({ alerts }) => alerts?.isOff('webhooks') ?? true,
  dashboard: ({ alerts }) => alerts?.isOff('dashboards') ?? true,
  tile: ({ alerts }) => alerts?.isOff('dashboards') ?? true,
};

interface ListQuestion {
  readonly command: Command;
  readonly given: TypedValues;
  readonly by: UserId;
  /** What the user typed to find an item. */
  readonly typed?: string;
}

/** Reads lists; a list that is unknown is missing. No list of a service that the user may not read. */
export async function readLists(
  bot: SlackContext,
  kinds: readonly (keyof ServerLists)[],
  question: ListQuestion,
): Promise<ServerLists> {
  const lists = await Promise.all(
    kinds.map(async (kind) => [kind, await readList(bot, kind, question)] as const),
  );
  return Object.fromEntries(lists.filter(([, items]) => items !== null));
}

/** The values with those that follow from the chosen items: a warehouse and a backup have a place. */
export async function filledByChoice(
  bot: SlackContext,
  question: ListQuestion,
): Promise<TypedValues> {
  const { command, given } = question;
  const chosen = fieldsOf(command.args).flatMap(({ name, lists }) => {
    const id = given[name];
    return lists && id ? [{ lists, id }] : [];
  });
  const kinds = chosen.map(({ lists }) => lists).filter((kind) => FILLING.includes(kind));
  if (kinds.length === 0) return given;
  const lists = await readInTime(bot, kinds, question);
  const fills = chosen.map((one) => lists[one.lists]?.find(({ id }) => id === one.id)?.fills);
  return Object.assign({ ...given }, ...fills);
}

const FILLING: readonly ListedKind[] = ['backup', 'data warehouse'];

/** Lists that are late are missing. */
export async function readInTime(
  bot: SlackContext,
  kinds: readonly (keyof ServerLists)[],
  question: ListQuestion,
  withinMs = 1_000,
): Promise<ServerLists> {
  const late = bot.clock.timeout(withinMs);
  return (await orLate(late, readLists(bot, kinds, question))) ?? {};
}

/** The list that names a chosen pipe, if `signalbox.yaml` does not; its form has just read it. */
export async function listOfChosenPipe(
  bot: SlackContext,
  question: ListQuestion,
): Promise<ServerLists> {
  const { pipe } = question.given;
  const { services } = bot.context.commandContext();
  const namesPipe = fieldsOf(question.command.args).some(({ names }) => names === 'pipe');
  const isConfigured = services.some(({ pipes }) => pipes.some(({ id }) => id === pipe));
  if (!pipe || !namesPipe || isConfigured) return {};
  return readInTime(bot, ['pipe'], question);
}

const WAITING = { waiting: true };

async function readList(
  bot: SlackContext,
  kind: keyof ServerLists,
  question: ListQuestion,
): Promise<readonly ListedItem[] | null> {
  const { reads, services } = bot.context.commandContext();
  const { given } = question;
  if (kind === 'backup') return backupsOf(bot, question);
  if (kind === 'pipe') {
    const [service, ...others] = findByName(services, given.service ?? '');
    if (!service || others.length > 0 || !(await mayRead(bot, question, service))) return null;
    const read = await reads.cloud.pipes(service.id, WAITING);
    return read.known ? itemsOf({ list: kind, of: service, pipes: read.value }) : null;
  }
  if (kind === 'data warehouse') {
    const { organization: name } = given;
    const { organizations } = bot.context.commandContext();
    const own = organizations.find((each) => name !== undefined && each.name === name);
    const read = await reads.cloud.services({ ...WAITING, ...(own && { organization: own.id }) });
    return read.known ? itemsOf({ list: kind, services: read.value }) : null;
  }
  if (kind === 'webhook') {
    const read = await reads.alerts?.webhooks(WAITING);
    return read?.known ? itemsOf({ list: kind, webhooks: read.value }) : null;
  }
  const read = await reads.alerts?.dashboards(WAITING);
  return read?.known
    ? itemsOf({ list: kind, of: given.dashboardId, dashboards: read.value })
    : null;
}

const SERVICES_MAX = 3;

/** The backups of the chosen service, or of the services with the typed name. */
async function backupsOf(
  bot: SlackContext,
  question: ListQuestion,
): Promise<readonly ListedItem[] | null> {
  const { reads, services, now } = bot.context.commandContext();
  const { given, typed = '' } = question;
  const wanted = typed.trim().toLowerCase();
  // The user types a part of the name, then more words to choose one of its backups.
  const isPartOf = (name: string) =>
    wanted !== '' && (name.includes(wanted) || wanted.startsWith(`${name} `));
  const isOne = Boolean(given.service);
  const named = isOne
    ? findByName(services, given.service ?? '')
    : services.filter(({ name }) => isPartOf(name.toLowerCase()));
  const lists = await Promise.all(
    named.slice(0, isOne ? 1 : SERVICES_MAX).map(async (service) => {
      if (!(await mayRead(bot, question, service))) return null;
      const read = await reads.cloud.backups(service.id, WAITING);
      const of = isOne ? null : service.name;
      return read.known
        ? itemsOf({ list: 'backup', of, backups: read.value, service, now: now() })
        : null;
    }),
  );
  const known = lists.filter((list) => list !== null);
  return known.length > 0 ? known.flat() : null;
}

/** A change names no service of which it lists the backups, so the query for them decides. */
async function mayRead(bot: SlackContext, { command, by }: ListQuestion, service: Service) {
  const name = command.kind === 'query' ? command.name : 'backup list';
  const asked = { command: name, target: serviceTarget(service), by, record: false };
  return (await authorizeQuery(bot.context, asked)).ok;
}

/** The names that are known without a request to an API. */
export function localVocabulary({ commands, context, prefix }: SlackContext): Vocabulary {
  const { services, organizations, reads } = context.commandContext();
  // Without a list, its field is a line of text for an id.
  const kinds = Object.keys(IS_OFF) as ListedKind[];
  const offered = kinds.filter((kind) => !IS_OFF[kind](reads));
  return { commands, services, organizations, prefix, alerts: [], offered };
}

/** With the names of these kinds: of alerts, read from their API at most twice a minute, and of freezes made in Slack. */
export async function vocabularyWith(
  bot: SlackContext,
  kinds: readonly Field['names'][],
): Promise<Vocabulary> {
  const { alerts, listAlerts, freezes } = bot.context.commandContext();
  const known = localVocabulary(bot);
  const all = alerts && kinds.includes('alert') ? (await listAlerts()).alerts : [];
  const named = all.flatMap(({ id, name }) =>
    id === null ? [] : [{ id, name: name ?? id, aliases: [] }],
  );
  if (!kinds.includes('freeze')) return { ...known, alerts: named };
  return { ...known, alerts: named, freezes: await freezes.madeInSlack() };
}

/** The kinds of names in the fields of a command. */
export function namedKinds({ args }: Command): readonly Field['names'][] {
  return fieldsOf(args).map(({ names }) => names);
}

const OPTIONS_MAX = 100;

/**
 * The options of a type-ahead: names, ids and descriptions that contain the typed text. Empty for a
 * user who may not use the form's command. Slack waits three seconds for them, so a list that is not
 * there after two is left out; the next keystroke finds it in the cache.
 */
export async function optionsFor(bot: SlackContext, searched: z.infer<typeof Searched>) {
  const late = bot.clock.timeout(PROGRESS_AFTER_MS);
  const { action_id, value, view, user } = searched;
  const command = view && commandByCallbackId(bot.commands, view.callback_id);
  const field = command && fieldsOf(command.args).find(({ name }) => name === action_id);
  if (!view || !command || !field) return [];
  const request = { commands: [command.name], by: user.id, record: false };
  if (!(await orLate(late, authorizeForm(bot.context, request)))?.ok) return [];
  const given = { ...givenOf({ view }), ...settingOf(view.private_metadata).fixed };
  const question = { command, given, by: user.id, typed: value };
  const kinds = field.names === 'pipe' ? (['pipe'] as const) : field.lists ? [field.lists] : [];
  const [vocabulary, lists] = await Promise.all([
    orLate(late, vocabularyWith(bot, [field.names])),
    kinds.length > 0 ? orLate(late, readLists(bot, kinds, question)) : null,
  ]);
  const known = { ...(vocabulary ?? localVocabulary(bot)), lists: lists ?? {} };
  return matching(choicesFor(field, given, known), value, field).map(optionOf);
}

function matching(all: readonly Choice[], typed: string, field: Field): readonly Choice[] {
  const words = typed.trim().toLowerCase().split(/\s+/);
  const text = ({ name, id, about }: Choice) => `${name} ${id} ${about}`.toLowerCase();
  const found = all
    .filter((choice) => words.every((word) => text(choice).includes(word)))
    .toSorted((a, b) => rank(a.name, words[0] ?? '') - rank(b.name, words[0] ?? ''))
    .slice(0, OPTIONS_MAX);
  return found.length > 0 ? found : typedId(typed.trim(), field);
}

/** An id that is in no list: the list can be unknown, late or incomplete. */
function typedId(id: string, { names, lists }: Field): readonly Choice[] {
  const isOpen = lists !== undefined || names === 'pipe';
  const isId = id !== '' && id.length <= VALUE_MAX && !/\s/.test(id);
  return isOpen && isId ? [{ id, name: id, about: 'Not in a list; used as an id' }] : [];
}

// A match at the beginning of a name ranks before any other match.
function rank(name: string, wanted: string): number {
  const at = name.toLowerCase().indexOf(wanted);
  return at < 0 ? 2 : Math.min(at, 1);
}
