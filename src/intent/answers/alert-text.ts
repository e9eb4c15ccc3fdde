import type { JsonObject } from '../../base/text.ts';
import type { Cell } from '../../domain/answer.ts';
import type { Snapshot } from '../../domain/change.ts';
import { type AlertNames, notifiesText } from '../../servers/alerts-reads.ts';
import { type Alert, isSilenced, SERVER_MANAGED } from '../../servers/alerts-schema.ts';

/** What users read for the fields of an alert, which have other names in the API. */
const LABELS: Readonly<Record<string, string>> = {
  thresholdType: 'Type',
  thresholdMax: 'Upper bound',
  webhookId: 'Webhook',
  dashboardId: 'Dashboard',
  tileId: 'Tile',
  savedSearchId: 'Saved search',
  groupBy: 'Group by',
  silenced: 'Silence',
  numConsecutiveWindows: 'Consecutive windows',
  scheduleOffsetMinutes: 'Schedule offset (minutes)',
  scheduleStartAt: 'Schedule start',
};

/** The label of an alert field: `groupBy` → `Group by`, also for fields of newer servers. */
export function alertLabel(field: string): string {
  const words = field.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return LABELS[field] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** The threshold of an alert in the server's words: `above 100`, `between 5 and 10`. */
export function thresholdText({ thresholdType, threshold, thresholdMax }: Alert): string | null {
  if (threshold === null) return thresholdType;
  const isRange = thresholdType === 'between' || thresholdType === 'not_between';
  const upper = isRange ? ` and ${thresholdMax ?? '?'}` : '';
  return `${(thresholdType ?? '?').replaceAll('_', ' ')} ${threshold}${upper}`;
}

export function channelText({ channels }: Alert, names: AlertNames = {}): string | null {
  const named = notifiesText(channels, names);
  if (named !== null) return named;
  const texts = channels.map(({ type, webhookId, emailRecipients }) => {
    const to = webhookId ?? (Array.isArray(emailRecipients) ? emailRecipients.join(' ') : '');
    return `${String(type ?? 'unknown')} ${String(to)}`.trim();
  });
  return texts.length > 0 ? texts.join(', ') : null;
}

/** The end of the silence, `silenced` without an end, or null; a silence can have expired. */
export function silenceCell(alert: Alert, now: Date): Cell {
  if (!isSilenced(alert, now)) return null;
  const { silenced } = alert;
  const until = typeof silenced === 'object' && silenced !== null ? silenced.until : null;
  return until ? new Date(until) : 'silenced';
}

/** The names of the notification channels, or their kinds: `Paging, webhook`. */
export function channelKinds({ channels }: Alert, { webhook = {} }: AlertNames): string | null {
  const name = ({ type, webhookId }: Alert['channels'][number]) =>
    webhook[String(webhookId ?? '')] ?? String(type ?? 'unknown');
  return channels.map(name).join(', ') || null;
}

/** A snapshot of an alert: the fields of an update, and apart from them the state and the names. */
export function alertSnapshot(alert: Alert, seenAt: Date, names: AlertNames = {}): Snapshot {
  const entries = Object.entries(alert.asRead);
  const own = entries.filter(([key]) => !SERVER_MANAGED.includes(key));
  const volatileFields = {
    ...(alert.state === null ? {} : { state: alert.state }),
    ...(Object.keys(names).length === 0 ? {} : { names }),
  };
  // The alert was parsed from JSON.
  return {
    fields: Object.fromEntries(own) as JsonObject,
    volatileFields,
    seenAt,
    source: 'read just now',
  };
}
