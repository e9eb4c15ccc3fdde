import { z } from 'zod';
import type { ChangeId, JsonObject, Target, UserId } from '../../changes/change.ts';
import type { NamedItem, Service } from '../../directory/directory.ts';
import type { FieldProblem } from '../../errors.ts';
import type { Freeze, Selector } from '../../policy/policy-types.ts';
import type { InlinePart } from '../answers/answer.ts';
import { type ClockTime, ClockTimeText, spanSchema } from './timing.ts';

/** What a freeze that is made in Slack is about. Stored as it stands. */
export const Scope = z.union([
  z.strictObject({ service: z.strictObject({ id: z.string(), name: z.string() }) }),
  z.strictObject({ tag: z.string() }),
  z.strictObject({ warehouse: z.string() }),
  z.strictObject({ everything: z.literal(true) }),
]);
export type Scope = z.infer<typeof Scope>;

/** A freeze that was made in Slack: called by what it is about, or by its id. */
export interface SlackFreeze extends NamedItem {
  readonly scope: Scope;
  readonly freeze: Freeze & { readonly made: NonNullable<Freeze['made']> };
}

/** Beside the services, what stands for all of them where a freeze is asked for. */
export const EVERYTHING: NamedItem = { id: 'everything', name: 'everything', aliases: ['all'] };

/** A change that makes or lifts a freeze, as far as what it does is bound to it. */
export interface FreezeChange {
  readonly id: ChangeId;
  readonly by: UserId;
  readonly reason: string | null;
}

export type FreezeEnd =
  | { readonly ok: true; readonly at: Date }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export interface FreezeService {
  /** Those of the file and those made in Slack that hold now or are to come. */
  readonly all: () => Promise<readonly Freeze[]>;
  /** Those that were made in Slack and that nobody has lifted. */
  readonly madeInSlack: () => Promise<readonly SlackFreeze[]>;
  /** The instant that somebody means by it, on their own clock. */
  readonly endOf: (until: FreezeUntil, by: UserId) => Promise<FreezeEnd>;
  /** Made once for each change, from now on; throws a definite no where its end has passed. */
  readonly make: (freezing: FreezeChange, freeze: { scope: Scope; until: Date }) => Promise<void>;
  readonly wasMade: (id: ChangeId) => Promise<boolean>;
  /** Throws a definite no where it is over, or was lifted by somebody else. */
  readonly lift: (freezing: FreezeChange, id: ChangeId) => Promise<void>;
}

/** How long or when, and once it is known whose clock that is, the instant itself. */
export type FreezeUntil = { readonly inMs: number } | ClockTime | { readonly at: Date };

const Span = spanSchema('5m', '90d', '4h');
const AS_UNTIL =
  'must be a duration (for example 4h, at most 90d) or a time (20:00 or 2026-11-22T20:00)';

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

/** `tag:prod`: one text for one scope, and so one lock. */
export function scopeKey(scope: Scope): string {
  if ('service' in scope) return `service:${scope.service.id}`;
  if ('tag' in scope) return `tag:${scope.tag}`;
  return 'warehouse' in scope ? `warehouse:${scope.warehouse}` : EVERYTHING.id;
}

export function scopeText(scope: Scope): string {
  if ('service' in scope) return scope.service.name;
  if ('tag' in scope) return `everything tagged ${scope.tag}`;
  return 'warehouse' in scope ? `everything in warehouse ${scope.warehouse}` : EVERYTHING.id;
}

/** What to type for it behind `change freeze`. */
export function scopeWords(scope: Scope): string {
  if ('service' in scope) return scope.service.id;
  if ('tag' in scope) return `tag=${scope.tag}`;
  return 'warehouse' in scope ? `warehouse=${scope.warehouse}` : EVERYTHING.id;
}

export function selectorOf(scope: Scope): Selector | null {
  const none = { services: null, tags: null, warehouses: null };
  if ('service' in scope) return { ...none, services: [scope.service] };
  if ('tag' in scope) return { ...none, tags: [scope.tag] };
  return 'warehouse' in scope ? { ...none, warehouses: [scope.warehouse] } : null;
}

/** What a freeze is about, in words; null selects everything. */
export function selectorText(on: Selector | null): string {
  if (on === null) return 'Everything';
  const parts = [
    on.services?.map(({ name }) => name).join(', '),
    on.tags && `tagged ${on.tags.join(' or ')}`,
    on.warehouses && `in warehouse ${on.warehouses.join(' or ')}`,
  ].filter((part) => typeof part === 'string');
  return on.services ? parts.join(', ') : `Everything ${parts.join(' and ')}`;
}

/** One line for one freeze: of what, how long, why, by whom, and what lifts it. */
export function freezeWords({ on, from, until, reason, by, made }: Freeze): readonly InlinePart[] {
  const whose: readonly InlinePart[] = made
    ? [', by ', { user: made.by }]
    : by
      ? [`, by ${by}`]
      : [];
  const lifts = made ? `“change unfreeze ${made.id}” ends it.` : 'Set in signalbox.yaml.';
  return [
    { bold: selectorText(on) },
    ' between ',
    { at: from },
    ' and ',
    { at: until },
    `: ${reason}`,
    ...whose,
    `. ${lifts}`,
  ];
}

/** The services of a scope as far as the file lists them. */
export function servicesIn(scope: Scope, services: readonly Service[]): readonly Service[] {
  if ('everything' in scope) return services;
  if ('service' in scope) return services.filter(({ id }) => id === scope.service.id);
  return 'tag' in scope
    ? services.filter(({ tags }) => tags?.includes(scope.tag))
    : services.filter(({ warehouse }) => warehouse === scope.warehouse);
}

/**
 * What a rule about freezes selects: one about some tag means every freeze that touches a service
 * of that tag. Of everything nobody can say which rule that would be.
 */
export function freezeTarget(scope: Scope, services: readonly Service[]): Target {
  const own = servicesIn(scope, services);
  const known = own.flatMap(({ tags }) => tags ?? []);
  const tags = [...new Set('tag' in scope ? [scope.tag, ...known] : known)];
  const unknown = 'everything' in scope || own.some((service) => service.tags === null);
  const [warehouse = null, ...others] = [...new Set(own.map((service) => service.warehouse))];
  return {
    kind: 'freeze',
    id: scopeKey(scope),
    name: scopeText(scope),
    tags: unknown ? null : tags,
    warehouse: others.length > 0 || unknown ? null : warehouse,
  };
}

/** As the body of a change holds it. */
export function scopeFrom(body: JsonObject): Scope {
  return Scope.parse(body.scope);
}
