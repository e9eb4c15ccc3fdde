import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../base/text.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type Cell,
  type Channel,
  type ChannelLookup,
  type CommandOffer,
  countWords,
  type InlinePart,
  textAnswer,
} from '../domain/answer.ts';
import type { ChangeId, UserId } from '../domain/change.ts';
import type { People } from '../domain/gate.ts';
import type { EventOf, NewEvent } from '../domain/log-events.ts';
import { append, inForce } from '../log/index.ts';
import { transaction } from '../storage/index.ts';
import { postChannel } from './announcements.ts';
import type { DigestOptions } from './config.ts';
import { DAYS } from './config.ts';
import { deleteLastPosted } from './digest-data.ts';
import { type DigestContext, postDigestNow, previewDigest, skipDigest } from './digest-posts.ts';
import { checkSchedule } from './digest-schedule.ts';
import { labelOf } from './scope.ts';
import {
  type BrokenSubscription,
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
    columns: ['Channel', 'When', 'What', 'Next', 'Id', 'Added by'],
    rows: all.map((one): readonly Cell[] => [
      nameOfListing(one, list),
      whenText(one),
      one.options.on ? labelOf(one.options.on) : 'everything',
      one.paused ? 'paused' : checkSchedule(one, list.now, null).next,
      one.id ?? '–',
      one.id === null ? 'signalbox.yaml' : 'command',
    ]),
  };
}

function nameOfListing({ channel }: DigestSubscription, { rooms }: ListContext): string {
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
  const read = readOptions(context, typed, room.id);
  if ('title' in read) return read;

  const id = context.newId();
  const createdAt = context.now();
  const added = { channel: room.id, options: typed, by: caller.by };
  const { result: equal } = await append(context.events, async (locked) => {
    // An equal digest, which the same channel would get twice.
    const { all } = await loadSubscriptions(locked, context);
    const equal = all.find((other) => isDeepStrictEqual(other.options, read)) ?? null;
    return { events: equal ? [] : [digestEvent(id, { type: 'added', ...added })], result: equal };
  });
  if (equal) return alreadyAdded(equal, room.name);
  const one = fromSlack({ id, ...added, isPaused: false, createdAt }, read);
  await announceDigest(context, one, { by: caller.by, did: 'added' });
  const { next } = checkSchedule(one, createdAt, null);
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

function readOptions(
  context: DigestServiceContext,
  options: DigestRequest['options'],
  channel: string,
): DigestOptions | Answer {
  const reading = context.readOptions({ ...options, channel });
  if (reading.ok) return reading.value;
  return textAnswer("I didn't understand that", `${problemsText(reading.problems)}.`);
}

function alreadyAdded(one: DigestSubscription, room: string): Answer {
  const name = digestName(one);
  const isInFile = one.id === null;
  const text = `Posted in #${room} ${whenText(one)}${one.paused ? ' (paused)' : ''}.`;
  return textAnswer('This digest exists already', text, [
    ...(one.paused ? [{ label: 'Resume', line: `cost digest resume ${name}` }] : []),
    { label: 'Preview', line: `cost digest preview ${name}` },
    ...(isInFile ? [] : [{ label: 'Remove', line: `cost digest remove ${name}` }]),
  ]);
}

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
  const name = found?.ok ? `#${found.room.name}` : nameOf(request.which, word);
  return textAnswer('Not in this channel', `${name} gets no cost digest: ${refusalText(found)}`);
}

/** Why a channel gets no digest, and what to do. */
function refusalText(found: ChannelLookup | undefined): string {
  const invite = 'Type /invite @Signalbox in that channel, then run this command there.';
  if (!found?.ok) {
    return `the channel does not exist, or is private and Signalbox is not in it. ${invite}`;
  }
  return found.room.outside
    ? 'the channel is shared with another workspace. Choose another channel.'
    : `Signalbox is not in the channel. ${invite}`;
}

/** The channel as the user named it; an id that Slack does not resolve is not shown. */
function nameOf(which: string | null, word: string): string {
  const [, name] = /^<#[CG][A-Z0-9]+\|([^>]+)>$/.exec(which ?? '') ?? [];
  if (name) return `#${name}`;
  return word.startsWith('#') ? word : 'The channel';
}

function digestEvent(id: string, event: EventOf<`subscription/${string}`>): NewEvent {
  return { stream: `subscription/${id}`, event };
}

interface Announcement {
  readonly by: UserId;
  readonly did: 'added' | 'removed';
}

/**
 * Shows the channel who added or removed its digest, in one line; an added one has a button for the
 * list. The digest is recorded already, so that a line that is not posted is logged only.
 */
async function announceDigest(
  { messenger, log }: Pick<DigestServiceContext, 'messenger' | 'log'>,
  one: Pick<DigestSubscription, 'id' | 'channel' | 'options'>,
  { by, did }: Announcement,
): Promise<void> {
  const { on } = one.options;
  const about = `${whenText(one)}${on ? `, ${labelOf(on)}` : ''}`;
  const line: readonly InlinePart[] = [{ user: by }, ` ${did} a cost digest: ${about}.`];
  const list = { label: 'Show digests', line: 'cost digest list' };
  const parts: readonly AnswerPart[] = [
    { kind: 'lines', lines: [line] },
    ...(did === 'added' ? [{ kind: 'offers', offers: [list] } as const] : []),
  ];
  try {
    const to = postChannel((await messenger.findChannels([one.channel])).get(one.channel));
    const posted = to.ok ? await messenger.postToChannel(to.channel.id, { title: '', parts }) : to;
    if (!posted.ok) log.warn({ why: posted.why }, 'announcement of a digest was refused');
  } catch (error) {
    log.warn({ err: error }, 'announcement of a digest was not posted');
  }
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
  if (id === null) return inFile(context, found);
  const paused = request.what === 'pause';
  const state = paused ? 'paused' : 'resumed';
  if (!paused && found.paused) await skipToday(context, found);
  await append(context.events, async (locked) => {
    const standing = (await inForce(locked, 'subscription', context.now())).get(id);
    const isChanged = standing !== undefined && standing.isPaused !== paused;
    const events = isChanged ? [digestEvent(id, { type: state, by: caller.by })] : [];
    return { events, result: null };
  });
  const text = `Posted ${whenText(found)}${paused ? ' once resumed' : ''}.`;
  const offers = paused ? [{ label: 'Resume', line: `cost digest resume ${id}` }] : [];
  return textAnswer(`Digest ${state}`, text, offers);
}

/** Nothing is posted for a time that passed while the digest was paused. */
async function skipToday(context: DigestServiceContext, one: DigestSubscription): Promise<void> {
  const check = checkSchedule({ ...one, paused: false }, context.now(), null);
  if (check.state !== 'waiting') await skipDigest(context, one, check.slot.localDay);
}

/** `options` is missing if they are invalid. */
interface RemovableDigest extends Pick<DigestSubscription, 'key' | 'channel'> {
  readonly id: string;
  readonly options?: DigestOptions;
}

/** Removes a digest that was added in Slack, after the user confirmed it. */
async function removeDigest(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const found = await findRemovable(context, request, caller);
  if ('title' in found) return found;
  const name = await digestText(context, found);
  if (!request.isConfirmed) return confirmation(found.id, name);
  const { result: isRemoved } = await append(context.events, async (locked) => {
    const isThere = (await inForce(locked, 'subscription', context.now())).has(found.id);
    const event = digestEvent(found.id, { type: 'removed', by: caller.by });
    return { events: isThere ? [event] : [], result: isThere };
  });
  await transaction(context.store, (tx) => deleteLastPosted(tx, found.key));
  const { options, ...removed } = found;
  const by = caller.by;
  if (isRemoved && options)
    await announceDigest(context, { ...removed, options }, { by, did: 'removed' });
  return {
    title: `${isRemoved ? 'Digest removed' : 'Digest was removed before'}: ${name}`,
    parts: [],
  };
}

async function findRemovable(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<RemovableDigest | Answer> {
  // A digest with invalid options can still be removed.
  const { broken } = await loadSubscriptions(context.events, context);
  const invalid = broken.find(({ id }) => id === request.which?.toUpperCase());
  if (invalid) return invalid;
  const found = await findDigest(context, request, caller);
  if ('title' in found) return found;
  const { id } = found;
  return id === null ? inFile(context, found) : { ...found, id };
}

function confirmation(id: string, name: string): Answer {
  const line = `cost digest remove ${id} confirm=yes`;
  return textAnswer(`Remove the digest ${name}?`, 'Nothing more is posted after that.', [
    { label: 'Remove digest', line },
  ]);
}

/** `#db-costs, 09:30` */
async function digestText(
  { messenger }: Pick<DigestContext, 'messenger'>,
  { channel, options }: NamedDigest,
): Promise<string> {
  const found = (await messenger.findChannels([channel])).get(channel);
  const name = found?.ok ? `#${found.room.name}` : channel;
  return options ? `${name}, ${options.at}` : name;
}

interface NamedDigest extends Pick<DigestSubscription, 'channel'> {
  /** Missing if they are invalid. */
  readonly options?: DigestOptions;
}

/** The answer for a digest that Slack cannot change. */
async function inFile(
  context: Pick<DigestContext, 'messenger'>,
  digest: DigestSubscription,
): Promise<Answer> {
  const text = `The digest ${await digestText(context, digest)} is from signalbox.yaml. Change it there.`;
  return textAnswer('Defined in the configuration file', text);
}

async function preview(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  if (Object.keys(request.options).length === 0) {
    const found = await findDigest(context, request, caller);
    if (!('title' in found))
      return previewDigest(context, found, found.paused ? 'paused' : 'scheduled');
    if (request.which !== null) return found;
  }
  // Only the user who requests the preview sees it, so the channel does not matter.
  const channel = 'C0PREVIEW';
  const options = readOptions(context, request.options, channel);
  if ('title' in options) return options;
  const added = { key: channel, id: null, channel, options, paused: false };
  return previewDigest(context, { ...added, by: caller.by, since: null }, 'not-added');
}

/** Finds a digest by its id, as `#costs:week` from the file, or as the only one of a channel. */
async function findDigest(
  context: DigestContext,
  { which, what }: DigestRequest,
  caller: Caller,
): Promise<DigestSubscription | Answer> {
  const { all, broken } = await loadSubscriptions(context.events, context);
  const word = which ?? caller.channel ?? '';
  const byName = all.find((one) => bare(digestName(one)) === bare(word));
  if (byName) return byName;
  const invalid = broken.find(({ id }) => id === word.toUpperCase());
  if (invalid) return invalidDigest(invalid);
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
  return textAnswer('Which digest?', text, [
    ...named,
    { label: 'Show all', line: 'cost digest list' },
  ]);
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

function invalidDigest({ id, problem }: BrokenSubscription): Answer {
  const text = `Digest ${id} has invalid options: ${problem}. Remove it and add it again.`;
  return textAnswer('Invalid digest', text, [
    { label: 'Remove', line: `cost digest remove ${id}` },
  ]);
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

/** `Mon–Fri at 09:30 (Europe/Berlin)` */
function whenText({ options }: Pick<DigestSubscription, 'options'>): string {
  const { period, days, at, timezone } = options;
  const week = period === 'week' ? ', for the week' : '';
  return `${daysText(days)} at ${at} (${timezone})${week}`;
}

function capitalized(day: string): string {
  return `${day.charAt(0).toUpperCase()}${day.slice(1)}`;
}

function daysText(days: readonly (typeof DAYS)[number][]): string {
  if (days.length === DAYS.length) return 'every day';
  const isWeekdays = days.length === 5 && days.every((day) => !day.startsWith('s'));
  return isWeekdays ? 'Mon–Fri' : days.map(capitalized).join(', ');
}
