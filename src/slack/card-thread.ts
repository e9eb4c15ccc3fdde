import { type Change, hasAuditMismatch, TARGET_TRAITS, type Verb } from '../domain/change.ts';
import { requirementFor } from '../domain/policy.ts';
import type { Reminder } from '../workflow/old/messenger-port.ts';
import { scheduleLine } from './card-plan.ts';
import { acceptedTitle, answerLabel } from './card-state.ts';
import { cardLink, openCard } from './links.ts';
import { actionText, type DrawContext, lowerActionText, lowerFirst, mentionOf } from './naming.ts';
import { stoppedLine } from './refusals.ts';
import type { Line } from './rich-text.ts';

/** A line with a mention of the requester: Slack sends no notification for a redrawn card. */
export function threadLine(change: Change, drawing: DrawContext): Line {
  return [{ user: change.requester }, ' ', ...news(change, drawing)];
}

/** The same for a requester who cannot see the thread. */
export function directLine(change: Change, drawing: DrawContext): Line {
  const { card } = change;
  const link = cardLink(change, 'The card', drawing.linkOf);
  const where: Line = card ? [' ', link, ' is in ', { channel: card.channel }, '.'] : [];
  return [...news(change, drawing), ...where];
}

const REMINDERS: Readonly<
  Record<Reminder, (change: Change, drawing: DrawContext) => { who: Line; text: Line }>
> = {
  waiting: (change, drawing) => ({
    who: mentionOf(change.requires.from, drawing),
    text: [
      `“${lowerActionText(change)}” still needs ${missing(change)}. It expires `,
      ...until(change),
      ...openCard(change, drawing.linkOf),
    ],
  }),
  escalated: (change, drawing) => ({
    who: mentionOf(change.requires.escalation?.to ?? null, drawing),
    text: [
      `“${lowerActionText(change)}” still needs ${missing(change)}, and you can now approve it too. `,
      'It expires ',
      ...until(change),
      ...openCard(change, drawing.linkOf),
    ],
  }),
  unknown: (change, drawing) => ({
    who: [
      { user: change.requester },
      ' ',
      ...mentionOf(currentApprovers(change, drawing), drawing),
    ],
    text: [
      `the outcome of “${lowerActionText(change)}” is still unknown, and other changes to this target `,
      'are blocked. Check the console, then answer on ',
      cardLink(change, 'the card', drawing.linkOf),
      '.',
    ],
  }),
};

export function reminderLine(change: Change, reminder: Reminder, drawing: DrawContext): Line {
  const { who, text } = REMINDERS[reminder](change, drawing);
  return [...who, ' ', ...text];
}

// The role of the request may have been renamed or removed since.
function currentApprovers({ command, plan, requires }: Change, { policy }: DrawContext) {
  const { from } = requires;
  if (from === null || policy.roles.has(from)) return from;
  return requirementFor(policy, { command, target: plan.target })?.from ?? null;
}

function missing({ requires, approvals }: Change): string {
  const count = requires.count - approvals.length;
  return count === 1 ? 'one more approval' : `${count} more approvals`;
}

function until({ expiresAt }: Change): Line {
  return [{ at: expiresAt }, '.'];
}

function news(change: Change, drawing: DrawContext): Line {
  const what = lowerActionText(change);
  const { rejection, resolution, stopReason: stopped } = change;
  if (hasAuditMismatch(change)) return [`${actionText(change)}: `, ...stoppedLine(change, drawing)];
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
    return [`“${what}” was not run. `, ...stoppedLine(change, drawing), ...afterFreeze(change)];
  }
  if (
    TARGET_TRAITS[change.plan.target.kind].appliedBy === 'signalbox' &&
    change.state === 'succeeded'
  ) {
    return [
      `“${what}” is done. `,
      cardLink(change, 'The card', drawing.linkOf),
      ' shows the details.',
    ];
  }
  return scheduleLine(change) ?? stateLine(change, drawing);
}

// The requester of a blocked revert does not have to remember when the freeze ends.
function afterFreeze({ parent, frozenBy }: Change): Line {
  if (!parent || !frozenBy) return [];
  return [
    ` Everything stays as ${parent} left it. When the freeze ends, Signalbox asks here again.`,
  ];
}

function stateLine(change: Change, { linkOf, commands }: DrawContext): Line {
  const { state } = change;
  const what = `“${lowerActionText(change)}”`;
  if (state === 'expired') return [`${what} expired before it was decided. Nothing was changed.`];
  const card = (text: string) => cardLink(change, text, linkOf);
  if (state === 'succeeded') {
    const fact = acceptedTitle(change, commands) ?? `${what} was accepted by the server`;
    return [`${fact}. `, card('The card'), ' shows the response.'];
  }
  if (state === 'failed') {
    const next = [card('The card'), ' shows why.'];
    return [`${what} was rejected by the server. Nothing was changed. `, ...next];
  }
  if (state !== 'unknown') return [`${what}: ${state}.`];
  const next = 'Check the console, then answer on ';
  return [`the outcome of ${what} is unknown. ${next}`, card('the card'), '.'];
}

const RECORDED: Readonly<Record<Verb, string>> = {
  confirm: 'Requested',
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Cancelled',
  'break-glass': 'Break-glass used',
  review: 'Review recorded',
  happened: 'Outcome recorded',
  'did-not-happen': 'Outcome recorded',
  snooze: 'Reminders snoozed for 1 h',
};

/** `Approved: “stop staging” (7KQ2MX).` */
export function recordedLine(
  { verb, change }: { readonly verb: Verb; readonly change: Change },
  { linkOf }: DrawContext,
): Line {
  const what = `${RECORDED[verb]}: “${lowerActionText(change)}” (`;
  return [what, cardLink(change, change.id, linkOf), ').'];
}
