import { type Json, parseJson } from '../../json.ts';
import type { SlackState } from '../state.ts';

export type SlackReply = Json & { readonly ok: boolean };

/** How Slack limits the calls of a method in one workspace. */
export type Tier = 'tier 1' | 'tier 2' | 'tier 3' | 'tier 4' | 'special' | 'posting';

/** One method of the Web API. Any one of the scopes is enough to call it. */
export interface Method {
  /** Source: sandbox/README.md#methods */
  readonly tier: Tier;
  readonly scopes: readonly string[];
  readonly token: 'bot' | 'app';
  /** It acts on one workspace, which the token of an installation for an organization does not name. */
  readonly isInOneWorkspace: boolean;
  /** Throws Slack's refusal. */
  readonly run: (slack: SlackState, args: Json) => SlackReply;
}

export function method(tier: Tier, run: Method['run'], settings: Partial<Method> = {}): Method {
  return { scopes: [], token: 'bot', isInOneWorkspace: false, ...settings, tier, run };
}

/** Ends a call with this reply. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly reply: SlackReply;

  constructor(reply: SlackReply) {
    super(String(reply.error));
    this.reply = reply;
  }
}

export function refuse(error: string, more: Json = {}): never {
  throw new Refused({ ok: false, error, ...more });
}

export function missingScope(granted: readonly string[], needed: string): never {
  return refuse('missing_scope', { needed, provided: granted.join(',') });
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

/** The pages of a list have fewer items than this. */
export const PAGE_LIMIT = 1000;

/**
 * One page of a list, with Slack's cursor of the next page. Slack filters the items of a page, so
 * that a page can be short or empty although more pages follow.
 */
export function page<Item>(
  all: readonly Item[],
  args: Json,
  isListed: (item: Item) => boolean = () => true,
) {
  const limit = count(args, 'limit', 100);
  if (limit >= PAGE_LIMIT) return refuse('invalid_limit');
  const from = Number(Buffer.from(text(args, 'cursor') ?? '', 'base64').toString());
  if (!Number.isInteger(from) || from > all.length) return refuse('invalid_cursor');
  const end = from + limit;
  const next_cursor = end < all.length ? Buffer.from(String(end)).toString('base64') : '';
  return { items: all.slice(from, end).filter(isListed), response_metadata: { next_cursor } };
}
