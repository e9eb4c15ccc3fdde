import type { WebClient } from '@slack/web-api';
import type { Change, Position } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';
import type { Command } from '../../intent/define.ts';
import type { ClickOutcome, ReplyTo } from '../../workflow/clicks.ts';
import type { Denial } from '../../workflow/denial.ts';
import type { Messenger, PostAttempt } from '../../workflow/messenger-port.ts';
import { answerMessage } from '../blocks/answer-blocks.ts';
import { buttons, lines, type Message, message } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { breakGlassFact, breakGlassThreadLine } from '../cards/break-glass.ts';
import { cardTitle, changeCard } from '../cards/card.ts';
import type { Drawing } from '../cards/drawing.ts';
import { homeView } from '../cards/home.ts';
import { answeredPreview } from '../cards/preview.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { directLine, reminderLine, threadLine } from '../cards/thread-line.ts';
import {
  revertButton,
  revertButtons,
  revertStoppedLine,
  unfrozenLine,
} from '../cards/timing-lines.ts';
import { createChannelPosts } from './channel-posts.ts';
import { findNewestOwnText, isChannelMember, type OwnMessages } from './find-own-message.ts';
import { postMessage, postOnce, updateMessage } from './post.ts';
import type { Respond } from './response-url.ts';

export interface Channels {
  readonly approvals: string | null;
  readonly audit: string | null;
}

interface Options extends OwnMessages {
  readonly posts: WebClient;
  readonly respond: Respond;
  readonly drawing: Drawing;
  readonly channels: Channels;
  readonly commands: readonly Command[];
}

/** After these refusals the same button may work later, so its preview stays. */
const RETRYABLE: readonly Refusal[] = ['lookup-failed', 'already-received'];

export function createMessenger(options: Options): Messenger {
  const { posts, lookups, respond, drawing, channels, commands } = options;

  /** Posts a line in a channel or thread; after a lost answer only if it is not there yet. */
  async function postLine(
    { channel, ts: threadTs }: { readonly channel: string; readonly ts?: string },
    { again }: PostAttempt,
    line: Line,
    offer: ReturnType<typeof buttons> = null,
  ): Promise<void> {
    const body = message(lines(line), offer);
    const isSame = again ? (text: string) => text === body.text : null;
    await postOnce(options, channel, body, { threadTs, isSame });
  }

  async function answerClick(replyTo: ReplyTo, clicked: ClickOutcome): Promise<void> {
    const answer = answerTo(replyTo, clicked);
    if (!answer) return;
    const { url, user } = replyTo;
    if (!url) return void (await postMessage(posts, user, answer));
    // A response URL expires after 30 minutes, and a form can stay open for longer.
    await respond(url, answer).catch(async (cause: unknown) => {
      await postMessage(posts, user, answer);
      throw new Error('The answer was sent as a direct message instead', { cause });
    });
  }

  function answerTo(replyTo: ReplyTo, clicked: ClickOutcome) {
    const { replaces } = replyTo;
    if (clicked.ok) return replaces ? replacePreview(clicked.change) : null;
    const requested = requestedBefore(replyTo, clicked.denial);
    if (requested) return replacePreview(requested);
    const replace = replaces && !RETRYABLE.includes(clicked.denial.refusal);
    return { ...refusalMessage(clicked.denial, drawing), replace };
  }

  function replacePreview(change: Change): Message & { readonly replace: boolean } {
    return { ...answeredPreview(change, cardChannel(change)), replace: true };
  }

  /** A second click on the requester's own preview is answered like the first. */
  function requestedBefore({ user, replaces }: ReplyTo, { refusal, change }: Denial) {
    return replaces && refusal === 'not-draft' && change?.requester === user ? change : null;
  }

  function cardChannel(change: Change): string | null {
    return change.requires.channel ?? channels.approvals;
  }

  return {
    // Without an approvals channel the card is in the requester's direct messages.
    postCard: (change, { again }): Promise<Position> =>
      postOnce(options, cardChannel(change) ?? change.requester, changeCard(change, drawing), {
        isSame: again ? (text) => text.includes(` · ${change.id}`) : null,
      }),
    redrawCard: (change, at) => updateMessage(posts, at, changeCard(change, drawing)),
    postThreadUpdate: (change, at, attempt) => {
      const offer = buttons(`thread:${change.version}`, ...revertButtons(change));
      return postLine(at, attempt, threadLine(change, drawing), offer);
    },
    postRevertStopped: (change, at, why, attempt) =>
      postLine(at, attempt, revertStoppedLine(change, why)),
    postUnfreezeOffer: (change, at, attempt) => {
      const offer = buttons(`unfrozen:${change.version}`, revertButton(change, 'Revert'));
      return postLine(at, attempt, unfrozenLine(change), offer);
    },
    postReminder: (change, at, reminder, attempt) =>
      postLine(at, attempt, reminderLine(change, reminder, drawing)),
    messageRequester: async (change, at, attempt) => {
      const { requester } = change;
      // The mention in the thread has already notified members of the channel.
      if (at.channel.startsWith('D')) return;
      if (await isChannelMember(lookups, at.channel, requester)) return;
      await postLine({ channel: requester }, attempt, directLine(change, drawing));
    },
    postCostEffect: (text, at, attempt) => postLine(at, attempt, [text]),
    postBreakGlassUpdate: (change, at, event, attempt) =>
      postLine(at, attempt, breakGlassThreadLine(event, change, drawing)),
    postAuditLine: async (change, attempt, event) => {
      if (!channels.audit) return;
      const line: Line = event
        ? breakGlassFact(event, change)
        : [cardTitle(change), ' · ', change.id];
      await postLine({ channel: channels.audit }, attempt, line);
    },
    answerClick,
    answerIncidentClick: async ({ url, user }, clicked) => {
      const answer = clicked.ok
        ? answerMessage(clicked.answer)
        : refusalMessage(clicked.denial, drawing);
      if (url) return respond(url, { ...answer, replace: false });
      await postMessage(posts, user, answer);
    },
    ...createChannelPosts(options),
    findOwnMessage: (pattern) => findNewestOwnText(options, channels.audit, pattern),
    showHome: async (user, found) => {
      await posts.views.publish({ user_id: user, view: homeView(found, { drawing, commands }) });
    },
  };
}
