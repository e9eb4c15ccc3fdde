import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../base/text.ts';
import { weeklyTimesText } from '../base/weekly-times.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type Cell,
  type Channel,
  type ChannelLookup,
  type CommandOffer,
  countWords,
  textAnswer,
} from '../domain/answer.ts';
import type { ChangeId } from '../domain/change.ts';
import type { People } from '../domain/gate.ts';
import type { EventOf, NewEvent } from '../domain/log-events.ts';
import { append, inForce } from '../log/index.ts';
import { transaction } from '../storage/index.ts';
import { postChannel } from './announcements.ts';
import { deleteLastPosted } from './digest-data.ts';
import { type DigestContext, postDigestNow, previewDigest } from './digest-posts.ts';
import { checkSchedule } from './digest-schedule.ts';
import { labelOf } from './scope.ts';
import {
  type DigestSubscription,
  digestName,
  fromSlack,
  loadSubscriptions,
  problemsText,
} from './subscriptions.ts';

export const DIGEST_ACTIONS = [
  'list',
  'add',
  'remove',
  'pause',
  'resume',
  'now',
  'preview',
] as const;

/** One action on cost digests; null for a value that was not given. */
interface DigestRequest {
  readonly what: (typeof DIGEST_ACTIONS)[number];
  /** A channel name or id, or the id of one digest. */
  readonly which: string | null;
  /** Whether the caller confirmed a removal. */
  readonly isConfirmed: boolean;
  /** The same keys as in the configuration file, validated by the same schema. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type DigestService = (request: DigestRequest, asker: Caller) => Promise<Answer>;

export interface DigestServiceContext extends DigestContext {
  readonly people: Pick<People, 'zoneOf'>;
  readonly newId: () => ChangeId;
}

/** Answers `/cost digest`. The policy is checked before. */
export function createDigestService(context: DigestServiceContext): DigestService {
  const on: Readonly<Record<DigestRequest['what'], typeof add>> = {
    list,
    add,
    remove: removeDigest,
    pause: setDigestPaused,
    resume: setDigestPaused,
    now: async (_, request, caller) => {
      const found = await findDigest(context, request, caller);
      return 'title' in found ? found : postDigestNow(context, found);
    },
    preview,
  };
  return (request, caller) => on[request.what](context, request, caller);
}

/** Of a digest, or of one with these options that could be added. */
async function preview(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const hasOptions = Object.keys(request.options).length > 0;
  const found = hasOptions ? null : await findDigest(context, request, caller);
  if (found && !('title' in found)) return previewDigest(context, found);
  if (found && request.which !== null) return found;
  const channel = 'C0PREVIEW';
  const read = context.readOptions({ ...request.options, channel });
  if (!read.ok) return misread(read.problems);
  const one = { key: channel, id: null, channel, options: read.value, paused: true };
  return previewDigest(context, { ...one, by: caller.by, since: null });
}

function misread(problems: Parameters<typeof problemsText>[0]): Answer {
  return textAnswer("I didn't understand that", `${problemsText(problems)}.`);
}

async function list(context: DigestServiceContext): Promise<Answer> {
  const { all, broken } = await loadSubscriptions(context.events, context);
  const channels = [...new Set(all.map(({ channel }) => channel))];
  const rooms = await context.messenger.findChannels(channels);
  return listAnswer(all, broken, { rooms, now: context.now() });
}

interface ListContext {
  readonly rooms: ReadonlyMap<string, ChannelLookup>;
  readonly now: Date;
}

function listAnswer(
  all: readonly DigestSubscription[],
  broken: readonly { readonly id: string; readonly problem: string }[],
  list: ListContext,
): Answer {
  const add: CommandOffer = { label: 'Add a digest', line: 'cost digest add' };
  const invalid = broken.map(({ id, problem }) => `Digest ${id} has invalid options: ${problem}.`);
  const parts: readonly AnswerPart[] = [
    ...(all.length > 0 ? [tableOf(all, list)] : [NONE]),
    ...(invalid.length > 0 ? [{ kind: 'text', text: invalid.join('\n') } as const] : []),
    { kind: 'offers', offers: [add] },
    {
      kind: 'menu',
      label: 'Manage a digest',
      offers: all.flatMap((one) => actionsFor(one, list)),
    },
  ];
  const title = countWords(all.length, 'cost digest');
  return { title, parts: parts.filter((part) => part.kind !== 'menu' || part.offers.length > 0) };
}

const NONE: AnswerPart = { kind: 'text', text: 'No cost digests yet.' };

function tableOf(all: readonly DigestSubscription[], list: ListContext): AnswerPart {
  return {
    kind: 'table',
    columns: ['Channel', 'When', 'What', 'Next', 'Id'],
    rows: all.map((one): readonly Cell[] => [
      nameOfListing(one, list),
      whenText(one),
      one.options.on ? labelOf(one.options.on) : 'everything',
      one.paused ? 'paused' : checkSchedule(one, list.now, null).next,
      one.id ?? 'signalbox.yaml',
    ]),
  };
}

function nameOfListing(
  { channel }: Pick<DigestSubscription, 'channel'>,
  { rooms }: Pick<ListContext, 'rooms'>,
): string {
  const found = rooms.get(channel);
  if (found?.ok !== true) return channel;
  return `#${found.room.name}${found.room.outside ? ' (shared, nothing is posted)' : ''}`;
}

function actionsFor(one: DigestSubscription, list: ListContext): readonly CommandOffer[] {
  const offer = (label: string, verb: string) => ({
    label: `${label}: ${nameOfListing(one, list)} (${one.id ?? one.options.period})`,
    line: `cost digest ${verb} ${digestName(one)}`,
  });
  const own = one.paused ? offer('Resume', 'resume') : offer('Pause', 'pause');
  const always = [offer('Preview', 'preview'), offer('Post now', 'now')];
  // A digest of signalbox.yaml is changed there.
  return one.id === null ? always : [...always, own, offer('Remove', 'remove')];
}

const LIST: CommandOffer = { label: 'Show digests', line: 'cost digest list' };

async function add(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const where = await findDigestChannel(context, request, caller);
  if ('title' in where) return where;
  const { room } = where;
  const hasZone = request.options.timezone !== undefined;
  const timezone = hasZone ? null : await context.people.zoneOf(caller.by);
  if (!hasZone && timezone === null) return NO_ZONE;
  // The typed options are stored, so that a changed default applies to this digest too.
  const typed = { timezone, ...request.options } as JsonObject;
  const reading = context.readOptions({ ...typed, channel: room.id });
  if (!reading.ok) return misread(reading.problems);
  const { value: read } = reading;

  const id = context.newId();
  const added = { channel: room.id, options: typed, by: caller.by };
  const { result: equal } = await append(context.events, async (locked) => {
    // An equal digest, which the same channel would get twice.
    const { all } = await loadSubscriptions(locked, context);
    const equal = all.find((other) => isDeepStrictEqual(other.options, read)) ?? null;
    return { events: equal ? [] : [digestEvent(id, { type: 'added', ...added })], result: equal };
  });
  if (equal) {
    const text = `Posted in #${room.name} ${whenText(equal)}${equal.paused ? ' (paused)' : ''}.`;
    return textAnswer('This digest exists already', text, [LIST]);
  }
  const one = fromSlack({ id, ...added, isPaused: false, since: context.now() }, read);
  const { next } = checkSchedule(one, context.now(), null);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text: `Posted in #${room.name} ${whenText(one)}.` },
    { kind: 'facts', facts: [['First post', next]] },
    {
      kind: 'offers',
      offers: [
        { label: 'Preview', line: `cost digest preview ${id}` },
        { label: 'Post now', line: `cost digest now ${id}` },
        { label: 'Remove', line: `cost digest remove ${id}` },
      ],
    },
  ];
  return { title: 'Digest added', parts };
}

const NO_ZONE = textAnswer(
  'Which time zone?',
  'Slack did not return your time zone. Add zone=, for example zone=Europe/Berlin.',
);

/** The channel of the request, or the channel in which the command was typed. */
async function findDigestChannel(
  context: DigestContext,
  request: DigestRequest,
  caller: Caller,
): Promise<{ readonly room: Channel } | Answer> {
  const word = channelWord(request.which) ?? caller.channel;
  // A direct message with the app is not a channel for digests.
  if (word === null || word.startsWith('D'))
    return textAnswer('Which channel?', 'Name the channel, for example: #costs');
  const found = (await context.messenger.findChannels([word])).get(word);
  const to = postChannel(found);
  if (to.ok) return { room: to.channel };
  if (to.again) return textAnswer('Try again', `${to.why}. Try again in a minute.`);
  const name = word.startsWith('#') ? word : 'This channel';
  return textAnswer('Not in this channel', `${name} gets no cost digest: ${to.why}.`);
}

function digestEvent(id: string, event: EventOf<`subscription/${string}`>): NewEvent {
  return { stream: `subscription/${id}`, event };
}

/** Pauses or resumes a digest that was added in Slack. */
async function setDigestPaused(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const found = await findDigest(context, request, caller);
  if ('title' in found) return found;
  const { id } = found;
  if (id === null) return IN_FILE;
  const isPaused = request.what === 'pause';
  const type = isPaused ? 'paused' : 'resumed';
  await record(context, id, { type, by: caller.by }, (before) => before.isPaused !== isPaused);
  const text = `Posted ${whenText(found)}${isPaused ? ' once resumed' : ''}.`;
  const offers = isPaused ? [{ label: 'Resume', line: `cost digest resume ${id}` }] : [];
  return textAnswer(`Digest ${type}`, text, offers);
}

/** Appends what changes a digest that is in force. */
async function record(
  { events, now }: DigestServiceContext,
  id: string,
  event: EventOf<`subscription/${string}`>,
  isNews: (before: { readonly isPaused: boolean }) => boolean = () => true,
): Promise<void> {
  await append(events, async (locked) => {
    const before = (await inForce(locked, 'subscription', now())).get(id);
    return { events: before && isNews(before) ? [digestEvent(id, event)] : [], result: null };
  });
}

/** Removes a digest that was added in Slack, after the user confirmed it; also one with invalid options. */
async function removeDigest(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const { broken } = await loadSubscriptions(context.events, context);
  const invalid = broken.find((one) => one.id === request.which?.toUpperCase());
  const found = invalid ?? (await findDigest(context, request, caller));
  if ('title' in found) return found;
  const { id, key, channel } = found;
  if (id === null) return IN_FILE;
  const rooms = await context.messenger.findChannels([channel]);
  const at = 'options' in found ? `, ${found.options.at}` : '';
  const name = `${nameOfListing(found, { rooms })}${at}`;
  if (!request.isConfirmed) {
    const line = `cost digest remove ${id} confirm=yes`;
    const offers = [{ label: 'Remove digest', line }];
    return textAnswer(`Remove the digest ${name}?`, 'Nothing more is posted after that.', offers);
  }
  await record(context, id, { type: 'removed', by: caller.by });
  await transaction(context.store, (tx) => deleteLastPosted(tx, key));
  return { title: `Digest removed: ${name}`, parts: [] };
}

const IN_FILE = textAnswer(
  'Defined in the configuration file',
  'This digest is from signalbox.yaml. Change it there.',
);

/** Finds a digest by its id, as `#costs:week` from the file, or as the only one of a channel. */
async function findDigest(
  context: DigestContext,
  { which, what }: DigestRequest,
  caller: Caller,
): Promise<DigestSubscription | Answer> {
  const { all } = await loadSubscriptions(context.events, context);
  const word = which ?? caller.channel ?? '';
  const byName = all.find((one) => bare(digestName(one)) === bare(word));
  if (byName) return byName;
  const own = await ofChannel(context, all, channelWord(which) ?? caller.channel ?? '');
  const [one] = own;
  if (one && own.length === 1) return one;
  const text = one
    ? `This channel gets ${own.length} digests.`
    : 'No digest has this id, and the channel gets no digest.';
  const named = own.slice(0, 4).map((each) => ({
    label: digestName(each),
    line: `cost digest ${what} ${digestName(each)}`,
  }));
  return textAnswer('Which digest?', text, [...named, LIST]);
}

async function ofChannel(context: DigestContext, all: readonly DigestSubscription[], word: string) {
  const channels = [...new Set([...all.map(({ channel }) => channel), word])].filter(Boolean);
  const rooms = await context.messenger.findChannels(channels);
  const idOf = (channel: string) => {
    const found = rooms.get(channel);
    return found?.ok ? found.room.id : channel;
  };
  return all.filter(({ channel }) => idOf(channel) === idOf(word));
}

/** `<#C0123|costs>`, `#costs`, `costs` or an id. */
function channelWord(which: string | null): string | null {
  if (which === null) return null;
  const [, id] = /^<#([CG][A-Z0-9]+)(?:\|[^>]*)?>$/.exec(which) ?? [];
  if (id) return id;
  return /^([CG][A-Z0-9]{6,}|#.*)$/.test(which) ? which : `#${which.toLowerCase()}`;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/^#/, '');
}

/** `weekdays 09:30 (Europe/Berlin), quiet` */
function whenText({ options }: Pick<DigestSubscription, 'options'>): string {
  const { period, days, at, timezone, quiet } = options;
  const week = period === 'week' ? ', for the week' : '';
  const rare = quiet && week === '' ? ', quiet' : '';
  return `${weeklyTimesText([{ days, at }])} (${timezone})${week}${rare}`;
}
