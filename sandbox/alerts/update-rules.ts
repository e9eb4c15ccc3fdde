import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Json } from '../json.ts';
import type { Traits } from './profiles.ts';
import type { Issue } from './replies.ts';
import type { AlertRecord } from './state.ts';

const INTERVALS = ['1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'];
const RANGES: readonly unknown[] = ['between', 'not_between'];
const PLAIN_TYPES = ['above', 'below'];
const THRESHOLD_TYPES = [
  ...PLAIN_TYPES,
  ...['above_exclusive', 'below_or_equal', 'equal', 'not_equal', 'between', 'not_between'],
];

/** The problems with an update according to the real server. */
export function updateIssues(
  body: Json,
  traits: Traits,
  stored: AlertRecord | undefined,
): readonly Issue[] {
  const read = schemaOf(traits, stored).safeParse(body, { reportInput: true });
  const found = (read.error?.issues ?? []).map((issue) => {
    return { path: String(issue.path[0]), message: messageOf(issue) };
  });
  const fields = [...Map.groupBy(found, ({ path }) => path).values()].map(([first]) => first);
  const source = hasSource(body) ? [] : [{ path: '', message: 'Invalid input' }];
  const issues = [...fields.filter((issue) => issue !== undefined), ...source];
  return issues.length > 0 ? issues : crossIssues(body, traits);
}

const text = (max = Number.MAX_SAFE_INTEGER) => z.string().min(1).max(max).nullish();

const Channel = z
  .looseObject({})
  .refine(
    ({ type, webhookId }) =>
      typeof type === 'string' && (type !== 'webhook' || typeof webhookId === 'string'),
    'Invalid input',
  );

const Extended = {
  note: text(),
  thresholdMax: z.number().optional(),
  scheduleOffsetMinutes: z.number().optional(),
  numConsecutiveWindows: z.number().nullish(),
};

function schemaOf(traits: Traits, stored: AlertRecord | undefined) {
  const types = traits.extended ? THRESHOLD_TYPES : PLAIN_TYPES;
  const isNegativeAccepted = traits.negativeThreshold === 'accepted';
  return z.looseObject({
    interval: z.enum(INTERVALS),
    threshold: z
      .number()
      .refine(
        (value) => isNegativeAccepted || value >= 0 || value === stored?.threshold,
        'Number must be greater than or equal to 0',
      ),
    // The server also accepts the stored type when it is not in the list.
    thresholdType: z.enum(stored === undefined ? types : [...types, stored.thresholdType]),
    name: text(512),
    message: text(4_096),
    groupBy: traits.nullGroupBy === 'refused' ? z.string().min(1).optional() : text(),
    channel: Channel.optional(),
    ...(traits.channels === 'many' && { channels: z.array(Channel).min(1).max(10).optional() }),
    ...(traits.extended && Extended),
  });
}

/** The text of the real server for an issue. */
function messageOf(issue: z.core.$ZodIssue): string {
  const { input, code } = issue;
  if (input === undefined && code !== 'custom') return 'Required';
  switch (code) {
    case 'invalid_type':
      return `Expected ${issue.expected}, received ${kindOf(input)}`;
    case 'invalid_value': {
      const listed = issue.values.map((one) => `'${String(one)}'`).join(' | ');
      return `Invalid enum value. Expected ${listed}, received '${String(input)}'`;
    }
    case 'too_big':
      return `${sized(issue.origin)} at most ${issue.maximum} ${unitOf(issue.origin)}`;
    case 'too_small':
      return `${sized(issue.origin)} at least ${issue.minimum} ${unitOf(issue.origin)}`;
    default:
      return issue.message;
  }
}

const sized = (origin: string) => `${origin === 'array' ? 'Array' : 'String'} must contain`;
const unitOf = (origin: string) => (origin === 'array' ? 'element(s)' : 'character(s)');

function crossIssues(body: Json, traits: Traits): readonly Issue[] {
  const { channel, channels } = body;
  const isMany = traits.channels === 'many';
  if (channel === undefined && !(isMany && channels !== undefined)) {
    return [{ path: 'channel', message: 'Required' }];
  }
  const first = Array.isArray(channels) ? channels[0] : undefined;
  const areBothSet = isMany && channel !== undefined && first !== undefined;
  if (areBothSet && !isDeepStrictEqual(channel, first)) {
    return [{ path: 'channel', message: 'Must equal the first of channels' }];
  }
  const webhooks = (Array.isArray(channels) ? channels : []).map((each) => each.webhookId);
  const given = webhooks.filter((id) => id !== undefined);
  if (new Set(given).size < given.length) {
    return [{ path: 'channels', message: 'Duplicate channel' }];
  }
  const offset = Number(body.scheduleOffsetMinutes ?? 0);
  if (traits.extended && offset > 0 && offset >= minutesOf(String(body.interval))) {
    return [{ path: 'scheduleOffsetMinutes', message: 'Must be less than the interval' }];
  }
  if (!traits.extended || !RANGES.includes(body.thresholdType)) return [];
  if (body.thresholdMax === undefined) return [{ path: 'thresholdMax', message: 'Required' }];
  return Number(body.thresholdMax) < Number(body.threshold)
    ? [{ path: 'thresholdMax', message: 'Must be greater than or equal to threshold' }]
    : [];
}

function minutesOf(interval: string): number {
  const minutes = { m: 1, h: 60, d: 1_440 }[interval.slice(-1)] ?? 1;
  return Number.parseInt(interval, 10) * minutes;
}

function hasSource({ source, dashboardId, tileId, savedSearchId }: Json): boolean {
  const isGiven = (value: unknown) => typeof value === 'string' && value !== '';
  if (source === 'tile') return isGiven(dashboardId) && isGiven(tileId);
  return source === 'saved_search' && isGiven(savedSearchId);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
