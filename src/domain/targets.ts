// A service that users can name: how it is found and named, what the policy reads of it, and its size
// and state in words.

import { type Json, type JsonObject, splitWords } from '../base/text.ts';
import type { CommandOffer } from './answer.ts';
import type { Snapshot, Target } from './change.ts';
import { wordOf } from './words.ts';

/** A service that users can name: configured, learned from a reply or the usage report, or discovered. */
export interface Service {
  readonly id: string;
  readonly organizationId: string;
  /** The name of its organization; missing where only one is configured. */
  readonly organization?: string;
  readonly name: string;
  readonly aliases: readonly string[];
  /** Null for a service that the configuration does not list. */
  readonly tags: readonly string[] | null;
  readonly warehouse: string | null;
  /** Groups costs; null also for a service that the configuration does not list. */
  readonly team: string | null;
  readonly pipes: readonly { readonly id: string; readonly name: string }[];
  readonly source: string;
  readonly lastSeen: Snapshot | null;
  /** With extended reads: what the server says about a service that the configuration does not list. */
  readonly discovered?: ServerFacts;
}

/**
 * What the server says about a service that the configuration does not list: tags as policies write them, and the
 * warehouse of the configuration, or the server's id of another one.
 */
export type ServerFacts = Pick<Target, 'tags' | 'warehouse'>;

/** A service as a reply or the usage report named it. */
export interface LearnedService {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly source: string;
  readonly seenAt: Date;
  readonly fields: JsonObject;
}

/** Anything with a name: a service, a pipe, an alert, a freeze. */
export interface NamedItem {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
}

/** Returns the items with this name, alias or id; several if they share a name. */
export function findByName<T extends NamedItem>(items: readonly T[], text: string): readonly T[] {
  const wanted = text.trim().toLowerCase();
  const byId = items.filter(({ id }) => id.toLowerCase() === wanted);
  if (byId.length > 0) return byId;
  const called = (is: (word: string) => boolean) =>
    items.filter(({ name, aliases }) => [name, ...aliases].some((word) => is(word.toLowerCase())));
  const [exact, loose] = [called((word) => word === wanted), joined(wanted)];
  const byName = exact.length > 0 ? exact : called((word) => joined(word) === loose);
  // Cards show the first eight characters of an id, so that users can type them.
  const isShortId = byName.length === 0 && /^[0-9a-f]{8}$/.test(wanted);
  return isShortId ? items.filter(({ id }) => id.toLowerCase().startsWith(wanted)) : byName;
}

/** People type a space, a hyphen or an underscore between the words of a name. */
function joined(name: string): string {
  return name.replace(/[\s_-]+/g, '-');
}

/** Returns the name of an item, or its id if the name is ambiguous or cannot be typed. */
export function nameToType(thing: NamedItem, things: readonly NamedItem[]): string {
  const [word, ...more] = splitWords(`"${thing.name}"`);
  const found = word && more.length === 0 ? findByName(things, word.text) : [];
  return found.length === 1 && found[0] === thing ? thing.name : thing.id;
}

/** Like `nameToType`, but short: Slack limits the lines of a menu, which name an id as well. */
export function menuReference(thing: NamedItem, things: readonly NamedItem[]): string {
  const name = nameToType(thing, things);
  return name.length <= MENU_NAME_MAX ? name : thing.id.slice(0, SHORT_ID);
}

const MENU_NAME_MAX = 20;
const SHORT_ID = 8;

/** The target of a change of a service, with what the policy reads of it. */
export function serviceTarget(service: Service): Target {
  const { id, name } = service;
  return { kind: 'service', id, name, ...policyFacts(service) };
}

/** What the policy reads of a target. */
export type PolicyFacts = Pick<Target, 'tags' | 'warehouse' | 'discovered' | 'organization'>;

/** Returns the facts of the configuration, or those of the server for a discovered service. */
export function policyFacts(service: Service): PolicyFacts {
  const { tags, warehouse, discovered, organizationId: id, organization: name } = service;
  const organization = name === undefined ? {} : { organization: { id, name } };
  if (!discovered) return { tags, warehouse, ...organization };
  return { ...discovered, discovered: true, ...organization };
}

/** Whether the policy reads the same facts in both targets. */
export function hasSameFacts(one: Target, other: Target): boolean {
  const text = ({ tags, warehouse, discovered }: Target) =>
    JSON.stringify([tags && [...tags].sort(), warehouse, discovered === true]);
  // One of them may be from the time when only one organization was configured.
  const [a, b] = [one.organization ?? other.organization, other.organization ?? one.organization];
  return text(one) === text(other) && a?.id === b?.id;
}

/** The tags of a target that the configuration does not list: rules by tag or warehouse refuse it. */
export const UNKNOWN_TAGS = { tags: null, warehouse: null } as const;

/** The services of the configuration in a warehouse, by its id, by its name, or by what the server reported of them. */
export function servicesInWarehouse(
  warehouse: string,
  services: readonly Service[],
): readonly Service[] {
  const wanted = warehouse.toLowerCase();
  const named = services.filter((each) => each.warehouse?.toLowerCase() === wanted);
  if (named.length > 0) return named;
  return services.filter((each) => each.warehouse !== null && warehouseIdOf(each) === wanted);
}

/** The id of the warehouse of a service, as the server reported it; null: unknown. */
export function warehouseIdOf({ lastSeen }: Service): string | null {
  const id = lastSeen?.fields.dataWarehouseId;
  return typeof id === 'string' ? id.toLowerCase() : null;
}

/**
 * Returns the tags and warehouse of a new service. In an existing warehouse it has the tags of its
 * services, if the configuration has one warehouse with this id; otherwise they are unknown.
 */
export function newServiceTags(
  warehouseId: Json | undefined,
  services: readonly Service[],
): Pick<Target, 'tags' | 'warehouse'> {
  if (warehouseId === undefined) return { tags: [], warehouse: null };
  const own = servicesInWarehouse(String(warehouseId), services);
  const [first] = own;
  if (!first || own.some(({ warehouse }) => warehouse !== first.warehouse)) return UNKNOWN_TAGS;
  const tags = [...new Set(own.flatMap((service) => service.tags ?? []))];
  return { tags, warehouse: first.warehouse };
}

/** Formats a value for users: booleans as on and off, lists with commas. */
export function valueText(value: Json): string {
  if (value === null) return 'unknown';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(itemText).join(', ');
  return typeof value === 'object' ? itemText(value) : String(value);
}

function itemText(item: Json): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return String(item);
  return Object.values(item).map(valueText).join(' ');
}

/**
 * The size that applies now, and the requested one where the two differ:
 * `64 GB × 3 replicas (scaling schedule entry “Business hours”), otherwise 16–64 GB × 3 replicas`.
 */
export function currentSizeText(fields: JsonObject): string | null {
  const requested = sizeText(fields);
  const applied = appliedFields(fields);
  const now = applied && sizeText(applied);
  if (!now || requested === null) return now || requested;
  if (!differs(memoryText, fields, applied) && !differs(replicasText, fields, applied)) {
    return requested;
  }
  const entry = applied.scheduleEntry;
  return entry
    ? `${now} (scaling schedule entry ${entry}), otherwise ${requested}`
    : `${now}, changing to ${requested}`;
}

/** `16–64 GB × 3 replicas`: the memory of each replica and their number; null if both are unknown. */
function sizeText(fields: JsonObject): string | null {
  const replicas = replicasText(fields);
  const count = replicas && `${replicas} ${replicas === '1' ? 'replica' : 'replicas'}`;
  return [memoryText(fields), count].filter((text) => text !== null).join(' × ') || null;
}

/** `16–64 GB`; null if neither bound is known. The fields are those of a service or a snapshot. */
export function memoryText(fields: JsonObject): string | null {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, replicaMemoryGb, approximate } = fields;
  const memory = rangeText(min, max) ?? rangeText(replicaMemoryGb, replicaMemoryGb);
  if (memory !== null) return `${memory} GB`;
  const about = isFields(approximate) ? memoryText(approximate) : null;
  return about && `about ${about}`;
}

/** `3`, or `2–6` for a service that scales the number of replicas; null if it is unknown. */
export function replicasText(fields: JsonObject): string | null {
  const isHorizontal = fields.autoscalingMode === 'horizontal';
  if (isHorizontal) return rangeText(fields.minReplicas, fields.maxReplicas);
  return rangeText(fields.numReplicas, fields.numReplicas);
}

/** The fields that apply now; null if the server does not report them. */
function appliedFields({ applied }: JsonObject): JsonObject | null {
  return isFields(applied) ? applied : null;
}

/** A part that one side does not have is no difference. */
function differs(part: (of: JsonObject) => string | null, one: JsonObject, other: JsonObject) {
  const [a, b] = [part(one), part(other)];
  return a !== null && b !== null && a !== b;
}

function rangeText(min: Json | undefined, max: Json | undefined): string | null {
  if ((min ?? null) === null && (max ?? null) === null) return null;
  return [...new Set([min, max])].map((bound) => bound ?? '?').join('–');
}

function isFields(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a state means for a start or a stop. */
export type StateClass = 'up' | 'down' | 'failed' | 'gone';

const STATES_OF: Readonly<Record<StateClass, readonly string[]>> = {
  // An idle service starts with the next query, so that it counts as running.
  up: ['running', 'idle', 'awaking', 'starting', 'provisioning', 'degraded', 'partially_running'],
  down: ['stopped', 'stopping'],
  failed: ['failed'],
  gone: ['terminating', 'terminated', 'softdeleting', 'softdeleted'],
};

/** Returns what a state means; null for one that is missing, or that a newer server sends: it never decides anything. */
export function classOf(state: Json | undefined): StateClass | null {
  const known = Object.entries(STATES_OF).find(([, states]) => states.includes(String(state)));
  // The keys of STATES_OF.
  return (known?.[0] as StateClass | undefined) ?? null;
}

/**
 * Says that a service that was read now is in one of these states already, with what the user can do
 * instead; null if it is in another state.
 */
export function alreadyInState(
  { id, name }: Pick<Service, 'id' | 'name'>,
  before: Snapshot | null,
  states: readonly string[],
): NoEffect | null {
  const { state } = before?.wasRead ? before.fields : {};
  if (typeof state !== 'string' || !states.includes(state)) return null;
  const isDown = classOf(state) === 'down';
  const [label, verb] = isDown ? ['Start it…', 'start'] : ['Stop it…', 'stop'];
  return {
    sentence: `${name} is already ${wordOf(state)} (checked just now), so nothing was requested.`,
    offers: [
      { label, line: `service ${verb} ${id}` },
      { label: 'Show it', line: `service show ${id}` },
    ],
  };
}

/** Why a change is not needed, and what the user can do instead. */
export interface NoEffect {
  readonly sentence: string;
  readonly offers: readonly CommandOffer[];
}
