import type { ServerFacts, Service } from '../domain/targets.ts';
import { discoveredNames } from './discovered-names.ts';
import { createWarehouseNames } from './warehouse-names.ts';

/** A service in the list of the server; null for what the server did not send. */
export interface ServerService {
  readonly id: string;
  readonly name: string | null;
  readonly state: string | null;
  readonly provider: string | null;
  readonly region: string | null;
  readonly dataWarehouseId: string | null;
  readonly tags: readonly ServerTag[] | null;
}

export interface ServerTag {
  readonly key: string;
  readonly value: string | null;
}

/** What is known of the server's list of services. */
export interface Discovery {
  readonly list: readonly ServerService[];
  /** False if the list is too old: it still names services, but tells nothing else about them. */
  readonly isCurrent: boolean;
  /** The tags that the configuration declares. Others of the server are left out. */
  readonly declaredTags: readonly string[];
}

const NO_SERVER_FACTS: ServerFacts = { tags: null, warehouse: null };

/** Commands and paths contain the id, so that an entry with another text as its id is left out. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Configured = Pick<Service, 'id' | 'name' | 'aliases' | 'warehouse'>;

/**
 * Returns the services that the configuration does not list: those of the list, and those that
 * Signalbox knows from replies. The configuration decides everything about a service that it lists.
 * Source: docs/policy.md#discovered-services
 */
export function discoveredServices(
  configured: readonly Configured[],
  learned: readonly Service[],
  { list, isCurrent, declaredTags }: Discovery,
): readonly Service[] {
  const ids = new Set(configured.map(({ id }) => id.toLowerCase()));
  const unlisted = list.filter(({ id }) => UUID.test(id) && !ids.has(id.toLowerCase()));
  const warehouseOf = createWarehouseNames(configured, list);
  const factsOf = (service: ServerService): ServerFacts => ({
    tags: service.tags && policyTags(service.tags, declaredTags),
    warehouse: warehouseOf(service.dataWarehouseId),
  });
  const found = new Map(learned.map((one) => [one.id.toLowerCase(), known(one)]));
  const listed = new Set<string>();
  for (const service of unlisted) {
    const id = service.id.toLowerCase();
    // Two entries with one id contradict each other, so that nothing is known of the service.
    const facts = !isCurrent || listed.has(id) ? NO_SERVER_FACTS : factsOf(service);
    found.set(id, merged(found.get(id), service, facts));
    listed.add(id);
  }
  const names = discoveredNames([...found.values()], configured);
  return [...found.values()].map((one) => ({ ...one, ...names(one) }));
}

function known(service: Service): Service {
  return { ...service, discovered: NO_SERVER_FACTS };
}

function merged(before: Service | undefined, { id, name }: ServerService, facts: ServerFacts) {
  const service = before ?? { ...UNLISTED, id, lastSeen: null };
  return { ...service, name: name ?? before?.name ?? '', source: LIST, discovered: facts };
}

const LIST = 'list of services';

const UNLISTED = { aliases: [], tags: null, warehouse: null, team: null, pipes: [] } as const;

/** `env=prod` for a tag with a value, `prod` for one without. Tags of policies are in lower case. */
function policyTags(tags: readonly ServerTag[], declared: readonly string[]): readonly string[] {
  const words = tags.flatMap(({ key, value }) => {
    // A key with the separator would look like a key and its value.
    if (key.includes('=')) return [];
    return [(value ? `${key}=${value}` : key).toLowerCase()];
  });
  return [...new Set(words)].filter((word) => declared.includes(word));
}
