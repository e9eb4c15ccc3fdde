import type { Logger } from 'pino';
import { createOutageLog } from './base/log.ts';
import { buildDirectory, type ConfiguredService } from './directory/build-directory.ts';
import type { ServerService } from './directory/discovered.ts';
import type { Service } from './domain/targets.ts';
import type { Database } from './storage/engine/database.ts';
import { knownServices } from './storage/tables/directory.ts';

const READ_EVERY_MS = 10_000;

const OUTAGE = {
  began: 'directory read failed; Signalbox reads it again every 10 s',
  ended: 'directory can be read again',
};

/** How long the tags and warehouses of the server's list count for requests and approvals. */
const LIST_VALID_MS = 600_000;

export interface OpenedDirectory {
  /** Returns the services of the configuration in force, those learned from replies, and discovered ones. */
  readonly services: () => readonly Service[];
  /** Reads the directory from the database again, without waiting for it. */
  readonly refresh: () => void;
  /** Takes the server's list of services. Without extended reads there is none. */
  readonly learnList: (list: readonly ServerService[], readAt: Date) => void;
  /** Returns the services with the facts of this list; null: discovered services have none. */
  readonly withList: (list: readonly ServerService[] | null) => readonly Service[];
  readonly close: () => void;
}

interface DirectoryOptions {
  readonly config: {
    readonly services: readonly ConfiguredService[];
    readonly reads: 'contract' | 'extended';
    /** Tags that the configuration accepts from the server. */
    readonly serverTags: readonly string[];
  };
  readonly database: Database;
  readonly log: Logger;
  readonly now: () => Date;
}

/** Opens the directory. It is read from the database every 10 s, because other replicas add to it. */
export async function openDirectory({
  config,
  database,
  log,
  now,
}: DirectoryOptions): Promise<OpenedDirectory> {
  let learned: Awaited<ReturnType<typeof knownServices>> = [];
  let listed: { readonly list: readonly ServerService[]; readonly readAt: Date } | null = null;
  let built: { readonly isCurrent: boolean; readonly services: readonly Service[] } | null = null;
  const reported = new Set<string>();
  const report = (id: string, error: Error) => {
    if (reported.has(id)) return;
    reported.add(id);
    log.error({ err: error, service: id }, 'row of known_service cannot be read; it is left out');
  };
  const read = async () => {
    learned = await knownServices(database.db, report);
    built = null;
  };
  const outage = createOutageLog(log, OUTAGE);
  const refresh = () => {
    read().then(outage.ended, (error: unknown) => outage.failed(String(error), { err: error }));
  };
  const declaredTags = [...config.services.flatMap(({ tags }) => tags), ...config.serverTags];
  const build = (list: readonly ServerService[], isCurrent: boolean) =>
    buildDirectory(
      config.services,
      learned,
      config.reads === 'extended' ? { list, isCurrent, declaredTags } : null,
    );
  const services = () => {
    const isCurrent = listed !== null && now().getTime() - listed.readAt.getTime() <= LIST_VALID_MS;
    if (built?.isCurrent !== isCurrent) {
      built = { isCurrent, services: build(listed?.list ?? [], isCurrent) };
    }
    return built.services;
  };
  await read();
  const timer = setInterval(refresh, READ_EVERY_MS);
  return {
    services,
    refresh,
    learnList: (list, readAt) => {
      listed = { list, readAt };
      built = null;
    },
    withList: (list) => build(list ?? listed?.list ?? [], list !== null),
    close: () => clearInterval(timer),
  };
}
