import { type Alert, isSilenced, SERVER_MANAGED } from '../../alerts/schema.ts';
import type { JsonObject, Snapshot } from '../../changes/change.ts';
import type { Cell } from './answer.ts';

/** What an alert watches for, in the server's own words: `above 100`, `between 5 and 10`. */
export function thresholdText({ thresholdType, threshold, thresholdMax }: Alert): string | null {
  if (threshold === null) return thresholdType;
  const isRange = thresholdType === 'between' || thresholdType === 'not_between';
  const upper = isRange ? ` and ${thresholdMax ?? '?'}` : '';
  return `${(thresholdType ?? '?').replaceAll('_', ' ')} ${threshold}${upper}`;
}

export function channelText({ channels }: Alert): string | null {
  const texts = channels.map(({ type, webhookId, emailRecipients }) => {
    const to = webhookId ?? (Array.isArray(emailRecipients) ? emailRecipients.join(' ') : '');
    return `${String(type ?? 'unknown')} ${String(to)}`.trim();
  });
  return texts.length > 0 ? texts.join(', ') : null;
}

/** Silence ends by itself: a time that has passed is none. */
export function silenceCell(alert: Alert, now: Date): Cell {
  if (!isSilenced(alert, now)) return null;
  const { silenced } = alert;
  const until = typeof silenced === 'object' && silenced !== null ? silenced.until : null;
  return until ? new Date(until) : 'silenced';
}

/** Where it notifies, without the ids: `webhook, webhook`. */
export function channelKinds({ channels }: Alert): string | null {
  return channels.map(({ type }) => String(type ?? 'unknown')).join(', ') || null;
}

/** An alert as it was just read: what an update carries, apart from what changes by itself. */
export function alertSnapshot(alert: Alert, seenAt: Date): Snapshot {
  const entries = Object.entries(alert.asRead);
  const own = entries.filter(([key]) => !SERVER_MANAGED.includes(key));
  const beside = alert.state === null ? {} : { state: alert.state };
  // It came as JSON, and is JSON all the way down.
  return {
    fields: Object.fromEntries(own) as JsonObject,
    volatileFields: beside,
    seenAt,
    source: 'read just now',
  };
}
