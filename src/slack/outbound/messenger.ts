import type { WebClient } from '@slack/web-api';
import type { Change, ChannelId, Position } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';
import type { Command } from '../../intent/define.ts';
import type { ClickOutcome, ReplyTo } from '../../workflow/clicks.ts';
import type { Denial } from '../../workflow/denial.ts';
import type { Messenger, PostAttempt } from '../../workflow/messenger-port.ts';
import { buttons, lines, type Message, message } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { breakGlassFact, breakGlassThreadLine } from '../cards/break-glass.ts';
import { cardTitle, changeCard } from '../cards/card.ts';
import type { Drawing } from '../cards/drawing.ts';
import { homeView } from '../cards/home.ts';
import { answeredPreview } from '../cards/preview.ts';
import { refusalLine } from '../cards/refusals.ts';
import { directLine, reminderLine, threadLine } from '../cards/thread-line.ts';
import {
  revertButton,
  revertButtons,
  revertStoppedLine,
  unfrozenLine,
} from '../cards/timing-lines.ts';
import { createBroadcast } from './channel-posts.ts';
import { createPressAnswer } from './click-reply.ts';
import { findOwnNote } from './find-note.ts';
import { findOwnMessages, isInRoom, type Sought } from './find-own-message.ts';
import type { Respond } from './response-url.ts';

export interface Channels {
  readonly approvals: string | null;
  readonly audit: string | null;
}

interface Options {
  readonly posts: WebClient;
  readonly lookups: WebClient;
  /** Who we are, to tell our messages from other people's. */
  readonly botId: string;
  readonly respond: Respond;
  readonly drawing: Drawing;
  readonly channels: Channels;
  readonly commands: readonly Command[];
}

interface Told extends PostAttempt {
  readonly threadTs?: string;
}

/** A preview whose question is settled for good goes away with its buttons. */
const TRY_AGAIN: readonly Refusal[] = ['lookup-failed', 'lost-race'];

export function createMessenger(options: Options): Messenger {
  const { posts, lookups, botId, respond, drawing, channels, commands } = options;
  const quiet = { unfurl_links: false, unfurl_media: false } as const;

  async function post(
    channel: string,
    { text, blocks }: Message,
    { threadTs, known }: { threadTs?: string; known?: Sought['isIt'] | null } = {},
  ) {
    const sought = known && { channel, threadTs, isIt: known };
    const there = sought && (await findOwnMessages(lookups, botId, sought));
    if (there) return there;
    const thread = threadTs ? { thread_ts: threadTs } : {};
    // Blocks newer than Slack's published types are objects all the same.
    const body = { channel, text, blocks: blocks as never[], ...thread, ...quiet };
    const answer = await posts.chat.postMessage(body);
    if (!answer.ts || !answer.channel) throw new Error('Slack posted without saying where');
    return { channel: answer.channel as ChannelId, ts: answer.ts };
  }

  /** A line that stands there once, also where the answer to its first post was lost. */
  async function tell(channel: string, line: Message, { again, threadTs }: Told): Promise<void> {
    const known = again ? (text: string) => text === line.text : null;
    await post(channel, line, { ...(threadTs ? { threadTs } : {}), known });
  }

  async function redrawCard(change: Change, at: Position): Promise<void> {
    const { text, blocks } = changeCard(change, drawing);
    await posts.chat.update({ ...at, text, blocks: blocks as never[], parse: 'none' });
  }

  async function answer(replyTo: ReplyTo, clicked: ClickOutcome): Promise<void> {
    const answered = answerTo(replyTo, clicked);
    if (!answered) return;
    if (!replyTo.url) return tellAlone(replyTo, answered);
    // An address lives for half an hour, and a question may be thought over for longer.
    await respond(replyTo.url, answered).catch(async (cause: unknown) => {
      await tellAlone(replyTo, answered);
      throw new Error('It went to the messages of whoever pressed instead', { cause });
    });
  }

  // Where there is no address to answer to, the person's own messages are left.
  async function tellAlone({ user }: ReplyTo, { text, blocks }: Message): Promise<void> {
    await posts.chat.postMessage({ channel: user, text, blocks: blocks as never[], ...quiet });
  }

  function answerTo(replyTo: ReplyTo, clicked: ClickOutcome) {
    if (!clicked.ok) {
      const asked = ownAsked(replyTo, clicked.denial);
      if (asked) return { ...answeredPreview(asked, cardChannel(asked)), replace: true };
      const line = refusalLine(clicked.denial, drawing);
      const replace = replyTo.replaces && !TRY_AGAIN.includes(clicked.denial.refusal);
      return { ...message(lines(line)), replace };
    }
    if (!replyTo.replaces) return null;
    return { ...answeredPreview(clicked.change, cardChannel(clicked.change)), replace: true };
  }

  /** A second click on one's own preview is answered like the first: where its card is. */
  function ownAsked({ user, replaces }: ReplyTo, { refusal, change }: Denial): Change | null {
    return replaces && refusal === 'not-draft' && change?.requester === user ? change : null;
  }

  function cardChannel(change: Change): string | null {
    return change.requires.channel ?? channels.approvals;
  }

  return {
    // Without a channel the requester's own messages hold the card.
    postCard: (change, { again }) =>
      post(cardChannel(change) ?? change.requester, changeCard(change, drawing), {
        known: again ? (text) => text.includes(` · ${change.id}`) : null,
      }),
    redrawCard,
    postThreadUpdate: async (change, at, { again }) => {
      const offer = buttons(`thread:${change.version}`, ...revertButtons(change));
      const line = message(lines(threadLine(change, drawing)), offer);
      await tell(at.channel, line, { again, threadTs: at.ts });
    },
    postRevertStopped: (change, at, why, { again }) =>
      tell(at.channel, message(lines(revertStoppedLine(change, why))), { again, threadTs: at.ts }),
    postUnfreezeOffer: (change, at, { again }) => {
      const offer = buttons(`unfrozen:${change.version}`, revertButton(change, 'Revert'));
      const line = message(lines(unfrozenLine(change)), offer);
      return tell(at.channel, line, { again, threadTs: at.ts });
    },
    postReminder: (change, at, reminder, { again }) => {
      const line = reminderLine(change, reminder, drawing);
      return tell(at.channel, message(lines(line)), { again, threadTs: at.ts });
    },
    messageRequester: async (change, at, how) => {
      const { requester } = change;
      // Whoever is in the channel was called by the mention in the thread.
      if (at.channel.startsWith('D') || (await isInRoom(lookups, at.channel, requester))) return;
      await tell(requester, message(lines(directLine(change, drawing))), how);
    },
    postCostEffect: (text, at, { again }) =>
      tell(at.channel, message(lines([text])), { again, threadTs: at.ts }),
    postBreakGlassUpdate: (change, at, news, { again }) => {
      const line = message(lines(breakGlassThreadLine(news, change, drawing)));
      return tell(at.channel, line, { again, threadTs: at.ts });
    },
    postAuditLine: async (change, how, news) => {
      if (!channels.audit) return;
      const line: Line = news
        ? breakGlassFact(news, change)
        : [cardTitle(change), ' · ', change.id];
      await tell(channels.audit, message(lines(line)), how);
    },
    answerClick: answer,
    ...createPressAnswer(options),
    ...createBroadcast(options),
    findOwnMessage: (pattern) => findOwnNote({ lookups, botId, channel: channels.audit }, pattern),
    showHome: async (user, found) => {
      await posts.views.publish({ user_id: user, view: homeView(found, { drawing, commands }) });
    },
  };
}
