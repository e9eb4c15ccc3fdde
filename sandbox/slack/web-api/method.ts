import type { Json } from '../../protocol.ts';
import type { Problem } from '../block-kit/problems.ts';
import { refusalOf } from '../block-kit/validate.ts';
import { parsed } from '../json.ts';
import type { SlackState } from '../state.ts';

export type SlackReply = Json & { readonly ok: boolean };

/** One method of the Web API: which scopes open it (any of them), how often, what it does. */
export interface Method {
  readonly scopes: readonly string[];
  readonly token: 'bot' | 'app' | 'none';
  readonly perMinute: number;
  readonly run: (slack: SlackState, args: Json) => SlackReply;
}

export type Methods = Readonly<Record<string, Method>>;

/** Calls per minute of Slack's tiers. */
export const TIER = { two: 20, three: 50, four: 100, special: 600 } as const;

export function method(
  run: Method['run'],
  {
    scopes = [],
    perMinute = TIER.three,
    token = 'bot',
  }: Partial<Pick<Method, 'scopes' | 'perMinute' | 'token'>> = {},
): Method {
  return { run, scopes, perMinute, token };
}

export function refuse(error: string, more: Json = {}): SlackReply {
  return { ok: false, error, ...more };
}

export function missingScope(slack: SlackState, needed: string): SlackReply {
  return refuse('missing_scope', { needed, provided: slack.manifest.scopes.join(',') });
}

export function refuseBlocks(error: string, problems: readonly Problem[]): SlackReply {
  return refusalOf(error, problems);
}

/** Arguments arrive as JSON or as form fields, and form fields may hold JSON in turn. */
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
  return typeof value === 'string' ? parsed(value) : value;
}

/** A page of a list, with Slack's cursor to the next one. */
export function page<Item>(items: readonly Item[], args: Json, otherwise: number) {
  const limit = count(args, 'limit', otherwise);
  const from = Number(Buffer.from(text(args, 'cursor') ?? '', 'base64').toString() || 0);
  const next =
    from + limit < items.length ? Buffer.from(String(from + limit)).toString('base64') : '';
  return {
    items: items.slice(from, from + limit),
    response_metadata: { next_cursor: next },
  };
}
