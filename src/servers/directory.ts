import type { Logger } from 'pino';
import { createOutageLog } from '../base/log.ts';
import type { Snapshot } from '../domain/change.ts';
import type { LearnedService, NamedItem, ServerFacts, Service } from '../domain/targets.ts';
import { reading, type Store, transaction } from '../storage/index.ts';
import type { ServiceReading } from './cloud-readings.ts';
import type { CloudReads } from './cloud-reads.ts';
import { knownServices, learnedReading, learnServices } from './facts.ts';

// The services that users can name: configured, learned from replies, and discovered on the server.

/** A service of the configuration file. */
type ConfiguredService = Omit<
  Service,
  'source' | 'lastSeen' | 'tags' | 'discovered' | 'organization'
> & {
  readonly tags: readonly string[];
};

/**
 * Returns all services that users can name. The configuration decides names, tags, warehouses and
 * teams: a reply of the API may add a service, but never give it a tag. `discoveries` is null without
 * extended reads; with them, the server decides about the services that the configuration omits.
 */
export function buildDirectory(
  configured: readonly ConfiguredService[],
  known: readonly LearnedService[],
  discoveries: readonly Discovery[] | null = null,
  organizations: readonly NamedOrganization[] = [],
): readonly Service[] {
  const isOurs = new Set(organizations.map(({ id }) => id));
  const learned = known.filter(
    ({ organizationId }) => isOurs.size === 0 || isOurs.has(organizationId),
  );
  const seen = new Map(learned.map((service) => [service.id, service]));
  const listed = configured.map((service) => ({
    ...service,
    source: 'configuration',
    lastSeen: snapshotOf(seen.get(service.id)),
  }));
  const ids = new Set(configured.map(({ id }) => id.toLowerCase()));
  const others = learned.filter(({ id }) => !ids.has(id.toLowerCase())).map(learnedService);
  const unlisted =
    discoveries?.flatMap((one) => discoveredServices(configured, others, one)) ?? others;
  const nameOf = new Map(organizations.map(({ id, name }) => [id, name]));
  const all: Service[] = [...listed, ...unlisted].map((service) => {
    const organization = nameOf.size > 1 ? nameOf.get(service.organizationId) : null;
    return organization ? inOrganization(service, organization, [...nameOf.values()]) : service;
  });
  return all.sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * Among several organizations, its name is `prod-eu/analytics`, and `analytics` may be that of several. A name that begins
 * like one of another organization means nothing without its own before it.
 */
function inOrganization(
  service: Service,
  organization: string,
  all: readonly (string | null)[],
): Service {
  const full = (name: string) => `${organization}/${name}`;
  const short = [service.name, ...service.aliases].filter((name) =>
    all.every((each) => !name.toLowerCase().startsWith(`${each}/`)),
  );
  const aliases = [...short, ...service.aliases.map(full)];
  return { ...service, organization, name: full(service.name), aliases };
}

/** An organization of the configuration. `name` is null where it is the only one. */
interface NamedOrganization {
  readonly id: string;
  readonly name: string | null;
}

const UNLISTED = { aliases: [], tags: null, warehouse: null, team: null, pipes: [] } as const;

function learnedService(learned: LearnedService): Service {
  const { id, organizationId, name, source } = learned;
  return { ...UNLISTED, id, organizationId, name, source, lastSeen: snapshotOf(learned) };
}

// The usage report names a service but has no state of it.
function snapshotOf(learned: LearnedService | undefined): Snapshot | null {
  if (!learned || Object.keys(learned.fields).length === 0) return null;
  return { fields: learned.fields, seenAt: learned.seenAt, source: learned.source };
}

/** A service in the list of the server; null for what the server did not send. */
export type ServerService = Pick<
  ServiceReading,
  'id' | 'name' | 'state' | 'provider' | 'region' | 'dataWarehouseId' | 'tags'
>;
export type ServerTag = NonNullable<ServerService['tags']>[number];

/** What is known of the server's list of services of an organization. */
interface Discovery {
  readonly organizationId: string;
  readonly list: readonly ServerService[];
  /** False if the list is too old: it still names services, but shows nothing else about them. */
  readonly isCurrent: boolean;
  /** The tags that the configuration declares. Others of the server are left out. */
  readonly declaredTags: readonly string[];
}

type Configured = Pick<Service, 'id' | 'organizationId' | 'name' | 'aliases' | 'warehouse'>;

const NO_SERVER_FACTS: ServerFacts = { tags: null, warehouse: null };

/**
 * Returns the services that the configuration does not list: those of the list, and those that
 * Signalbox knows from replies. The configuration decides everything about a service that it lists.
 * Source: docs/policy.md#discovered-services
 */
function discoveredServices(
  configured: readonly Configured[],
  learned: readonly Service[],
  { organizationId, list, isCurrent, declaredTags }: Discovery,
): readonly Service[] {
  const isOwn = (one: Pick<Service, 'organizationId'>) => one.organizationId === organizationId;
  const ids = new Set(configured.map(({ id }) => id.toLowerCase()));
  const unlisted = list.filter(({ id }) => UUID.test(id) && !ids.has(id.toLowerCase()));
  const warehouseOf = createWarehouseNames(configured.filter(isOwn), list);
  const factsOf = (service: ServerService): ServerFacts => ({
    tags: service.tags && policyTags(service.tags, declaredTags),
    warehouse: warehouseOf(service.dataWarehouseId),
  });
  const found = new Map<string, Service>(
    learned
      .filter(isOwn)
      .map((one) => [one.id.toLowerCase(), { ...one, discovered: NO_SERVER_FACTS }]),
  );
  const listed = new Set<string>();
  for (const service of unlisted) {
    const id = service.id.toLowerCase();
    const before = found.get(id);
    found.set(id, {
      ...(before ?? { ...UNLISTED, id: service.id, lastSeen: null }),
      organizationId,
      name: service.name ?? before?.name ?? '',
      source: 'list of services',
      // Two entries with one id contradict each other, so that nothing is known of the service.
      discovered: !isCurrent || listed.has(id) ? NO_SERVER_FACTS : factsOf(service),
    });
    listed.add(id);
  }
  const names = discoveredNames([...found.values()], configured);
  return [...found.values()].map((one) => ({ ...one, ...names(one) }));
}

/** `env=prod` for a tag with a value, `prod` for one without. Tags of policies are in lower case. */
function policyTags(tags: readonly ServerTag[], declared: readonly string[]): readonly string[] {
  const words = tags.flatMap(({ key, value }) => {
    // A key with the separator would look like a key and its value.
    if (key.includes('=')) return [];
    return [(value ? `${key}=${value}` : key).toLowerCase()];
  });
  return [...new Set(words)].filter((word) => declared.includes(word));
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns a function from the server's id of a warehouse to its name in the configuration, which is
 * known from the configured services in it. A warehouse without a configured service has its id as
 * its name. Null: unknown, because two names fit, or because the place of a configured one is unknown.
 */
function createWarehouseNames(
  configured: readonly Configured[],
  list: readonly ServerService[],
): (warehouseId: string | null) => string | null {
  const places = new Map(
    list.map(({ id, dataWarehouseId }) => [id.toLowerCase(), dataWarehouseId]),
  );
  const pairs = configured.flatMap(({ id, warehouse }) => {
    if (warehouse === null) return [];
    // The configuration may name a warehouse by its id.
    const place = UUID.test(warehouse) ? warehouse : (places.get(id.toLowerCase()) ?? null);
    return [{ warehouse, place: place?.toLowerCase() ?? null }];
  });
  const placed = new Set(pairs.flatMap(({ warehouse, place }) => (place ? [warehouse] : [])));
  const isComplete = pairs.every(({ warehouse }) => placed.has(warehouse));

  return (warehouseId) => {
    if (warehouseId === null) return null;
    const own = pairs.filter(({ place }) => place === warehouseId.toLowerCase());
    const [name, ...others] = new Set(own.map(({ warehouse }) => warehouse));
    if (others.length > 0) return null;
    return name ?? (isComplete ? warehouseId : null);
  };
}

/**
 * Returns a function that gives each discovered service a name which no user can confuse with
 * another one. A name that resembles a configured name, an id or a scope, that two services share,
 * or that has unusual characters, ends with the start of the id. Typing a configured name therefore
 * never finds a discovered service, and typing a shared name finds all of its services.
 */
function discoveredNames(
  discovered: readonly Pick<NamedItem, 'id' | 'name'>[],
  configured: readonly NamedItem[],
): (service: Pick<NamedItem, 'id' | 'name'>) => Pick<NamedItem, 'name' | 'aliases'> {
  const reserved = new Set(
    configured.flatMap(({ name, aliases }) => [name, ...aliases].map(shapeOf)),
  );
  const uses = new Map<string, number>();
  for (const { name } of discovered) {
    const shape = shapeOf(cleanName(name));
    uses.set(shape, (uses.get(shape) ?? 0) + 1);
  }
  return ({ id, name }) => {
    const text = cleanName(name);
    const shape = shapeOf(text);
    const full = `${text} (${id.slice(0, 8)})`.trim();
    if (text === '' || reserved.has(shape) || isMisleading(text))
      return { name: full, aliases: [] };
    const isShared = (uses.get(shape) ?? 0) > 1;
    const isPlain = text === name && PLAIN.test(text);
    return isPlain && !isShared ? { name: text, aliases: [] } : { name: full, aliases: [text] };
  };
}

const PLAIN = /^[A-Za-z0-9][A-Za-z0-9 ._-]*$/;

/** As long as the names that servers accept. */
const LONGEST = 50;

/** Returns a name without invisible characters and changes of direction, at most 50 characters long. */
function cleanName(name: string): string {
  const visible = name.replace(/\p{C}/gu, '').replace(/\s+/gu, ' ').trim();
  const characters = [...visible];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : visible;
}

/** Words that a command reads as an id, or as a scope of several services. */
function isMisleading(text: string): boolean {
  return /^[0-9a-f]{8}(-|$)/i.test(text) || /^(everything\b|all$|[a-z]+:)/i.test(text);
}

/** The same for names that look alike in the fonts of Slack. */
function shapeOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s._-]+/g, '-')
    .replace(/[1i|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

const READ_EVERY_MS = 10_000;

const OUTAGE = {
  began: 'directory read failed; Signalbox reads it again every 10 s',
  ended: 'directory can be read again',
};

/** How long the tags and warehouses of the server's list count for requests and approvals. */
const LIST_VALID_MS = 600_000;

export type OpenedDirectory = Awaited<ReturnType<typeof openDirectory>>;

interface DirectoryOptions {
  readonly config: {
    readonly organizations: readonly NamedOrganization[];
    readonly services: readonly ConfiguredService[];
    readonly reads: 'contract' | 'extended';
    /** Tags that the configuration accepts from the server. */
    readonly serverTags: readonly string[];
  };
  readonly store: Store;
  readonly log: Logger;
  readonly now: () => Date;
}

/** Opens the directory. It is read from the database every 10 s, because other replicas add to it. */
export async function openDirectory({ config, store, log, now }: DirectoryOptions) {
  let learned: Awaited<ReturnType<typeof knownServices>> = [];
  const lists = new Map<string, Pick<Discovery, 'list'> & { readonly readAt: Date }>();
  let built: { readonly current: string; readonly services: readonly Service[] } | null = null;
  const reported = new Set<string>();
  const report = (id: string, error: unknown) => {
    if (reported.has(id)) return;
    reported.add(id);
    log.error({ err: error, service: id }, 'row of known_service cannot be read; it is left out');
  };
  const read = async () => {
    learned = await reading(store, (reader) => knownServices(reader, report));
    built = null;
  };
  const outage = createOutageLog(log, OUTAGE);
  const refresh = () => {
    read().then(outage.ended, (error: unknown) => outage.failed(String(error), { err: error }));
  };
  const declaredTags = [...config.services.flatMap(({ tags }) => tags), ...config.serverTags];
  const organizationIds = config.organizations.map(({ id }) => id);
  const build = (current: readonly string[], own: typeof lists = lists) =>
    buildDirectory(
      config.services,
      learned,
      config.reads === 'extended'
        ? organizationIds.map((organizationId) => ({
            ...{ organizationId, declaredTags },
            list: own.get(organizationId)?.list ?? [],
            isCurrent: current.includes(organizationId),
          }))
        : null,
      config.organizations,
    );
  const currentLists = () => {
    const since = now().getTime() - LIST_VALID_MS;
    return organizationIds.filter((id) => (lists.get(id)?.readAt.getTime() ?? 0) >= since);
  };
  const services = () => {
    const current = currentLists();
    if (built?.current !== current.join()) {
      built = { current: current.join(), services: build(current) };
    }
    return built.services;
  };
  const learnedAt = new Map<string, number>();
  /** A cached list was learned when it was read. */
  const learn = async (
    organizationId: string,
    readings: readonly ServiceReading[],
    readAt: Date,
  ) => {
    if (readAt.getTime() === learnedAt.get(organizationId)) return;
    learnedAt.set(organizationId, readAt.getTime());
    const names = new Map(learned.map(({ id, name }) => [id, name]));
    const nameOf = ({ id, name }: ServiceReading) => name ?? names.get(id) ?? id.slice(0, 8);
    const all = readings.map((each) =>
      learnedReading(each, { name: nameOf(each), organizationId }, readAt),
    );
    try {
      await transaction(store, (tx) => learnServices(tx, all));
      await read();
    } catch (err) {
      log.warn({ err }, 'services that were read could not be stored');
    }
  };
  await read();
  const timer = setInterval(refresh, READ_EVERY_MS);
  return {
    /** Returns the services of the configuration in force, those learned from replies, and discovered ones. */
    services,
    /** Reads the directory from the database again, without waiting for it. */
    refresh,
    /** Optional reads whose services are known from then on: what was shown once is never unknown later. */
    remembering: (organizationId: string, reads: CloudReads): CloudReads => ({
      ...reads,
      service: async (id, how) => {
        const found = await reads.service(id, how);
        if (found.known) await learn(organizationId, [found.value], found.readAt);
        return found;
      },
      services: async (how) => {
        const found = await reads.services(how);
        if (found.known) await learn(organizationId, found.value, found.readAt);
        return found;
      },
    }),
    /** Takes the server's list of services of an organization. Without extended reads there is none. */
    learnList: (organizationId: string, list: readonly ServerService[], readAt: Date) => {
      lists.set(organizationId, { list, readAt });
      built = null;
    },
    /** Returns the services with the facts of this list; null: the discovered ones of the organization have none. */
    withList: (organizationId: string, list: readonly ServerService[] | null) => {
      const others = currentLists().filter((id) => id !== organizationId);
      if (list === null) return build(others);
      const own = new Map(lists).set(organizationId, { list, readAt: now() });
      return build([...others, organizationId], own);
    },
    close: () => clearInterval(timer),
  };
}

const EVERY_MS = 60_000;
const RETRY_MS = 15_000;

interface DiscoveryOptions {
  readonly organizations: readonly {
    readonly id: string;
    readonly reads: Pick<CloudReads, 'services'>;
  }[];
  readonly directory: Pick<OpenedDirectory, 'services' | 'learnList' | 'withList'>;
  /** False with `cloud.reads: contract`: nothing is read. */
  readonly isOn: boolean;
  /** Nothing is read before this is true. */
  readonly isReady: () => boolean;
  readonly now: () => Date;
}

/** Keeps the directory equal to the lists of services of live servers. */
export function createDiscovery(options: DiscoveryOptions) {
  const { organizations, directory, isOn, isReady, now } = options;
  const dueAt = new Map<string, number>();
  const readList = async ({ id, reads }: (typeof organizations)[number]) => {
    dueAt.set(id, now().getTime() + EVERY_MS);
    const read = await reads.services();
    // The request budget may be used up: the next window has places again.
    if (!read.known && read.gap === 'no-answer') dueAt.set(id, now().getTime() + RETRY_MS);
    if (!read.known) return;
    directory.learnList(id, read.value, read.readAt);
    // Counted from the read: a cached list is almost a minute old already.
    dueAt.set(id, read.readAt.getTime() + EVERY_MS);
  };
  return {
    /** A pass that reads each list of services once per minute, with the lowest priority. */
    pass: async () => {
      const isDue = ({ id }: { readonly id: string }) => now().getTime() >= (dueAt.get(id) ?? 0);
      const due = isOn && isReady() ? organizations.filter(isDue) : [];
      await Promise.all(due.map(readList));
      return due.length === 0 ? 'not-due' : 'read';
    },
    /** Reads the list of an organization now. Without an answer, nothing is known about its discovered services. */
    verify: async (organizationId: string) => {
      const own = organizations.find(({ id }) => id === organizationId);
      if (!isOn || !own) return directory.services();
      const read = await own.reads.services({ fresh: true, waiting: true });
      if (!read.known) return directory.withList(organizationId, null);
      directory.learnList(organizationId, read.value, read.readAt);
      return directory.withList(organizationId, read.value);
    },
  };
}
