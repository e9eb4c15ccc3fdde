// Freezes made in Slack: their scope, their end, how they are shown, and how a command names a scope.

import { z } from 'zod';
import type { JsonObject } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import type { AnswerPart, AnswerRow, InlinePart } from './answer.ts';
import type { Target, UserId } from './change.ts';
import type { Freeze, Selector } from './policy.ts';
import { type NamedItem, policyFacts, type Service } from './targets.ts';
import { type ClockTime, ClockTimeText, type Entered, spanSchema } from './timing.ts';

/** No freeze is longer. */
export const LONGEST_FREEZE_MS = 90 * DAY_MS;

/** The scope of a freeze made in Slack. Stored in this shape; keys of a newer release are ignored. */
export const Scope = z.union([
  z.object({ service: z.object({ id: z.string(), name: z.string() }) }),
  z.object({ tag: z.string() }),
  z.object({ warehouse: z.string() }),
  z.object({ everything: z.literal(true) }),
]);
export type Scope = z.infer<typeof Scope>;

/** Reads the scope from the body of a change. */
export function scopeFrom(body: JsonObject): Scope {
  return Scope.parse(body.scope);
}

/** The scope name for all services. */
export const EVERYTHING: NamedItem = { id: 'everything', name: 'everything', aliases: ['all'] };

/** `tag:prod`: the key of a scope, used for its lock. */
export function scopeKey(scope: Scope, sign: ':' | '=' = ':'): string {
  if ('service' in scope) return `service${sign}${scope.service.id}`;
  if ('tag' in scope) return `tag${sign}${scope.tag}`;
  return 'warehouse' in scope ? `warehouse${sign}${scope.warehouse}` : EVERYTHING.id;
}

/** The scope in a sentence: `staging`, `everything tagged prod`. */
export function scopeText(scope: Scope): string {
  if ('service' in scope) return scope.service.name;
  return selectorText(selectorOf(scope)).replace(/^E/, 'e');
}

/** The arguments of `change freeze` for a scope. */
export function scopeWords(scope: Scope): string {
  return 'service' in scope ? scope.service.id : scopeKey(scope, '=');
}

/** The services of a scope that the configuration file lists. */
export function servicesIn(scope: Scope, services: readonly Service[]): readonly Service[] {
  if ('everything' in scope) return services;
  if ('service' in scope) return services.filter(({ id }) => id === scope.service.id);
  return 'tag' in scope
    ? services.filter(({ tags }) => tags?.includes(scope.tag))
    : services.filter(({ warehouse }) => warehouse === scope.warehouse);
}

/** What a freeze of the scope selects; null selects everything. */
export function selectorOf(scope: Scope): Selector | null {
  const none = { services: null, tags: null, warehouses: null };
  if ('service' in scope) return { ...none, services: [scope.service] };
  if ('tag' in scope) return { ...none, tags: [scope.tag] };
  return 'warehouse' in scope ? { ...none, warehouses: [scope.warehouse] } : null;
}

/** The scope of a freeze in words; null selects everything. */
export function selectorText(on: Selector | null): string {
  if (on === null) return 'Everything';
  const parts = [
    on.services?.map(({ name }) => name).join(', '),
    on.tags && `tagged ${on.tags.join(' or ')}`,
    on.warehouses && `in warehouse ${on.warehouses.join(' or ')}`,
  ].filter((part) => typeof part === 'string');
  return on.services ? parts.join(', ') : `Everything ${parts.join(' and ')}`;
}

/** A freeze made in Slack, named by its scope or its id. */
export interface SlackFreeze extends NamedItem {
  readonly scope: Scope;
  readonly freeze: Freeze & { readonly made: NonNullable<Freeze['made']> };
}

/** Lists all freezes. */
export interface FreezeService {
  /** Freezes of the configuration file and of Slack that are active or scheduled. */
  readonly all: () => Promise<readonly Freeze[]>;
  /** Freezes made in Slack that were not ended. */
  readonly madeInSlack: () => Promise<readonly SlackFreeze[]>;
  /** The instant of `until` in the time zone of the user. */
  readonly endOf: (until: FreezeUntil, by: UserId) => Promise<Entered<{ at: Date }>>;
}

/** A duration or a clock time; the instant once the time zone is known. */
export type FreezeUntil = { readonly inMs: number } | ClockTime | { readonly at: Date };

const Span = spanSchema('5m', '90d', '4h');
const AS_UNTIL =
  'must be a duration (for example 4h, at most 90d) or a time (20:00 or monday 8:00)';

/** `4h`, `20:00` or `2026-11-22T20:00`. */
export const FreezeUntilText = z.string().transform((typed, context): FreezeUntil => {
  if (/^\d+[a-z]$/i.test(typed.trim())) {
    const span = Span.safeParse(typed);
    if (span.success) return { inMs: span.data };
  }
  const at = ClockTimeText.safeParse(typed);
  if (at.success) return at.data;
  context.addIssue({ code: 'custom', message: AS_UNTIL });
  return z.NEVER;
});

/** One line for a freeze: scope, time, reason, user, and how to end it. */
export function freezeWords(freeze: Freeze): readonly InlinePart[] {
  const { on, from, until, reason, by, made } = freeze;
  const whose = authorOf(made, by);
  return [
    { bold: selectorText(on) },
    ' between ',
    { at: from },
    ' and ',
    { at: until },
    `: ${reason}`,
    ...whose,
    endingWords(freeze),
  ];
}

function authorOf(made: Freeze['made'], by: string | null): readonly InlinePart[] {
  if (made?.by) return [', by ', { user: made.by }];
  return by ? [`, by ${by}`] : [];
}

/** Slack accepts 50 blocks in a message. */
const ROWS_MAX = 20;

/** Freezes under a heading, each with a button that shows its change; nothing without freezes. */
export function freezeList(heading: string, freezes: readonly Freeze[]): readonly AnswerPart[] {
  if (freezes.length === 0) return [];
  return [
    { kind: 'lines', lines: [[{ bold: heading }]] },
    { kind: 'rows', rows: freezes.slice(0, ROWS_MAX).map(freezeRow) },
    ...(freezes.length > ROWS_MAX
      ? [{ kind: 'note', text: `${freezes.length - ROWS_MAX} more not shown.` } as const]
      : []),
  ];
}

/** One row for a freeze; the change that made it is shown by its button. */
function freezeRow(freeze: Freeze): AnswerRow {
  const { on, from, until, reason, by, made } = freeze;
  const text = `${selectorText(on)}: ${reason}${by && !made ? `, by ${by}` : ''}`;
  const whose = authorOf(made, null);
  const about = ['From ', { at: from }, ' to ', { at: until }, ...whose, endingWords(freeze)];
  return { text, about, show: made ? `change show ${made.id}` : null };
}

function endingWords({ made }: Freeze): string {
  return made ? `. “change unfreeze ${made.id}” ends it.` : '. Set in signalbox.yaml.';
}

/**
 * The target that policy rules match: it has every tag of the services in scope. For the scope
 * `everything`, tags are unknown (null), so the strictest rule applies.
 */
export function freezeTarget(scope: Scope, services: readonly Service[]): Target {
  const own = servicesIn(scope, services);
  const known = own.flatMap(({ tags }) => tags ?? []);
  const tags = [...new Set('tag' in scope ? [scope.tag, ...known] : known)];
  // Of a service or warehouse that the directory does not have, nothing is known.
  const isGone = own.length === 0 && !('tag' in scope);
  const unknown = 'everything' in scope || isGone || own.some((service) => service.tags === null);
  const [warehouse = null, ...others] = [...new Set(own.map((service) => service.warehouse))];
  return {
    kind: 'freeze',
    id: scopeKey(scope),
    name: scopeText(scope),
    tags: unknown ? null : tags,
    warehouse: others.length > 0 || unknown ? null : warehouse,
    ...sharedOrganization(own),
  };
}

/** Their organization, if it is the same for all. */
function sharedOrganization(own: readonly Service[]): Pick<Target, 'organization'> {
  const [first] = own;
  const isShared = own.every(({ organizationId }) => organizationId === first?.organizationId);
  const { organization } = first && isShared ? policyFacts(first) : {};
  return organization ? { organization } : {};
}

/** One or more services, by a name that can be typed and selected. */
export interface NamedScope extends NamedItem {
  readonly scope: Scope;
}

/** All scopes: everything, each tag, each warehouse and each service. */
export function scopesOf(services: readonly Service[]): readonly NamedScope[] {
  return [
    { ...EVERYTHING, scope: { everything: true } },
    ...tagsOf(services).map((tag) => scoped({ tag: tag.id })),
    ...warehousesOf(services).map((warehouse) => scoped({ warehouse: warehouse.id })),
    ...services.map(({ id, name, aliases }) => {
      return { id, name, aliases, scope: { service: { id, name } } };
    }),
  ];
}

function scoped(scope: Scope): NamedScope {
  return { id: scopeKey(scope), name: scopeText(scope), aliases: [], scope };
}

/** The tags of these services, each once, in order. */
export function tagsOf(services: readonly Service[]): readonly NamedItem[] {
  return distinct(services.flatMap(({ tags }) => tags ?? []));
}

/** The warehouses of these services, each once, in order. */
export function warehousesOf(services: readonly Service[]): readonly NamedItem[] {
  return distinct(services.flatMap(({ warehouse }) => warehouse ?? []));
}

function distinct(words: readonly string[]): readonly NamedItem[] {
  return [...new Set(words)].sort().map((word) => ({ id: word, name: word, aliases: [] }));
}

/** The scope arguments of a command: a named scope, or a typed tag or warehouse. */
export interface ScopeArguments {
  readonly scope?: NamedScope | undefined;
  readonly tag?: NamedItem | undefined;
  readonly warehouse?: NamedItem | undefined;
}

/** Returns null unless exactly one scope is given. */
export function scopeOf({ scope, tag, warehouse }: ScopeArguments): Scope | null {
  const all = [scope?.scope, tag && { tag: tag.id }, warehouse && { warehouse: warehouse.id }];
  const [one = null, ...others] = all.filter((each) => each !== undefined);
  return others.length > 0 ? null : one;
}
