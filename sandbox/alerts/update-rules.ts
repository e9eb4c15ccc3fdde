import { isDeepStrictEqual } from 'node:util';
import { isJson, type Json } from '../json.ts';
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

type Check = (value: unknown) => string | null;

/** The problems with an update according to the real server. */
export function updateIssues(
  body: Json,
  traits: Traits,
  stored: AlertRecord | undefined,
): readonly Issue[] {
  const fields = Object.entries(checksOf(traits, stored)).flatMap(([path, check]) => {
    const message = check(body[path]);
    return message === null ? [] : [{ path, message }];
  });
  const source = hasSource(body) ? [] : [{ path: '', message: 'Invalid input' }];
  const issues = [...fields, ...source];
  return issues.length > 0 ? issues : crossIssues(body, traits);
}

function checksOf(traits: Traits, stored: AlertRecord | undefined): Record<string, Check> {
  const types = traits.extended ? THRESHOLD_TYPES : PLAIN_TYPES;
  const checks: Record<string, Check> = {
    interval: oneOf(INTERVALS),
    threshold: (value) => thresholdProblem(value, traits, stored),
    // The server also accepts the stored type when it is not in the list.
    thresholdType: oneOf(stored === undefined ? types : [...types, stored.thresholdType]),
    name: atMost(512, textOrNull),
    message: atMost(4_096, textOrNull),
    groupBy: (value) =>
      value === null && traits.nullGroupBy === 'refused'
        ? 'Expected string, received null'
        : textOrNull(value),
    channel: optional(channelProblem),
  };
  if (!traits.extended) return checks;
  return {
    ...checks,
    ...(traits.channels === 'many' ? { channels: optional(channelsProblem) } : {}),
    note: textOrNull,
    thresholdMax: optional(expected('number')),
    scheduleOffsetMinutes: optional(expected('number')),
    numConsecutiveWindows: (value) => (value === null ? null : optional(expected('number'))(value)),
  };
}

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

function thresholdProblem(value: unknown, traits: Traits, stored: AlertRecord | undefined) {
  const problem = expected('number')(value);
  if (problem !== null || traits.negativeThreshold === 'accepted') return problem;
  const isNew = value !== stored?.threshold;
  return isNew && Number(value) < 0 ? 'Number must be greater than or equal to 0' : null;
}

function channelProblem(value: unknown): string | null {
  if (!isJson(value)) return `Expected object, received ${kindOf(value)}`;
  if (typeof value.type !== 'string') return 'Invalid input';
  const isWebhook = value.type === 'webhook';
  return isWebhook && typeof value.webhookId !== 'string' ? 'Invalid input' : null;
}

function channelsProblem(value: unknown): string | null {
  if (!Array.isArray(value)) return `Expected array, received ${kindOf(value)}`;
  if (value.length < 1) return 'Array must contain at least 1 element(s)';
  if (value.length > 10) return 'Array must contain at most 10 element(s)';
  return value.map(channelProblem).find((problem) => problem !== null) ?? null;
}

function textOrNull(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (value === '') return 'String must contain at least 1 character(s)';
  return expected('string')(value);
}

function atMost(max: number, check: Check): Check {
  return (value) =>
    typeof value === 'string' && value.length > max
      ? `String must contain at most ${max} character(s)`
      : check(value);
}

function oneOf(allowed: readonly string[]): Check {
  return (value) => {
    if (value === undefined) return 'Required';
    if (typeof value === 'string' && allowed.includes(value)) return null;
    const listed = allowed.map((one) => `'${one}'`).join(' | ');
    return `Invalid enum value. Expected ${listed}, received '${String(value)}'`;
  };
}

function expected(kind: 'number' | 'string'): Check {
  return (value) => {
    if (value === undefined) return 'Required';
    const isKind = kindOf(value) === kind;
    return isKind ? null : `Expected ${kind}, received ${kindOf(value)}`;
  };
}

function optional(check: Check): Check {
  return (value) => (value === undefined ? null : check(value));
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
