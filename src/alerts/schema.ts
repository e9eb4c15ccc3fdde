import { z } from 'zod';
import { isRecord } from '../http/answer.ts';
import { MaybeNumber, MaybeText } from '../http/tolerance.ts';

const Text = z.string({ error: 'must be a text' }).min(1, 'must not be empty');

const INTERVAL = 'must be a number and a unit, such as 5m, 15m or 1h';
export const Interval = z.string({ error: INTERVAL }).regex(/^[1-9]\d{0,4}[a-zA-Z]$/, INTERVAL);

export const AlertThreshold = z.number({ error: 'must be a number' });
export const ThresholdType = z.enum(['above', 'below'], { error: 'must be above or below' });

/**
 * What a person can change of an alert. `source` is not among it: writing another one makes the
 * server convert the alert and forget what it watched. `webhookId` is that of the first channel.
 */
export const AlertEdit = z
  .strictObject({
    threshold: AlertThreshold.optional(),
    interval: Interval.optional(),
    thresholdType: ThresholdType.optional(),
    name: Text.optional(),
    message: Text.optional(),
    webhookId: Text.optional(),
    dashboardId: Text.optional(),
    tileId: Text.optional(),
  })
  .refine((edit) => Object.values(edit).some((value) => value !== undefined), {
    error: 'must change something',
  });

/** Keys of a reply that the server alone writes. */
export const SERVER_MANAGED: readonly string[] = [
  'id',
  'state',
  'team',
  'teamId',
  'silenced',
  'executionErrors',
  'createdAt',
  'updatedAt',
  'createdBy',
];

/**
 * The body of an update: the contract's nine fields, and whatever else the server's own read of this
 * alert brought, as it came. A null is refused by some servers even where they sent it themselves.
 */
export const AlertBody = z
  .looseObject({
    threshold: AlertThreshold.optional(),
    interval: Text.optional(),
    thresholdType: Text.optional(),
    source: Text.optional(),
    dashboardId: Text.optional(),
    tileId: Text.optional(),
    channel: z.looseObject({}).optional(),
    name: Text.optional(),
    message: z.string({ error: 'must be a text' }).optional(),
  })
  .check(({ value, issues }) => {
    for (const field of Object.keys(value)) {
      const problem = forbidden(field, value[field]);
      if (problem !== null) {
        issues.push({ code: 'custom', input: value, path: [field], message: problem });
      }
    }
  });

function forbidden(field: string, value: unknown): string | null {
  if (SERVER_MANAGED.includes(field)) return 'is written by the server only';
  return value === null ? 'must not be null' : null;
}

/** Names that replies use, or used once, for fields that requests call otherwise. */
const REQUEST_NAMES = new Map([
  ['dashboard', 'dashboardId'],
  ['savedSearch', 'savedSearchId'],
  ['team', 'teamId'],
]);

/** A reply under the names of requests; where both names are present, the request's own counts. */
export function underRequestNames(
  reply: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = Object.entries(reply);
  return Object.fromEntries([
    ...entries.map(([key, value]) => [REQUEST_NAMES.get(key) ?? key, value]),
    ...entries.filter(([key]) => !REQUEST_NAMES.has(key)),
  ]);
}

const Channels = z.array(z.record(z.string(), z.unknown())).catch([]);
const Silence = z.union([z.boolean(), z.looseObject({ until: MaybeText })]).nullable();

const KnownFields = z.object({
  id: MaybeText,
  name: MaybeText,
  message: MaybeText,
  note: MaybeText,
  threshold: MaybeNumber,
  thresholdMax: MaybeNumber,
  interval: MaybeText,
  thresholdType: MaybeText,
  source: MaybeText,
  state: MaybeText,
  channels: Channels,
  teamId: MaybeText,
  dashboardId: MaybeText,
  tileId: MaybeText,
  savedSearchId: MaybeText,
  groupBy: MaybeText,
  silenced: Silence.catch(null),
  createdAt: MaybeText,
  updatedAt: MaybeText,
});

/**
 * An alert as it can be shown, one name for each field whichever the server used, and beside it the
 * reply untouched: an update starts from `asRead`, since what it leaves out may be deleted.
 */
export const Alert = z.looseObject({}).transform((asRead: Readonly<Record<string, unknown>>) => {
  const fields = underRequestNames(asRead);
  const channels = fields.channels ?? (isRecord(fields.channel) ? [fields.channel] : []);
  return { ...KnownFields.parse({ ...fields, channels }), asRead };
});

export type Alert = z.infer<typeof Alert>;
export type AlertEdit = z.infer<typeof AlertEdit>;
export type AlertBody = z.infer<typeof AlertBody>;

/** `silenced` stays after it has run out, where a server tells until when. */
export function isSilenced({ silenced }: Alert, now: Date): boolean {
  if (typeof silenced === 'boolean') return silenced;
  return silenced !== null && Date.parse(silenced.until ?? '') > now.getTime();
}
