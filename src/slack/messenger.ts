import { Cache } from '../base/cache.ts';
import type { Command } from '../commands/index.ts';
import type { PostPlace, PostResult } from '../domain/answer.ts';
import type { Change, ChangeId, ChannelId, Position, UserId } from '../domain/change.ts';
import type {
  AttemptMark,
  CardMark,
  HomeLists,
  Mark,
  Messenger,
  PostAttempt,
  ScheduleNews,
  SeenMark,
  SeenThread,
} from '../workflow/index.ts';
import { answerMessage } from './answer.ts';
import { createRetryLimited, isPassing, type RetryLimited, refusedBySlack } from './api.ts';
import { buttons, lines, type Message, message, title, withNote } from './blocks.ts';
import { changeCard, revertButton, revertButtons } from './card.ts';
import { cardTitle } from './card-state.ts';
import {
  breakGlassFact,
  breakGlassThreadLine,
  directLine,
  followUpLine,
  isLowered,
  REMINDER_LINES,
  renewButtons,
  revertStoppedLine,
  scheduleNewsLines,
  scheduleReminderLine,
  sendingLine,
  threadLine,
  unfrozenLine,
} from './card-thread.ts';
import { createChannelMembers, createSharing } from './channels.ts';
import { homeView } from './home.ts';
import { cardLink, createPreviewLinks, keyOf, newsCards } from './links.ts';
import {
  type MessageMark,
  markedCard,
  markedLine,
  markedLost,
  markedPost,
  markOf,
} from './marks.ts';
import { requesterLine } from './naming.ts';
import { withPlaces } from './place.ts';
import {
  channelIdOf,
  type EarlierAttempt,
  findOwnMessage,
  messagePages,
  type OwnMessages,
  ownMessages,
  postMessage,
  postRefusal,
  readBack,
  type StoredMessage,
  updateMessage,
} from './post.ts';
import { createPressNotices, type PressOptions, pressAnswers } from './press-answers.ts';
import { preview } from './preview.ts';
import { type Line, withoutLinks } from './rich-text.ts';

export interface Channels {
  readonly approvals: string | null;
  readonly audit: string | null;
}

interface Options extends OwnMessages, PressOptions {
  /** All ids of a person, as far as they were read. */
  readonly idsOf: (user: UserId) => readonly UserId[];
  readonly channels: Channels;
  readonly commands: readonly Command[];
  /** Slack refuses every message of the app. */
  readonly onLost: (error: unknown) => void;
}

export function createMessenger(options: Options): Messenger {
  const { posts, lookups, drawing, channels, commands, finder, permalinks } = options;
  const previews = createPreviewLinks(options.log);
  const notices = createPressNotices(options);
  const afterLimit: RetryLimited = (call) => createRetryLimited(options.clock, LIMIT_WAIT_MS)(call);
  const isShared = createSharing(finder, options.clock);
  const warned = new Set<string>();
  const frozen = new Cache<string, true>(FROZEN_MAX);
  const members = createChannelMembers(lookups, options.clock, options.idsOf);
  const throwRefusal = (error: unknown): never => {
    const refusal = postRefusal(error);
    if (refusal?.isOfApp) options.onLost(error);
    throw refusal ?? error;
  };

  /**
   * Posts into a channel or direct message, unless an earlier attempt, whose answer was lost, has posted it: Slack
   * documents no idempotency key. A configured name is replaced by its id.
   */
  async function postTo(
    channel: string,
    body: Message,
    { threadTs, isSame }: EarlierAttempt,
  ): Promise<Position> {
    const to = await finder.target(channel);
    const post = async () => {
      const earlier = isSame && (await findOwnMessage(options, to, threadTs, isSame));
      return earlier ?? postMessage(posts, to, body, threadTs);
    };
    const at = await post().catch(throwRefusal);
    await finder.posted(channel, at.channel);
    return at;
  }

  /** Posts a line in a channel or thread; after a lost answer only if it is not there yet. */
  async function postLine(
    { channel, ts: threadTs }: { readonly channel: string; readonly ts?: string },
    { again }: PostAttempt,
    line: Line,
    offer: ReturnType<typeof buttons> = null,
  ): Promise<void> {
    const body = message(lines(line), offer);
    const wanted = withoutLinks(body.text);
    const isSame = again ? ({ text }: { text: string }) => withoutLinks(text) === wanted : null;
    await postTo(channel, body, { threadTs, isSame });
  }

  function isCard({ id }: Change, again: boolean) {
    return again ? ({ mark }: Marked) => mark?.change === id && mark.nonce === null : null;
  }

  async function cardOf(
    change: Change,
    schedule: ScheduleNews | null = null,
    revision = '',
  ): Promise<Message> {
    await permalinks.load(newsCards(change));
    const news = schedule ? scheduleNewsLines(schedule) : [];
    // Slack requires a new block id for each drawing.
    const block = ['card', change.version, ...(revision ? [revision] : [])].join(':');
    const mark = schedule?.mark ?? change;
    const { version, hash } = mark;
    return markedCard(changeCard(change, drawing, { news, block }), change, {
      ...{ version, hash, revision },
    });
  }

  /** Shows a state as a reply, once, with the buttons of the card. The log does not have the replies to a copy: those are signed. */
  async function postState(change: Change, at: Position, schedule: ScheduleNews | null) {
    const { text, blocks } = await cardOf(change, schedule);
    const shown = markOf(blocks);
    const user = change.copies.find((copy) => keyOf(copy) === keyOf(at))?.to;
    const own = user ? withPlaces(options.places, blocks, { user, kind: 'private' }) : blocks;
    const body = withNote({ text, blocks: own }, FROZEN_LINE);
    const isSame = ({ mark }: Marked) =>
      mark?.change === change.id && mark.nonce === null && mark.hash === shown?.hash;
    return postTo(at.channel, body, { threadTs: at.ts, isSame });
  }

  /** Takes the buttons from the reply before, which Slack may let be edited, as it is younger than its card. */
  async function endOlder(at: Position, newest: Position): Promise<void> {
    const all = await ownThread(options, at);
    const isState = ({ ts, mark }: StoredMessage) => ts > at.ts && mark?.nonce === null;
    const older = all.findLast((each) => isState(each) && each.ts < newest.ts);
    if (!older?.blocks.some(({ type }) => type === 'actions')) return;
    const blocks = older.blocks.filter(({ type }) => type !== 'actions');
    const { channel } = at;
    await updateMessage(posts, { channel, ts: older.ts }, { text: older.text, blocks }).catch(
      (err: unknown) => options.log.debug({ err }, 'an older reply keeps its buttons'),
    );
  }

  /** The change as people of another organization may read it, where the channel is shared with one. */
  async function shownIn(wanted: string, change: Change): Promise<Change> {
    const channel = await finder.target(wanted);
    if (!(await isShared(channel))) return change;
    if (warned.has(channel) || !channels.audit) return withheld(change);
    warned.add(channel);
    options.log.warn({ channel }, `channel${SHARED}`);
    const named = channel.includes('#') ? channel : { channel: channel as ChannelId };
    await postLine({ channel: channels.audit }, { again: true }, [named, SHARED]);
    return withheld(change);
  }

  function cardChannel(change: Change): string | null {
    return change.requires.channel ?? channels.approvals;
  }

  return {
    // Without an approvals channel the card is in the requester's direct messages.
    postCard: async (change, { again }): Promise<Position> => {
      const to = cardChannel(change) ?? change.requester;
      const shown = await shownIn(to, change);
      const card = await postTo(to, await cardOf(shown), { isSame: isCard(change, again) });
      previews.cardPosted(change.id, card);
      return card;
    },
    postDirectCard: async (change, user, { again }) =>
      postTo(user, await cardOf(change), { isSame: isCard(change, again) }),
    postPreview: async (draft) => {
      const { requester: user } = draft;
      await permalinks.load(newsCards(draft));
      const { text, blocks } = preview(draft, drawing);
      const name = `preview/${draft.id}`;
      const signed = withPlaces(options.places, blocks, { user, kind: 'private' });
      const isSame = ({ postMark }: { readonly postMark: string | null }) => postMark === name;
      await postTo(user, markedPost({ text, blocks: signed }, name), { isSame });
    },
    absentAmong: members.absentAmong,
    redrawCard: async (current, at, schedule, revision) => {
      const change = await shownIn(at.channel, current);
      try {
        await updateMessage(posts, at, await cardOf(change, schedule, revision));
        return 'drawn';
      } catch (error) {
        const refused = refusedBySlack(error) ?? '';
        if (refused === 'message_not_found') return 'deleted';
        if (!FROZEN.includes(refused)) return throwRefusal(error);
        frozen.set(keyOf(at), true);
        const reply = await postState(change, at, schedule);
        await endOlder(at, reply);
        return change.card?.ts === at.ts ? reply : 'drawn';
      }
    },
    drawLost: (change, at, other) => updateMessage(posts, at, lostCard(change, other)),
    postSending: async (change, { channel, ts }, mark: AttemptMark) => {
      const line = message(lines(sendingLine(change, mark)));
      const note = markedLine(line, change, mark, mark.nonce);
      await afterLimit(() => postMessage(posts, channel, note, ts)).catch(throwRefusal);
    },
    readThread: (at) => afterLimit(() => readThread(options, at)),
    readCard: (at) =>
      afterLimit(() =>
        frozen.get(keyOf(at)) ? readThread(options, at) : readCard(options, at),
      ).catch(throwRefusal),
    readMarks: (since, cards) => readMarks(options, since, cards),
    postThreadUpdate: async (change, at, attempt) => {
      await permalinks.load([at]);
      const offer = buttons(`thread:${change.version}`, ...revertButtons(change));
      const shown = await shownIn(at.channel, change);
      return postLine(at, attempt, threadLine(shown, drawing), offer);
    },
    postFollowUp: (change, at, attempt) => postLine(at, attempt, followUpLine(change)),
    postRevertStopped: (change, at, why, attempt) => {
      const now = { id: 'change.undo', label: 'Revert now', value: change.id };
      const offer = buttons(`revert:${change.version}`, now);
      return postLine(at, attempt, revertStoppedLine(change, why), offer);
    },
    postUnfreezeOffer: (change, at, attempt) => {
      const offer = buttons(`unfrozen:${change.version}`, revertButton(change, 'Revert'));
      return postLine(at, attempt, unfrozenLine(change), offer);
    },
    postReminder: async (change, at, reminder, attempt) => {
      await permalinks.load([at]);
      await postLine(at, attempt, REMINDER_LINES[reminder](change, drawing));
    },
    messageRequester: async (change, at, attempt) => {
      const { requester } = change;
      // The mention in the thread has already notified members of the channel.
      if (at?.channel.startsWith('D')) return;
      // An unknown answer only means that the user may be notified twice, which does no harm.
      if (at && !isLowered(change) && (await members.has(at.channel, requester))) return;
      await permalinks.load(at ? [at] : []);
      await postLine({ channel: requester }, attempt, directLine(change, drawing));
    },
    postThreadNote: (text, at, attempt) => postLine(at, attempt, [text]),
    postScheduleReminder: (change, at, ending, attempt) => {
      const offer = buttons(`schedule:${change.id}`, ...renewButtons(change));
      return postLine(at, attempt, scheduleReminderLine(change, ending), offer);
    },
    postBreakGlassUpdate: async (change, at, event, attempt) => {
      await permalinks.load([at]);
      const shown = await shownIn(at.channel, change);
      await postLine(at, attempt, breakGlassThreadLine(event, shown, drawing));
    },
    postAuditLine: async (change, { again }, { event, nonce }) => {
      if (!channels.audit) return;
      await permalinks.load([change.card]);
      const line: Line = event
        ? breakGlassFact(event, change, drawing)
        : [
            ...[cardTitle(change, drawing.commands), ' · '],
            cardLink(change, change.id, drawing.linkOf),
            // Who pressed is on the card; what a program asked for stands out here.
            ...(change.via ? [' · requested by ', ...requesterLine(change)] : []),
          ];
      const body = markedLine(message(lines(line)), change, change, nonce);
      const isLine = ({ mark }: Marked) => mark?.hash === change.hash && mark.nonce !== null;
      await postTo(channels.audit, body, { isSame: again ? isLine : null });
    },
    expectAnswer: ({ key, replyTo }, isHandled) => notices.expect(key, replyTo, isHandled),
    ...pressAnswers({ ...options, notices, previews, cardChannel }),
    postToChannel: (to, answer, threadTs, mark) => {
      const body = answerMessage(answer);
      return resultOf(postMessage(posts, to, mark ? markedPost(body, mark) : body, threadTs));
    },
    findPost: (place, mark) => findPost(options, place, mark),
    updateMessage: async (at, answer) => {
      const body = answerMessage(answer);
      const result = await resultOf(updateMessage(posts, at, body).then(() => at));
      // What it says now is a reply, which is updated from then on.
      const isFrozen = !result.ok && FROZEN.includes(result.why);
      return isFrozen ? resultOf(postMessage(posts, at.channel, body, at.ts)) : result;
    },
    findChannels: finder.find,
    lookupProblem: finder.problem,
    messageUser: async (user, answer) => {
      await postMessage(posts, user, answerMessage(answer)).catch(throwRefusal);
    },
    notifyOperators: async (sentence, attempt, { line, actions }) => {
      if (!channels.audit) return;
      const offer = buttons('notice', ...actions);
      await postLine({ channel: channels.audit }, attempt, [sentence, ...line], offer);
    },
    showHome: async (user, found) => {
      if (found.ok) await permalinks.load(cardsIn(found.lists));
      const view = homeView(found, { drawing, commands });
      const blocks = withPlaces(options.places, view.blocks, { user, kind: 'home' });
      await posts.views.publish({ user_id: user, view: { ...view, blocks: [...blocks] } });
    },
  };
}

const WITHHELD = 'not shown in a channel that is shared with another organization';
const SHARED =
  ' is shared with another organization. Cards there show no costs and reasons. Set an internal channel.';

/** Without the estimate of costs and without what people wrote. */
function withheld({ plan: { cost: _, ...plan }, ...change }: Change): Change {
  const { reason, words, rejection, breakGlass, resolution, review } = change;
  const note = { note: WITHHELD };
  return {
    ...{ ...change, plan, reason: reason && WITHHELD, words: words && WITHHELD },
    rejection: rejection && { ...rejection, reason: WITHHELD },
    breakGlass: breakGlass && { ...breakGlass, reason: WITHHELD },
    resolution: resolution && { ...resolution, ...note },
    review: review && { ...review, ...note },
  };
}

/** The message stands, and Slack lets it be edited no more: further states are replies in its thread. */
const FROZEN = ['edit_window_closed', 'cant_update_message'];
/** Known again after a restart by the first drawing. */
const FROZEN_MAX = 1_000;

const FROZEN_LINE =
  'Slack does not let the card be edited any more. The buttons of the newest reply count.';

type Marked = { readonly mark: MessageMark | null };

function lostCard(id: ChangeId, other: CardMark | null): Message {
  const [what, lost, next] = other
    ? ['has another card', 'card', 'Only the other card counts.']
    : ['was lost', 'request', 'Check the state of its target, then request it again.'];
  const why = `The database has lost this ${lost}, for example after a failover or a restore. ${next}`;
  return markedLost(message(title(`✕ Change ${id} ${what}`), lines([why])), id, other);
}

/** A request waits for its note, and is not sent after half a minute. */
const LIMIT_WAIT_MS = 5_000;

/** Slack has no such message any more, or only its place. */
const DELETED = ['thread_not_found', 'message_not_found'];

/** A card with the notes of its thread; null: it was deleted. Any other refusal is thrown: unreadable is not absent. */
async function readThread(
  { lookups, botId }: Pick<Options, 'lookups' | 'botId'>,
  { channel, ts }: Position,
  call?: RetryLimited,
): Promise<{ readonly card: Mark | null; readonly notes: readonly NotedMark[] } | null> {
  const own = await ownThread({ lookups, botId }, { channel, ts }, call).catch((error: unknown) => {
    if (DELETED.includes(refusedBySlack(error) ?? '')) return [];
    throw error;
  });
  const card = own.find((each) => each.ts === ts);
  // Slack keeps the place of a deleted message with replies, without its author.
  if (!card) return null;
  // Of a card that cannot be edited any more, the newest reply with its mark shows the state.
  const states = own.filter(
    ({ mark }) => mark?.nonce === null && mark.change === card.mark?.change,
  );
  const notes = own.flatMap(({ mark, ts: at }) =>
    at !== ts && mark && mark.nonce !== null ? [{ ...mark, nonce: mark.nonce }] : [],
  );
  return { card: states.at(-1)?.mark ?? card.mark, notes };
}

/** The own messages of a thread, each once. */
async function ownThread(
  { lookups, botId }: Pick<Options, 'lookups' | 'botId'>,
  { channel, ts }: Position,
  call?: RetryLimited,
): Promise<readonly StoredMessage[]> {
  const all = new Map<string, StoredMessage>();
  for await (const { messages = [] } of messagePages(lookups, { channel, ts }, call && { call })) {
    for (const each of ownMessages({ botId }, messages)) all.set(each.ts, each);
  }
  return [...all.values()];
}

type NotedMark = MessageMark & { readonly nonce: string };

/** A card without its thread; null: it was deleted. Any other refusal is thrown. */
async function readCard(
  { lookups, botId }: Pick<Options, 'lookups' | 'botId'>,
  { channel, ts }: Position,
): Promise<SeenThread | null> {
  const around = { channel, latest: ts, oldest: ts, inclusive: true, limit: 1 };
  const { messages = [] } = await lookups.conversations.history(around);
  const card = ownMessages({ botId }, messages).find((each) => each.ts === ts);
  return card ? { card: card.mark, notes: [] } : null;
}

/** Nothing can be posted there either. */
const NO_CHANNEL = ['channel_not_found', 'not_in_channel'];

/**
 * The marks of own messages in all channels of cards and in the audit channel, back to `since`, at most 4,000 messages
 * per channel, and of the notes below these cards. A channel that does not exist, or from which the app was removed, is
 * left out. Throws where Slack does not answer.
 */
async function readMarks(
  options: Options,
  since: Date,
  cards: readonly Position[],
): Promise<readonly SeenMark[]> {
  const { channels, drawing, finder, clock, log, lookups } = options;
  const ofRules = drawing.policy.rules.map(({ requires }) => requires.channel);
  const used = new Set([channels.approvals, channels.audit, ...ofRules]);
  const call = createRetryLimited(clock);
  const found: SeenMark[] = [];
  for (const wanted of used) {
    if (wanted === null) continue;
    const channel = await readable(channelIdOf(finder, wanted));
    const read = channel && (await readable(readBack(lookups, channel, since, call)));
    if (!read) {
      log.warn({ channel: wanted }, 'channel is not readable: its messages were not read');
      continue;
    }
    for (const { ts, mark } of ownMessages(options, read.messages)) {
      if (mark) found.push(seenMark(mark, { channel, ts }));
    }
  }
  for (const at of cards) {
    const thread = await readable(readThread(options, at, createRetryLimited(clock)));
    found.push(...(thread?.notes ?? []).map((note) => seenMark(note, at)));
  }
  return found;
}

/** Null for a channel that does not exist, or from which the app was removed. */
function readable<Value>(read: Promise<Value>): Promise<Value | null> {
  return read.catch((error: unknown) => {
    if (NO_CHANNEL.includes(refusedBySlack(error) ?? '')) return null;
    throw error;
  });
}

function seenMark({ nonce, ...mark }: MessageMark, at: Position): SeenMark {
  return { ...mark, isCard: nonce === null, at };
}

/** Looks for a post by its mark, in a thread or in a channel back to a time. */
async function findPost(
  { lookups, botId, clock }: Pick<Options, 'lookups' | 'botId' | 'clock'>,
  { channel, threadTs, since }: PostPlace,
  mark: string,
): Promise<Position | null> {
  const at = { channel, ts: threadTs, oldest: `${since.getTime() / 1_000}` };
  const pages = messagePages(lookups, at, { call: createRetryLimited(clock) });
  for await (const { messages = [] } of pages) {
    const found = ownMessages({ botId }, messages).find(({ postMark }) => postMark === mark);
    if (found) return { channel, ts: found.ts };
  }
  return null;
}

function cardsIn({ waiting, toAnswer, mine, running, recent }: HomeLists) {
  const answers = toAnswer.map(({ change }) => change);
  return [...waiting, ...answers, ...mine, ...running, ...recent].map(({ card }) => card);
}

/** A definite refusal of Slack is a value; an unknown outcome is thrown. */
async function resultOf(posted: Promise<Position>): Promise<PostResult> {
  try {
    return { ok: true, at: await posted };
  } catch (error) {
    const why = refusedBySlack(error);
    if (why === null) throw error;
    return { ok: false, why, again: isPassing(why) };
  }
}
