import { z } from 'zod';
import { isRecord } from '../base/http-answer.ts';
import { numberOf, switchOf, textOf } from '../base/http-rows.ts';

const NonEmptyText = z.string({ error: 'must be a text' }).min(1, 'must not be empty');

const INTERVAL = 'must be a number and a unit, for example 5m, 15m or 1h';
export const Interval = z.string({ error: INTERVAL }).regex(/^[1-9]\d{0,4}[a-zA-Z]$/, INTERVAL);

export const AlertThreshold = z.number({ error: 'must be a number' });
export const ThresholdType = z.enum(['above', 'below'], { error: 'must be above or below' });

/**
 * The fields of an alert that a user can change. `source` is excluded: a different source makes the
 * server convert the alert and drop its query. `webhookId` belongs to the first channel. An empty name or message
 * removes it.
 */
export const AlertEdit = z
  .strictObject({
    threshold: AlertThreshold.optional(),
    interval: Interval.optional(),
    thresholdType: ThresholdType.optional(),
    name: z.string({ error: 'must be a text' }).optional(),
    message: z.string({ error: 'must be a text' }).optional(),
    webhookId: NonEmptyText.optional(),
    dashboardId: NonEmptyText.optional(),
    tileId: NonEmptyText.optional(),
  })
  .refine((edit) => Object.values(edit).some((value) => value !== undefined), {
    error: 'must contain at least one change',
  });

/** Every version of the server removes these texts from an alert when an update omits them. */
export const REMOVABLE: readonly string[] = ['name', 'message'];

/** Reply fields that only the server sets. */
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

const CHANNEL = 'must have a type, and a webhook its id';
const Channel = z
  .looseObject({ type: z.string(CHANNEL).min(1, CHANNEL) }, CHANNEL)
  .refine(
    ({ type, webhookId }) => type !== 'webhook' || NonEmptyText.safeParse(webhookId).success,
    CHANNEL,
  );

/**
 * The body of an update: the nine fields of the contract, and all other fields of the last read,
 * unchanged. Some servers reject a null that they have sent themselves, so nulls are forbidden. Of the
 * other fields, those with a known type are checked too: the server would refuse them after an approval.
 */
export const AlertBody = z
  .looseObject({
    threshold: AlertThreshold.optional(),
    interval: NonEmptyText.optional(),
    thresholdType: NonEmptyText.optional(),
    source: NonEmptyText.optional(),
    dashboardId: NonEmptyText.optional(),
    tileId: NonEmptyText.optional(),
    channel: Channel.optional(),
    name: NonEmptyText.optional(),
    message: NonEmptyText.optional(),
    thresholdMax: AlertThreshold.optional(),
    savedSearchId: NonEmptyText.optional(),
    groupBy: NonEmptyText.optional(),
    channels: z.array(Channel, 'must be a list').max(10, 'must have at most 10').optional(),
    note: NonEmptyText.optional(),
    scheduleOffsetMinutes: AlertThreshold.optional(),
    numConsecutiveWindows: AlertThreshold.optional(),
  })
  .check(({ value, issues }) => {
    for (const [field, input] of Object.entries(value)) {
      const isManaged = SERVER_MANAGED.includes(field);
      const message = isManaged ? 'is set by the server only' : 'must not be null';
      if (isManaged || input === null)
        issues.push({ code: 'custom', input, path: [field], message });
    }
  });

/** Reply names, current and older ones, of fields with another name in requests. */
const REQUEST_NAMES = new Map([
  ['dashboard', 'dashboardId'],
  ['savedSearch', 'savedSearchId'],
  ['team', 'teamId'],
]);
const OLDER_NAMES = [...REQUEST_NAMES.keys()];

/** A reply with request names; where both names are present, the value of the request name wins. */
export function underRequestNames(
  reply: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!OLDER_NAMES.some((name) => Object.hasOwn(reply, name))) return reply;
  const entries = Object.entries(reply);
  return Object.fromEntries([
    ...entries.map(([key, value]) => [REQUEST_NAMES.get(key) ?? key, value]),
    ...entries.filter(([key]) => !REQUEST_NAMES.has(key)),
  ]);
}

const TEXTS = [
  ...(['id', 'name', 'message', 'note', 'interval', 'thresholdType', 'source', 'state'] as const),
  ...(['teamId', 'dashboardId', 'tileId', 'savedSearchId', 'groupBy'] as const),
  ...(['createdAt', 'updatedAt'] as const),
];
const NUMBERS = ['threshold', 'thresholdMax'] as const;

/** One value for each name. */
function each<Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value) {
  // The type of fromEntries loses the names.
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * An alert with one name per field for display, and the unchanged reply in `asRead`. Updates start
 * from `asRead`, because the server may delete fields that an update omits.
 */
export const Alert = z.custom<Fields>(isRecord, 'must be an object').transform(readAlert);

/** Without a schema, in a tenth of the time: users wait while a list of 5,000 alerts is read. */
function readAlert(asRead: Fields) {
  const fields = underRequestNames(asRead);
  const { channel, channels = null, silenced } = fields;
  return {
    ...each(TEXTS, (name) => textOf(fields[name])),
    ...each(NUMBERS, (name) => numberOf(fields[name])),
    channels: recordsIn(channels ?? [channel]),
    silenced: isRecord(silenced)
      ? { ...silenced, until: textOf(silenced.until) }
      : switchOf(silenced),
    asRead,
  };
}

function recordsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

export type Alert = z.infer<typeof Alert>;
export type AlertEdit = z.infer<typeof AlertEdit>;
export type AlertBody = z.infer<typeof AlertBody>;

/** Servers that report an end keep `silenced` after it has passed. */
export function isSilenced({ silenced }: Alert, now: Date): boolean {
  if (typeof silenced === 'boolean') return silenced;
  return silenced !== null && Date.parse(silenced.until ?? '') > now.getTime();
}
