import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Clock } from '../base/time.ts';
import type { Command } from '../commands/index.ts';
import type { PostResult } from '../domain/answer.ts';
import type { Change, Position } from '../domain/change.ts';
import type { HomeLists, Messenger, PostAttempt } from '../workflow/old/messenger-port.ts';
import { answerMessage } from './answer.ts';
import { type Respond, refusedBySlack } from './api.ts';
import { buttons, lines, type Message, message } from './blocks.ts';
import { changeCard, revertButton, revertButtons } from './card.ts';
import { cardTitle } from './card-state.ts';
import {
  breakGlassFact,
  breakGlassThreadLine,
  directLine,
  followUpLine,
  reminderLine,
  renewButtons,
  revertStoppedLine,
  scheduleReminderLine,
  threadLine,
  unfrozenLine,
} from './card-thread.ts';
import { createChannelMembers } from './channels.ts';
import { clickAnswers, createClickNotices } from './click-answers.ts';
import { homeView } from './home.ts';
import { cardLink, createPreviewLinks, type Permalinks } from './links.ts';
import type { DrawContext } from './naming.ts';
import { type Places, withPlaces } from './place.ts';
import {
  findOwnTexts,
  type OwnMessages,
  postMessage,
  postOnce,
  postRefusal,
  updateMessage,
} from './post.ts';
import { type Line, withoutLinks } from './rich-text.ts';

export interface Channels {
  readonly approvals: string | null;
  readonly audit: string | null;
}

interface Options extends OwnMessages {
  readonly posts: WebClient;
  readonly respond: Respond;
  readonly drawing: DrawContext;
  readonly places: Places;
  readonly channels: Channels;
  readonly commands: readonly Command[];
  readonly permalinks: Permalinks;
  readonly clock: Clock;
  readonly now: () => Date;
  readonly log: Logger;
}

export function createMessenger(options: Options): Messenger {
  const { posts, lookups, drawing, channels, commands, finder, permalinks } = options;
  const previews = createPreviewLinks(options.log);
  const notices = createClickNotices(options);
  const members = createChannelMembers(lookups, options.clock);

  /** Posts into a channel or direct message once; a configured name is replaced by its id. */
  async function postTo(
    channel: string,
    body: Message,
    earlier: Parameters<typeof postOnce>[3],
  ): Promise<Position> {
    const to = await finder.target(channel);
    const at = await postOnce(options, to, body, earlier).catch(throwRefusal);
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
    const isSame = again ? (text: string) => withoutLinks(text) === wanted : null;
    await postTo(channel, body, { threadTs, isSame });
  }

  function isCard({ id }: Change, again: boolean) {
    return again ? (text: string) => text.includes(` · ${id}`) : null;
  }

  function cardChannel(change: Change): string | null {
    return change.requires.channel ?? channels.approvals;
  }

  return {
    // Without an approvals channel the card is in the requester's direct messages.
    postCard: async (change, { again }): Promise<Position> => {
      const to = cardChannel(change) ?? change.requester;
      const card = await postTo(to, changeCard(change, drawing), { isSame: isCard(change, again) });
      previews.cardPosted(change.id, card);
      return card;
    },
    postDirectCard: (change, user, { again }) =>
      postTo(user, changeCard(change, drawing), { isSame: isCard(change, again) }),
    absentAmong: members.absentAmong,
    redrawCard: async (change, at) => {
      try {
        await updateMessage(posts, at, changeCard(change, drawing));
        return 'drawn';
      } catch (error) {
        if (refusedBySlack(error) === 'message_not_found') return 'deleted';
        return throwRefusal(error);
      }
    },
    postThreadUpdate: async (change, at, attempt) => {
      await permalinks.load([at]);
      const offer = buttons(`thread:${change.version}`, ...revertButtons(change));
      return postLine(at, attempt, threadLine(change, drawing), offer);
    },
    postFollowUp: (change, at, attempt) => postLine(at, attempt, followUpLine(change)),
    postRevertStopped: (change, at, why, attempt) =>
      postLine(at, attempt, revertStoppedLine(change, why)),
    postUnfreezeOffer: (change, at, attempt) => {
      const offer = buttons(`unfrozen:${change.version}`, revertButton(change, 'Revert'));
      return postLine(at, attempt, unfrozenLine(change), offer);
    },
    postReminder: async (change, at, reminder, attempt) => {
      await permalinks.load([at]);
      const snooze = { id: 'change.snooze', label: 'Snooze for 1 h', value: change.id };
      const offer = buttons(`reminder:${reminder}`, snooze);
      await postLine(at, attempt, reminderLine(change, reminder, drawing), offer);
    },
    messageRequester: async (change, at, attempt) => {
      const { requester } = change;
      // The mention in the thread has already notified members of the channel.
      if (at.channel.startsWith('D')) return;
      // An unknown answer only means that the user may be notified twice, which does no harm.
      if (await members.has(at.channel, requester)) return;
      await permalinks.load([at]);
      await postLine({ channel: requester }, attempt, directLine(change, drawing));
    },
    postThreadNote: (text, at, attempt) => postLine(at, attempt, [text]),
    postScheduleReminder: (change, at, ending, attempt) => {
      const offer = buttons(`schedule:${change.id}`, ...renewButtons(change));
      return postLine(at, attempt, scheduleReminderLine(change, ending), offer);
    },
    postBreakGlassUpdate: async (change, at, event, attempt) => {
      await permalinks.load([at]);
      await postLine(at, attempt, breakGlassThreadLine(event, change, drawing));
    },
    postAuditLine: async (change, attempt, event) => {
      if (!channels.audit) return;
      await permalinks.load([change.card]);
      const line: Line = event
        ? breakGlassFact(event, change, drawing)
        : [cardTitle(change, drawing.commands), ' · ', cardLink(change, change.id, drawing.linkOf)];
      await postLine({ channel: channels.audit }, attempt, line);
    },
    expectAnswer: ({ key, replyTo }, isHandled) => notices.expect(key, replyTo, isHandled),
    ...clickAnswers({ ...options, notices, previews, cardChannel }),
    postToChannel: (to, answer, threadTs) =>
      resultOf(postMessage(posts, to, answerMessage(answer), threadTs)),
    updateMessage: (at, answer) =>
      resultOf(updateMessage(posts, at, answerMessage(answer)).then(() => at)),
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
    findOwnMessages: (pattern) => findOwnTexts(options, channels.audit, pattern),
    showHome: async (user, found) => {
      if (found.ok) await permalinks.load(cardsIn(found.lists));
      const view = homeView(found, { drawing, commands });
      const blocks = withPlaces(options.places, view.blocks, { user, kind: 'home' });
      await posts.views.publish({ user_id: user, view: { ...view, blocks: [...blocks] } });
    },
  };
}

function cardsIn({ waiting, toAnswer, mine, running, recent }: HomeLists) {
  const answers = toAnswer.map(({ change }) => change);
  return [...waiting, ...answers, ...mine, ...running, ...recent].map(({ card }) => card);
}

function throwRefusal(error: unknown): never {
  throw postRefusal(error) ?? error;
}

/** A definite refusal of Slack is a value; an unknown outcome is thrown. */
async function resultOf(posted: Promise<Position>): Promise<PostResult> {
  try {
    return { ok: true, at: await posted };
  } catch (error) {
    const why = refusedBySlack(error);
    if (why === null) throw error;
    return { ok: false, why, again: why === 'ratelimited' };
  }
}
