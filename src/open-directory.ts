import type { Logger } from 'pino';
import type { Config } from './config/load-config.ts';
import { buildDirectory, type Service } from './directory/directory.ts';
import type { Database } from './storage/engine/database.ts';
import { knownServices } from './storage/tables/directory.ts';

const READ_EVERY_MS = 10_000;

interface OpenedDirectory {
  /** Returns the services of the configuration in force, and those learned from replies. */
  readonly services: () => readonly Service[];
  /** Reads the directory from the database again, without waiting for it. */
  readonly refresh: () => void;
  readonly close: () => void;
}

interface DirectoryOptions {
  readonly config: Pick<Config, 'services'>;
  readonly database: Database;
  readonly log: Logger;
}

/** Opens the directory. It is read from the database every 10 s, because other replicas add to it. */
export async function openDirectory({
  config,
  database,
  log,
}: DirectoryOptions): Promise<OpenedDirectory> {
  let services: readonly Service[] = [];
  const reported = new Set<string>();
  const report = (id: string, error: Error) => {
    if (reported.has(id)) return;
    reported.add(id);
    log.error({ err: error, service: id }, 'row of known_service cannot be read; it is left out');
  };
  const read = async () => {
    services = buildDirectory(config.services, await knownServices(database.db, report));
  };
  const refresh = () => {
    read().catch((error: unknown) => log.warn({ err: error }, 'directory read failed'));
  };
  await read();
  const timer = setInterval(refresh, READ_EVERY_MS);
  return { services: () => services, refresh, close: () => clearInterval(timer) };
}
