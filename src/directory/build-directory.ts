import type { Snapshot } from '../domain/change.ts';
import type { LearnedService, Service } from '../domain/targets.ts';
import { type Discovery, discoveredServices } from './discovered.ts';

/** A service of the configuration file. */
export type ConfiguredService = Omit<Service, 'source' | 'lastSeen' | 'tags' | 'discovered'> & {
  readonly tags: readonly string[];
};

/**
 * Returns all services that users can name. The configuration decides names, tags, warehouses and
 * teams: a reply of the API may add a service, but never give it a tag. `discovery` is null without
 * extended reads; with them, the server decides about the services that the configuration omits.
 */
export function buildDirectory(
  configured: readonly ConfiguredService[],
  learned: readonly LearnedService[],
  discovery: Discovery | null = null,
): readonly Service[] {
  const seen = new Map(learned.map((service) => [service.id, service]));
  const known = configured.map((service) => ({
    ...service,
    source: 'configuration',
    lastSeen: snapshotOf(seen.get(service.id)),
  }));
  const ids = new Set(configured.map(({ id }) => id.toLowerCase()));
  const others = learned.filter(({ id }) => !ids.has(id.toLowerCase())).map(learnedService);
  const unlisted = discovery ? discoveredServices(configured, others, discovery) : others;
  return [...known, ...unlisted].sort((a, b) => a.name.localeCompare(b.name));
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
