import type { Change } from '../changes/change.ts';
import type { Refusal } from '../changes/refusal.ts';
import { denialOf } from '../workflow/denial.ts';
import type { Drawing } from './card.ts';
import { lowerDeed } from './naming.ts';
import { refusalLine } from './refusals.ts';
import type { Line } from './rich.ts';

/** One line for the requester, who is told by it: a card that is redrawn tells nobody. */
export function threadLine(change: Change, { policy }: Drawing): Line {
  return [{ user: change.requester }, ' ', ...news(change, policy)];
}

function news(change: Change, policy: Drawing['policy']): Line {
  const what = lowerDeed(change);
  const { rejection, resolution, stopped } = change;
  if (resolution) {
    const how = resolution.happened ? 'it happened' : 'it did not happen';
    return [`${what}: `, { user: resolution.by }, ` looked it up, and ${how}.`];
  }
  if (change.state === 'rejected' && rejection) {
    return [{ user: rejection.by }, ` rejected “${what}”: ${rejection.reason}`];
  }
  if (stopped) {
    // Stored by us from the closed list of refusals, and read back as text.
    const denial = denialOf(stopped as Refusal, { change, role: change.requires.to });
    return [`“${what}” was not run. `, ...refusalLine(denial, policy)];
  }
  return [SENTENCES[change.state]?.(what) ?? `${what}: ${change.state}.`];
}

const SENTENCES: Partial<Record<Change['state'], (what: string) => string>> = {
  succeeded: (what) => `“${what}” was accepted by the server. The card above has what it reported.`,
  failed: (what) => `“${what}” was refused by the server; nothing was changed. The card says why.`,
  unknown: (what) =>
    `nobody knows whether “${what}” happened. Please look, then press on the card.`,
  expired: (what) => `“${what}” expired before it was decided; nothing was changed.`,
};
