import type { JsonObject, Snapshot, Target } from '../changes/change.ts';

/** A service as people name it: from the configuration, or learned from a reply or a report. */
export interface Service {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  /** Null for a service that the configuration does not list: nobody has said. */
  readonly tags: readonly string[] | null;
  readonly warehouse: string | null;
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
 * All services that can be named. What the configuration says of names, tags and warehouse
 * always wins: a reply from outside may add a service, but never lend it a tag.
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
    pipes: [],
    source: learned.source,
    lastSeen: snapshotOf(learned),
  };
}

// A report of costs names a service but says nothing of its condition.
function snapshotOf(learned: LearnedService | undefined): Snapshot | null {
  if (!learned || Object.keys(learned.fields).length === 0) return null;
  return { fields: learned.fields, seenAt: learned.seenAt, source: learned.source };
}

/** Anything that people call by a name: a service, a pipe of it, an alert. */
export interface NamedItem {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
}

/** Every thing of exactly this name, alias or id; more than one where names are shared. */
export function findByName<T extends NamedItem>(things: readonly T[], text: string): readonly T[] {
  const wanted = text.trim().toLowerCase();
  const byId = things.filter(({ id }) => id.toLowerCase() === wanted);
  if (byId.length > 0) return byId;
  const byName = things.filter(({ name, aliases }) =>
    [name, ...aliases].some((word) => word.toLowerCase() === wanted),
  );
  // Cards show the first eight letters of an id: what is shown may be typed.
  const isShortId = byName.length === 0 && /^[0-9a-f]{8}$/.test(wanted);
  return isShortId ? things.filter(({ id }) => id.toLowerCase().startsWith(wanted)) : byName;
}

export function serviceTarget(service: Service): Target {
  const { id, name, tags, warehouse } = service;
  return { kind: 'service', id, name, tags, warehouse };
}
