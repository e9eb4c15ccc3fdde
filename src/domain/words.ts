// The words of people for the values, states and fields of the APIs and of Signalbox. One table prints them and reads
// them, so that a word on a screen is a word that can be typed.

import { ownValue } from '../base/text.ts';

/** The states of a change as users read and type them. */
export const STATE_WORDS = {
  draft: 'draft',
  pending: 'waiting',
  approved: 'approved',
  executing: 'running',
  succeeded: 'accepted',
  failed: 'failed',
  unknown: 'unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'changed',
  denied: 'refused',
} as const;

/** Why a change that nobody ended was not run, by the refusal; of others the policy was the reason. */
const STALE_WORDS: Readonly<Record<string, string>> = {
  'target-changed': 'the target changed since the preview',
  'tags-changed': 'other tags or another warehouse than in the preview',
  'not-verified': 'its service could not be verified',
  restored: 'the database was restored',
  'card-deleted': 'its card was deleted',
  'standing-ended': 'its standing approval has ended',
  'standing-used': 'its standing approval has no use left',
  'not-covered': 'its standing approval does not cover it',
};

export function staleText(why: string | null): string {
  return ownValue(STALE_WORDS, why ?? '') ?? 'the current policy refuses it';
}

/** By value of an API: the word that is shown, then other words that people type for it. */
const VALUE_WORDS: Readonly<Record<string, readonly string[]>> = {
  ALERT: [...['firing', 'alerting', 'red', 'triggered', 'alert', 'alerts', 'fired'], 'critical'],
  OK: ['ok', 'green', 'fine', 'resolved', 'healthy'],
  DISABLED: ['disabled', 'off'],
  INSUFFICIENT_DATA: ['no data'],
  pending: ['waiting'],
  review: ['to review'],
  tile: ['dashboard tile'],
  VPC_ENDPOINT_SERVICE: ['VPC endpoint service'],
  VPC_RESOURCE: ['VPC resource'],
  STREAMING_MULTI_VPC: ['streaming from several VPCs'],
  SASL_IAM: ['SASL with IAM'],
  SASL_SCRAM: ['SASL with SCRAM'],
  awaking: ['waking up'],
  partially_running: ['partly running'],
  softdeleting: ['being deleted'],
  softdeleted: ['deleted'],
};

/** The word for a value of an API; of a newer server its own, as words: `FLAPPING` → `flapping`. */
export function wordOf(value: string): string {
  const [word = isCode(value) ? plainWords(value) : value] = ownValue(VALUE_WORDS, value) ?? [];
  return word;
}

/** The same for a value that may be missing. */
export function wordIn(value: string | null): string | null {
  return value === null ? null : wordOf(value);
}

/** Capitals, or words joined by underscores or capitals: no name that a person chose looks like this in a field of values. */
function isCode(value: string): boolean {
  return /^([A-Z][A-Z0-9]+|[A-Za-z0-9]+(_[A-Za-z0-9]+)+|[A-Z]?[a-z]+([A-Z][a-z]+)+)$/.test(value);
}

/** Each word that can be typed for one of these values, with the value. */
export function meaningsOf(values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    values.flatMap((value) =>
      [value, wordOf(value), ...(ownValue(VALUE_WORDS, value) ?? [])].map((word) => [
        word.toLowerCase(),
        value,
      ]),
    ),
  );
}

const FIELD_LABELS: Readonly<Record<string, string>> = {
  thresholdType: 'Type',
  thresholdMax: 'Upper bound',
  webhookId: 'Webhook',
  dashboardId: 'Dashboard',
  tileId: 'Tile',
  savedSearchId: 'Saved search',
  silenced: 'Silence',
  numConsecutiveWindows: 'Consecutive windows',
  scheduleOffsetMinutes: 'Schedule offset (minutes)',
  scheduleStartAt: 'Schedule start',
  executionErrors: 'Errors of its last run',
  createdBy: 'Created by',
  idleScaling: 'Scales to zero when idle',
  idleTimeoutMinutes: 'Idle timeout (minutes)',
  isPrimary: 'Primary',
  isReadonly: 'Read-only',
  dataWarehouseId: 'Warehouse id',
  byocId: 'Own cloud region',
  hasTransparentDataEncryption: 'Transparent data encryption',
  createdAt: 'Created',
  endpoints: 'Endpoint',
  ipAccessList: 'IP access',
  iamRole: 'IAM role',
  privateEndpointIds: 'Private endpoint',
  availablePrivateEndpointIds: 'Private endpoint to associate',
};

/** The label of a field of an API: `groupBy` → `Group by`, also for a field of a newer server. */
export function fieldLabel(field: string): string {
  const words = plainWords(field);
  return ownValue(FIELD_LABELS, field) ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** A name of the code as words: `groupBy`, `group_by` or `GROUP_BY` → `group by`. */
export function plainWords(name: string): string {
  const parts = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/_+/g, ' ');
  return parts.toLowerCase().trim();
}
