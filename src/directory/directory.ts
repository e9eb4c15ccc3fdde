import type { Json, JsonObject, Snapshot, Target } from '../changes/change.ts';

/** A service that users can name: configured, or learned from a reply or the usage report. */
export interface Service {
  readonly id: string;
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
}

export interface LearnedService {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly seenAt: Date;
  readonly fields: JsonObject;
}

type ConfiguredService = Omit<Service, 'source' | 'lastSeen' | 'tags'> & {
  readonly tags: readonly string[];
};

/**
 * Returns all services that users can name. The configuration decides names, tags, warehouses and
 * teams: a reply of the API may add a service, but never give it a tag.
 */
export function buildDirectory(
  configured: readonly ConfiguredService[],
  learned: readonly LearnedService[],
): readonly Service[] {
  const seen = new Map(learned.map((service) => [service.id, service]));
  const known = configured.map((service) => ({
    ...service,
    source: 'configuration',
    lastSeen: snapshotOf(seen.get(service.id)),
  }));
  const ids = new Set(configured.map(({ id }) => id));
  const others = learned.filter(({ id }) => !ids.has(id)).map(learnedService);
  return [...known, ...others].sort((a, b) => a.name.localeCompare(b.name));
}

function learnedService(learned: LearnedService): Service {
  return {
    id: learned.id,
    name: learned.name,
    aliases: [],
    tags: null,
    warehouse: null,
    team: null,
    pipes: [],
    source: learned.source,
    lastSeen: snapshotOf(learned),
  };
}

// The usage report names a service but has no state of it.
function snapshotOf(learned: LearnedService | undefined): Snapshot | null {
  if (!learned || Object.keys(learned.fields).length === 0) return null;
  return { fields: learned.fields, seenAt: learned.seenAt, source: learned.source };
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
  const byName = items.filter(({ name, aliases }) =>
    [name, ...aliases].some((word) => word.toLowerCase() === wanted),
  );
  // Cards show the first eight characters of an id, so that users can type them.
  const isShortId = byName.length === 0 && /^[0-9a-f]{8}$/.test(wanted);
  return isShortId ? items.filter(({ id }) => id.toLowerCase().startsWith(wanted)) : byName;
}

export function serviceTarget(service: Service): Target {
  const { id, name, tags, warehouse } = service;
  return { kind: 'service', id, name, tags, warehouse };
}

/** The tags of a target that the configuration does not list: rules by tag or warehouse refuse it. */
export const UNKNOWN_TAGS = { tags: null, warehouse: null } as const;

/**
 * Returns the tags and warehouse of a new service. In an existing warehouse it has the tags of its
 * services, if the configuration has this warehouse under its id; otherwise they are unknown.
 */
export function newServiceTags(
  warehouseId: Json | undefined,
  services: readonly Service[],
): Pick<Target, 'tags' | 'warehouse'> {
  if (warehouseId === undefined) return { tags: [], warehouse: null };
  const wanted = String(warehouseId).toLowerCase();
  const own = services.filter(({ warehouse }) => warehouse?.toLowerCase() === wanted);
  const [first] = own;
  if (!first) return UNKNOWN_TAGS;
  const tags = [...new Set(own.flatMap((service) => service.tags ?? []))];
  return { tags, warehouse: first.warehouse };
}
