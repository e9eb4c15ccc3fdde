import type { Change, RoleName } from '../../changes/change.ts';
import { TARGET_TRAITS } from '../../changes/target-kinds.ts';
import type { Reminder } from '../../workflow/messenger-port.ts';
import type { Line, RichInline } from '../blocks/rich-text.ts';
import type { Drawing } from './drawing.ts';
import { lowerActionText } from './naming.ts';
import { stoppedLine } from './refusals.ts';
import { scheduleLine } from './timing-lines.ts';

/** A line with a mention of the requester: Slack sends no notification for a redrawn card. */
export function threadLine(change: Change, drawing: Drawing): Line {
  return [{ user: change.requester }, ' ', ...news(change, drawing)];
}

/** The same for a requester who cannot see the thread. */
export function directLine(change: Change, drawing: Drawing): Line {
  const where: Line = change.card
    ? [' The card is in ', { channel: change.card.channel }, '.']
    : [];
  return [...news(change, drawing), ...where];
}

const REMINDERS: Readonly<
  Record<Reminder, (change: Change, drawing: Drawing) => { who: Line; text: Line }>
> = {
  waiting: (change, drawing) => ({
    who: mentionOf(change.requires.from, drawing),
    text: [
      `“${lowerActionText(change)}” still needs ${missing(change)}. It expires `,
      ...until(change),
    ],
  }),
  escalated: (change, drawing) => ({
    who: mentionOf(change.requires.escalation?.to ?? null, drawing),
    text: [
      `“${lowerActionText(change)}” still needs ${missing(change)}, and you can now approve it too. `,
      'It expires ',
      ...until(change),
    ],
  }),
  unknown: (change, drawing) => ({
    who: [{ user: change.requester }, ' ', ...mentionOf(change.requires.from, drawing)],
    text: [
      `the outcome of “${lowerActionText(change)}” is still unknown, and other changes to this target `,
      'are blocked. Check the console, then answer on the card.',
    ],
  }),
};

export function reminderLine(change: Change, reminder: Reminder, drawing: Drawing): Line {
  const { who, text } = REMINDERS[reminder](change, drawing);
  return [...who, ' ', ...text];
}

function missing({ requires, approvals }: Change): string {
  const count = requires.count - approvals.length;
  return count === 1 ? 'one more approval' : `${count} more approvals`;
}

function until({ expiresAt }: Change): Line {
  return [{ at: expiresAt }, '.'];
}

/** Mentions the groups of a role, or its listed users when it has no group. */
export function mentionOf(role: RoleName | null, { policy, groupIds }: Drawing): Line {
  if (role === null) return [];
  const groups = groupIds(role).map((group) => ({ group }));
  const users = (policy.roles.get(role)?.users ?? []).map((user) => ({ user }));
  const mentions: readonly RichInline[] = groups.length > 0 ? groups : users;
  return mentions.flatMap((one, index) => (index > 0 ? [' ', one] : [one]));
}

function news(change: Change, drawing: Drawing): Line {
  const what = lowerActionText(change);
  const { rejection, resolution, stopReason: stopped } = change;
  if (resolution) {
    const how = resolution.happened ? 'it happened' : 'it did not happen';
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
    return [`“${what}” is done. The card shows the details.`];
  }
  return scheduleLine(change) ?? [SENTENCES[change.state]?.(what) ?? `${what}: ${change.state}.`];
}

// The requester of a blocked revert does not have to remember when the freeze ends.
function afterFreeze({ parent, frozenBy }: Change): Line {
  if (!parent || !frozenBy) return [];
  return [
    ` Everything stays as ${parent} left it. When the freeze ends, Signalbox asks here again.`,
  ];
}

const SENTENCES: Partial<Record<Change['state'], (what: string) => string>> = {
  succeeded: (what) => `“${what}” was accepted by the server. The card shows the response.`,
  failed: (what) =>
    `“${what}” was rejected by the server. Nothing was changed. The card shows why.`,
  unknown: (what) =>
    `the outcome of “${what}” is unknown. Check the console, then answer on the card.`,
  expired: (what) => `“${what}” expired before it was decided. Nothing was changed.`,
};
