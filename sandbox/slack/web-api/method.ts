import { type Json, parseJson } from '../../json.ts';
import type { SlackState } from '../state.ts';

export type SlackReply = Json & { readonly ok: boolean };

/** One method of the Web API. Any one of the scopes is enough to call it. */
export interface Method {
  readonly scopes: readonly string[];
  readonly token: 'bot' | 'app';
  readonly perMinute: number;
  readonly run: (slack: SlackState, args: Json) => SlackReply;
}

export type Methods = Readonly<Record<string, Method>>;

/** Calls per minute of Slack's tiers. */
export const TIER = { two: 20, three: 50, four: 100, special: 600 } as const;

export function method(run: Method['run'], settings: Partial<Omit<Method, 'run'>> = {}): Method {
  return { scopes: [], perMinute: TIER.three, token: 'bot', ...settings, run };
}

export function refuse(error: string, more: Json = {}): SlackReply {
  return { ok: false, error, ...more };
}

export function isRefusal(value: object): value is SlackReply {
  return 'ok' in value && value.ok === false;
}

export function missingScope(slack: SlackState, needed: string): SlackReply {
  return refuse('missing_scope', { needed, provided: slack.manifest.scopes.join(',') });
}

/** Arguments are JSON values or form fields; a form field may contain JSON text. */
export function text(args: Json, key: string): string | undefined {
  const value = args[key];
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
}

export function flag(args: Json, key: string): boolean {
  return args[key] === true || args[key] === 'true' || args[key] === '1';
}

export function count(args: Json, key: string, otherwise: number): number {
  const value = Number(args[key] ?? otherwise);
  return Number.isInteger(value) && value > 0 ? value : otherwise;
}

export function structure(args: Json, key: string): unknown {
  const value = args[key];
  return typeof value === 'string' ? parseJson(value) : value;
}

/** One page of a list, with Slack's cursor of the next page. */
export function page<Item>(items: readonly Item[], args: Json, otherwise: number) {
  const limit = count(args, 'limit', otherwise);
  const from = Number(Buffer.from(text(args, 'cursor') ?? '', 'base64').toString() || 0);
  const end = from + limit;
  const next_cursor = end < items.length ? Buffer.from(String(end)).toString('base64') : '';
  return { items: items.slice(from, end), response_metadata: { next_cursor } };
}
