import { type Change, isLocal, type RoleName, type Verb } from '../domain/change.ts';
import { lessParts } from '../domain/narrow.ts';
import { requirementFor } from '../domain/policy.ts';
import {
  occurrenceText,
  SCHEDULE_DAYS,
  scheduleCommandLine,
  scheduleText,
  timesOf,
} from '../domain/schedules.ts';
import { STATE_WORDS, wordOf } from '../domain/words.ts';
import type {
  BreakGlassEvent,
  Mark,
  Reminder,
  RevertStopReason,
  ScheduleNews,
} from '../workflow/index.ts';
import { type Button, fact } from './blocks.ts';
import { acceptedTitle, answerLabel, CHECK, lateNote, wasRefusedHere } from './card-state.ts';
import { cardLink, openCard } from './links.ts';
import {
  callRequester,
  type DrawContext,
  lowerActionText,
  lowerFirst,
  mentionOf,
  roleText,
} from './naming.ts';
import { stoppedLine } from './refusals.ts';
import type { Line } from './rich-text.ts';

// The lines below a card, in its thread or in direct messages, and the buttons of these lines.

/**
 * The note before a request: the first one of a claim decides that it may be sent. In the thread of a standing approval,
 * the use that the mark names.
 */
export function sendingLine(change: Change, { hash }: Mark): Line {
  const { uses = [] } = change;
  const place = uses.findIndex((use) => use.hash === hash);
  const use = uses[place];
  if (use)
    return [`Use ${place + 1} of ${change.plan.body.uses}: ${use.change}, by `, { user: use.by }];
  return [`Sending “${lowerActionText(change)}” (${change.id})…`];
}

/**
 * A line that mentions the requester, and for an unknown outcome those who may record it: Slack sends no notification
 * for a redrawn card.
 */
export function threadLine(change: Change, drawing: DrawContext): Line {
  // Its requester reads it in private.
  if (isLowered(change)) return news(change, drawing);
  const others = change.state === 'unknown' ? mentionsOfApprovers(change, drawing) : [];
  return [...callRequester(change), ...others, ...news(change, drawing)];
}

/** The same for a requester who cannot see the thread. */
export function directLine(change: Change, drawing: DrawContext): Line {
  const { card } = change;
  const link = cardLink(change, 'The card', drawing.linkOf);
  const where: Line = card ? [' ', link, ' is in ', { channel: card.channel }, '.'] : [];
  return [...news(change, drawing), ...where];
}

/** Whether the news is that an approver lowered it: no other event of these states is reported. */
export function isLowered({ state, narrowings = [], notSent }: Change): boolean {
  return narrowings.length > 0 && !notSent && (state === 'pending' || state === 'approved');
}

function news(change: Change, drawing: DrawContext): Line {
  const what = lowerActionText(change);
  const { rejection, resolution, stopReason: stopped, narrowings = [] } = change;
  const less = narrowings.at(-1);
  if (less && isLowered(change)) {
    const parts = lessParts(less.wider.plan, change.plan);
    return [{ user: less.by }, ` approved “${what}” with less: `, ...parts, '.'];
  }
  if (change.revoked) {
    const { by } = change.revoked;
    const who: Line = by === 'signalbox' ? ['Signalbox'] : [{ user: by }];
    return [...who, ` revoked “${what}”: nothing runs by it any more.`];
  }
  if (resolution) {
    const how = lowerFirst(answerLabel(change, resolution.happened, drawing.commands));
    if (resolution.by === 'signalbox') {
      return [`“${what}” was applied: the server shows what was requested, and did not before.`];
    }
    return [{ user: resolution.by }, ` checked “${what}”: ${how}.`];
  }
  if (change.state === 'rejected' && rejection) {
    return [{ user: rejection.by }, ` rejected “${what}”: ${rejection.reason}`];
  }
  if (stopped) {
    return [`“${what}” was not run. `, ...stoppedLine(change, drawing)];
  }
  if (isLocal(change) && change.state === 'succeeded') {
    const card = cardLink(change, 'The card', drawing.linkOf);
    return [`“${what}” is done. `, card, ' shows the details.'];
  }
  return stateLine(change, drawing);
}

const CHECK_FIRST = 'Check the console, then answer on ';

function stateLine(change: Change, { linkOf, commands }: DrawContext): Line {
  const { state, parent, notBefore, notSent, expiresAt: at } = change;
  const what = `“${lowerActionText(change)}”`;
  if (state === 'expired' && notBefore) {
    const late = `could not start within ${parent ? 'a day' : 'an hour'}`;
    return [`${what} was scheduled for `, { at: notBefore }, ` and ${late}. Nothing was done.`];
  }
  if (state === 'expired') return [`${what} expired before it was decided. Nothing was changed.`];
  const card = (text: string) => cardLink(change, text, linkOf);
  if (state === 'succeeded') {
    const fact = acceptedTitle(change, commands) ?? `${what} was accepted by the server`;
    return [`${fact}. `, card('The card'), ' shows the response.'];
  }
  if (state === 'failed') {
    const how = wasRefusedHere(change) ? 'was not done' : 'was rejected by the server';
    return [`${what} ${how}. Nothing was changed. `, card('The card'), ' shows why.'];
  }
  // The time of the next attempt is on the card: a second try of this message must have the same text.
  if (state === 'approved' && notSent)
    return [`${what} was not sent yet: ${notSent.why} Signalbox retries until `, { at }, '.'];
  if (state !== 'unknown') return [`${what}: ${STATE_WORDS[state]}.`];
  const late = lateNote(change);
  const next = late
    ? `Its answer came late: ${late.replace(/\.*$/, '.')} Record the outcome on `
    : CHECK_FIRST;
  return [`the outcome of ${what} is unknown. ${next}`, card('the card'), '.'];
}

/** In the thread, once: how the target ended. The requester was notified of the accepted change, so a success is quiet. */
export function followUpLine(change: Change): Line {
  const { followUp: follow } = change;
  const what = `“${lowerActionText(change)}”`;
  const who = callRequester(change);
  const { seen = null, state, gap = null } = follow ?? {};
  const shown: Line = seen ? [`${wordOf(seen.text)}, since `, { at: seen.at }, '.'] : ['unknown.'];
  if (state === 'settled') return [`${what} is done. The server shows: `, ...shown];
  if (state === 'failed') {
    return [...who, `${what} was accepted and then failed. The server shows: `, ...shown, ...CHECK];
  }
  if (gap !== null) {
    const unread = `Signalbox could not read whether ${what} is done: ${gap}. Last seen: `;
    return [...who, unread, ...shown, ...CHECK];
  }
  return [...who, `${what} is not done after 30 min. Last seen: `, ...shown, ...CHECK];
}

const REVERT_STOP_TEXTS: Readonly<Record<RevertStopReason, string>> = {
  restored: 'the database lost events that people saw, so the revert may have run already',
  moved: 'the target was changed again since',
  gone: 'the server no longer knows the target',
  late: 'Signalbox could not run the revert within a day of its scheduled time',
  unclear: 'the revert does not fit the current values',
};

/** In the thread of a change whose revert does not run. */
export function revertStoppedLine(change: Change, why: RevertStopReason): Line {
  const what = `“${lowerActionText(change)}” is not reverted automatically`;
  const next = 'Check the target and revert it yourself if needed.';
  return [...callRequester(change), `${what}: ${REVERT_STOP_TEXTS[why]}. ${next}`];
}

/** In the thread of a revert that a freeze blocked, once the freeze has ended. */
export function unfrozenLine(change: Change): Line {
  const { parent, plan } = change;
  return [
    ...callRequester(change),
    `${plan.target.name} is no longer frozen. The freeze blocked “${lowerActionText(change)}”, `,
    `so everything is still as ${parent} left it. Revert it now?`,
  ];
}

type ReminderLine = (change: Change, drawing: DrawContext) => Line;

/** Whom a reminder mentions, and what they have to do. */
export const REMINDER_LINES: Readonly<Record<Reminder, ReminderLine>> = {
  waiting: (change, drawing) => missingApprovals(change, change.requires.from, drawing),
  escalated: (change, drawing) => {
    const also = ', and you can now approve it too';
    return missingApprovals(change, change.requires.escalation?.to ?? null, drawing, also);
  },
  unknown: (change, drawing) => [
    ...callRequester(change),
    ...mentionsOfApprovers(change, drawing),
    `the outcome of “${lowerActionText(change)}” is still unknown, and other changes to this target `,
    `are blocked. ${CHECK_FIRST}`,
    cardLink(change, 'the card', drawing.linkOf),
    '.',
  ],
};

function mentionsOfApprovers(change: Change, drawing: DrawContext): Line {
  const mentions = mentionOf(currentApprovers(change, drawing), drawing);
  return mentions.length > 0 ? [...mentions, ': '] : [];
}

// The role of the request may have been renamed or removed since.
function currentApprovers({ command, plan, requires }: Change, { policy }: DrawContext) {
  const { from } = requires;
  if (from === null || policy.roles.has(from)) return from;
  return requirementFor(policy, { command, target: plan.target })?.from ?? null;
}

function missingApprovals(
  change: Change,
  role: RoleName | null,
  drawing: DrawContext,
  also = '',
): Line {
  const left = change.requires.count - change.approvals.length;
  const missing = left === 1 ? 'one more approval' : `${left} more approvals`;
  const needs = `“${lowerActionText(change)}” still needs ${missing}${also}. It expires `;
  const expires: Line = [{ at: change.expiresAt }, '.', ...openCard(change, drawing.linkOf)];
  return [...mentionOf(role, drawing), ' ', needs, ...expires];
}

/** In the thread of a schedule that expires soon, or has expired. */
export function scheduleReminderLine(
  change: Change,
  { until, hasExpired }: { readonly until: Date; readonly hasExpired: boolean },
): Line {
  const { plan } = change;
  const times = scheduleText(timesOf({ fields: plan.body }));
  const what = `the schedule of ${plan.target.name}, ${times},`;
  const next = ` Renew it to use it for ${SCHEDULE_DAYS} more days.`;
  const when: Line = hasExpired
    ? [`${what} has expired. Nothing runs any more.`]
    : [`${what} expires `, { at: until }, '.'];
  return [...callRequester(change), ...when, next];
}

/** On the card of a schedule: its last run and its next one. */
export function scheduleNewsLines(news: ScheduleNews): readonly Line[] {
  const { zone, isPaused, hasEnded, next, last } = news;
  const what = last ? occurrenceText(last.occurrence, zone) : '';
  const { state: ended = 'unknown', id = '' } = last?.run ?? {};
  const words = ended === 'unknown' ? 'outcome unknown' : STATE_WORDS[ended];
  const run = last?.run ? `${words} (${id})` : `skipped: ${last?.skipped}`;
  const following: Line = next ? [`${next.action} `, { at: next.at }] : ['none before its end'];
  const state: Line = hasEnded ? ['none: it has ended'] : isPaused ? ['none: it is paused'] : [];
  return [
    ...(last ? [fact('Last run', `${what}: ${run}`)] : []),
    fact('Next run', ...(state.length > 0 ? state : following)),
  ];
}

/** Requests the same schedule again: a new change with a preview and its own approvals. */
export function renewButtons({ plan, reason }: Change): readonly Button[] {
  const { id, name } = plan.target;
  const line = scheduleCommandLine({ service: { id, name }, ...timesOf({ fields: plan.body }) });
  // A reason that contains a quote is not quoted: the inner quote would end it.
  const why = reason === null ? '' : reason.includes('"') ? ` ${reason}` : ` "${reason}"`;
  return [{ id: 'command.0', label: 'Renew…', value: `${line}${why}` }];
}

/** The line in the thread. It mentions the skipped approvers, or after a review the requester. */
export function breakGlassThreadLine(
  news: BreakGlassEvent,
  change: Change,
  drawing: DrawContext,
): Line {
  const { from, breakGlass } = change.requires;
  const fact = breakGlassFact(news, change, drawing);
  if (news === 'reviewed') return [...callRequester(change), ...fact];
  const next = ' Someone else must review it afterwards, with the button on ';
  const card = cardLink(change, 'the card', drawing.linkOf);
  return [...mentionOf(from ?? breakGlass, drawing), ' ', ...fact, next, card, '.'];
}

/** The same for the audit channel, without a mention. */
export function breakGlassFact(
  news: BreakGlassEvent,
  change: Change,
  { linkOf, policy }: DrawContext,
): Line {
  const { breakGlass, review, requires, id } = change;
  const what: Line = [`“${lowerActionText(change)}” (`, cardLink(change, id, linkOf), ')'];
  if (news === 'reviewed' && review) {
    return [{ user: review.by }, ' reviewed the break-glass use of ', ...what, `: ${review.note}`];
  }
  if (!breakGlass) throw new Error(`${id} was not run with break-glass`);
  return [
    { user: breakGlass.by },
    ' used break-glass: ',
    ...what,
    ` runs without the approvals of ${roleText(policy, requires.from)}. `,
    `Reason: ${breakGlass.reason}.`,
  ];
}

const RECORDED: Readonly<Record<Verb, string>> = {
  confirm: 'Requested',
  approve: 'Approved',
  narrow: 'Approved with less',
  reject: 'Rejected',
  cancel: 'Cancelled',
  'break-glass': 'Break-glass used',
  review: 'Review recorded',
  happened: 'Outcome recorded',
  'did-not-happen': 'Outcome recorded',
  revoke: 'Revoked',
};

/** `Approved: “stop staging” (7KQ2MX).` */
export function recordedLine(
  { verb, change }: { readonly verb: Verb; readonly change: Change },
  { linkOf }: DrawContext,
): Line {
  const what = `${RECORDED[verb]}: “${lowerActionText(change)}” (`;
  return [what, cardLink(change, change.id, linkOf), ').'];
}
