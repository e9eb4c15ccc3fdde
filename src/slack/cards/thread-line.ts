import type { Change, RoleName } from '../../changes/change.ts';
import type { Reminder } from '../../workflow/messenger-port.ts';
import type { Line, RichInline } from '../blocks/rich-text.ts';
import type { Drawing } from './drawing.ts';
import { lowerActionText } from './naming.ts';
import { stoppedLine } from './stopped-line.ts';
import { scheduleLine } from './timing-lines.ts';

/** One line for the requester, who is told by it: a card that is redrawn tells nobody. */
export function threadLine(change: Change, drawing: Drawing): Line {
  return [{ user: change.requester }, ' ', ...news(change, drawing)];
}

/** The same for somebody who does not see the thread. */
export function directLine(change: Change, drawing: Drawing): Line {
  const where: Line = change.card
    ? [' The card is in ', { channel: change.card.channel }, '.']
    : [];
  return [...news(change, drawing), ...where];
}

const REMINDERS: Readonly<
  Record<Reminder, (change: Change, drawing: Drawing) => { who: Line; news: Line }>
> = {
  waiting: (change, drawing) => ({
    who: mentionOf(change.requires.from, drawing),
    news: [
      `“${lowerActionText(change)}” still waits for ${missing(change)}. It expires `,
      ...until(change),
    ],
  }),
  escalated: (change, drawing) => ({
    who: mentionOf(change.requires.escalation?.to ?? null, drawing),
    news: [
      `“${lowerActionText(change)}” has waited long enough that you may decide it as well: it lacks `,
      `${missing(change)}. It expires `,
      ...until(change),
    ],
  }),
  doubt: (change, drawing) => ({
    who: [{ user: change.requester }, ' ', ...mentionOf(change.requires.from, drawing)],
    news: [
      `nobody has said yet whether “${lowerActionText(change)}” happened, and nothing else runs there `,
      'meanwhile. Please look, then press on the card.',
    ],
  }),
};

export function reminderLine(change: Change, reminder: Reminder, drawing: Drawing): Line {
  const { who, news } = REMINDERS[reminder](change, drawing);
  return [...who, ' ', ...news];
}

function missing({ requires, approvals }: Change): string {
  const count = requires.count - approvals.length;
  return count === 1 ? 'one more approval' : `${count} more approvals`;
}

function until({ expiresAt }: Change): Line {
  return [{ at: expiresAt }, '.'];
}

/** A role is called by its groups, and where it has none by the people whom it names. */
export function mentionOf(role: RoleName | null, { policy, groupIds }: Drawing): Line {
  if (role === null) return [];
  const groups = groupIds(role).map((group) => ({ group }));
  const users = (policy.roles.get(role)?.users ?? []).map((user) => ({ user }));
  const called: readonly RichInline[] = groups.length > 0 ? groups : users;
  return called.flatMap((one, index) => (index > 0 ? [' ', one] : [one]));
}

function news(change: Change, drawing: Drawing): Line {
  const what = lowerActionText(change);
  const { rejection, resolution, stopped } = change;
  if (resolution) {
    const how = resolution.happened ? 'it happened' : 'it did not happen';
    return [`${what}: `, { user: resolution.by }, ` looked it up, and ${how}.`];
  }
  if (change.state === 'rejected' && rejection) {
    return [{ user: rejection.by }, ` rejected “${what}”: ${rejection.reason}`];
  }
  if (stopped) {
    return [`“${what}” was not run. `, ...stoppedLine(change, drawing), ...askedLater(change)];
  }
  if (change.plan.target.kind === 'freeze' && change.state === 'succeeded') {
    return [`“${what}” is done. The card above has the rest.`];
  }
  return scheduleLine(change) ?? [SENTENCES[change.state]?.(what) ?? `${what}: ${change.state}.`];
}

// Whoever relied on it being taken back must not have to remember the end of a freeze.
function askedLater({ parent, frozenBy }: Change): Line {
  if (!parent || !frozenBy) return [];
  return [` All stays as ${parent} left it. When the freeze is over, you are asked here.`];
}

const SENTENCES: Partial<Record<Change['state'], (what: string) => string>> = {
  succeeded: (what) => `“${what}” was accepted by the server. The card above has what it reported.`,
  failed: (what) => `“${what}” was refused by the server; nothing was changed. The card says why.`,
  unknown: (what) =>
    `nobody knows whether “${what}” happened. Please look, then press on the card.`,
  expired: (what) => `“${what}” expired before it was decided; nothing was changed.`,
};
