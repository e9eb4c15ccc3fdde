import { fieldsOf, type TypedValues } from '../../commands/arguments.ts';
import type { Command, CommandContext } from '../../commands/define.ts';
import {
  backupItems,
  dashboardItems,
  type ListedItem,
  type ListedKind,
  pipeItems,
  type ServerLists,
  tileItems,
  warehouseItems,
  webhookItems,
} from '../../commands/listed.ts';
import type { UserId } from '../../domain/change.ts';
import { findByName, type Service, serviceTarget } from '../../domain/targets.ts';
import { mayQuery } from '../../workflow/authorize.ts';
import { orLate } from '../progress/progress.ts';
import type { SlackContext } from '../slack-context.ts';

type Reads = CommandContext['reads'];

const IS_OFF: Readonly<Record<ListedKind, (reads: Reads) => boolean>> = {
  backup: ({ cloud }) => cloud.isOff('backups'),
  'data warehouse': ({ cloud }) => cloud.isOff('services'),
  webhook: ({ alerts }) => alerts?.isOff('webhooks') ?? true,
  dashboard: ({ alerts }) => alerts?.isOff('dashboards') ?? true,
  tile: ({ alerts }) => alerts?.isOff('dashboards') ?? true,
};

/** The lists that a form offers. Without a list, its field is a line of text for an id. */
export function offeredLists(reads: Reads): readonly ListedKind[] {
  const kinds = Object.keys(IS_OFF) as ListedKind[];
  return kinds.filter((kind) => !IS_OFF[kind](reads));
}

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

const NAMED_WITHIN_MS = 1_000;

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
  const late = bot.clock.timeout(NAMED_WITHIN_MS);
  return (await orLate(late, readLists(bot, ['pipe'], question))) ?? {};
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
    return read.known ? pipeItems(service, read.value) : null;
  }
  if (kind === 'data warehouse') {
    const read = await reads.cloud.services(WAITING);
    return read.known ? warehouseItems(read.value) : null;
  }
  if (kind === 'webhook') {
    const read = await reads.alerts?.webhooks(WAITING);
    return read?.known ? webhookItems(read.value) : null;
  }
  const read = await reads.alerts?.dashboards(WAITING);
  if (!read?.known) return null;
  return kind === 'tile' ? tileItems(read.value, given.dashboardId) : dashboardItems(read.value);
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
  const isOne = Boolean(given.service);
  const named = isOne
    ? findByName(services, given.service ?? '')
    : services.filter(({ name }) => wanted !== '' && isPartOf(name.toLowerCase(), wanted));
  const lists = await Promise.all(
    named.slice(0, isOne ? 1 : SERVICES_MAX).map(async (service) => {
      if (!(await mayRead(bot, question, service))) return null;
      const read = await reads.cloud.backups(service.id, WAITING);
      return read.known ? backupItems(read.value, now(), isOne ? null : service.name) : null;
    }),
  );
  const known = lists.filter((list) => list !== null);
  return known.length > 0 ? known.flat() : null;
}

/** The user types a part of the name, then more words to choose one of its backups. */
function isPartOf(name: string, wanted: string): boolean {
  return name.includes(wanted) || wanted.startsWith(`${name} `);
}

/** A change names no service of which it lists the backups, so the query for them decides. */
function mayRead(bot: SlackContext, { command, by }: ListQuestion, service: Service) {
  const name = command.kind === 'query' ? command.name : 'backup list';
  return mayQuery(bot.context, { command: name, target: serviceTarget(service), by });
}
