import type { JsonObject } from '../base/text.ts';
import { countWords, oneLineOf, utcStamp } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import type { DashboardReading, WebhookReading } from '../servers/alerts-reads.ts';
import type { BackupReading, PipeReading, ServiceReading } from '../servers/cloud-readings.ts';
import type { TypedValues } from './arguments.ts';
import { backupSummary, isGood, newestFirst } from './backup.ts';
import type { ListedItem } from './define.ts';
import { reportedTime } from './reported.ts';

/** A list that a server returned, with what its items need besides. */
type ListReading =
  | {
      readonly list: 'backup';
      /** The name of the service, where the backups of several are listed. */
      readonly of: string | null;
      readonly backups: readonly BackupReading[];
      /** What the service is known by: a restore is made in its place. */
      readonly service: Service;
      readonly now: Date;
    }
  | { readonly list: 'pipe'; readonly of: Service; readonly pipes: readonly PipeReading[] }
  | { readonly list: 'webhook'; readonly webhooks: readonly WebhookReading[] }
  | {
      readonly list: 'dashboard' | 'tile';
      /** The id of the dashboard whose tiles are listed; if none has it, those of all. */
      readonly of: string | undefined;
      readonly dashboards: readonly DashboardReading[];
    }
  | { readonly list: 'data warehouse'; readonly services: readonly ServiceReading[] };

/** What a form offers for a field whose value is an id: the items of a list of the server. */
export function itemsOf(reading: ListReading): readonly ListedItem[] {
  switch (reading.list) {
    case 'backup':
      return backupItems(reading.backups, reading.of, reading.now).map((each) => ({
        ...each,
        fills: placeOf(reading.service.lastSeen?.fields ?? {}),
      }));
    case 'pipe':
      return pipeItems(reading.of, reading.pipes);
    case 'webhook':
      return reading.webhooks.map(({ id, name, service }) => item(id, name, service ?? ''));
    case 'dashboard':
      return reading.dashboards.map(({ id, name, tiles }) =>
        item(id, name, tiles === null ? '' : countWords(tiles.length, 'tile')),
      );
    case 'tile':
      return tileItems(reading.dashboards, reading.of);
    case 'data warehouse':
      return warehouseItems(reading.services);
  }
}

/** Backups by their time, the latest finished one first. */
function backupItems(backups: readonly BackupReading[], of: string | null, now: Date) {
  return newestFirst(backups)
    .toSorted((a, b) => Number(isGood(b)) - Number(isGood(a)))
    .map((backup) => {
      const at = reportedTime(backup.startedAt ?? backup.finishedAt);
      const name = [of, at ? utcStamp(at) : backup.id].filter((part) => part !== null).join(' · ');
      return item(backup.id, name, backupSummary(backup, now));
    });
}

/** The pipes of a service with their states. A configured name wins, and both can be typed. */
function pipeItems(service: Service, pipes: readonly PipeReading[]): readonly ListedItem[] {
  return pipes.map(({ id, name, state, source }) => {
    const own = service.pipes.find((pipe) => pipe.id === id)?.name ?? null;
    const from = [source?.family, source?.type].filter(Boolean).join(', ');
    const about = [state ?? 'state unknown', from].filter(Boolean).join(' · ');
    const aliases = own === null || name === null ? [] : [name];
    return { ...item(id, own ?? name, about), aliases };
  });
}

function tileItems(dashboards: readonly DashboardReading[], of: string | undefined) {
  const isOne = dashboards.some(({ id }) => id === of);
  return dashboards
    .filter(({ id }) => !isOne || id === of)
    .flatMap(({ id: owner, name, tiles }) =>
      (tiles ?? []).map((tile) => item(tile.id, tile.name, `of ${name || owner}`)),
    );
}

/** The warehouses of the services, each under the name of its primary service. */
function warehouseItems(services: readonly ServiceReading[]): readonly ListedItem[] {
  const ids = [...new Set(services.flatMap(({ dataWarehouseId }) => dataWarehouseId ?? []))];
  return ids.map((id) => {
    const own = services.filter(({ dataWarehouseId }) => dataWarehouseId === id);
    const primary = own.find(({ isPrimary }) => isPrimary === true) ?? own[0];
    const { name = null, provider = null, region = null } = primary ?? {};
    const place = [provider, region].filter((part) => part !== null).join(' ');
    const about = [countWords(own.length, 'service'), place].filter((part) => part !== '');
    return { ...item(id, name, about.join(' · ')), fills: placeOf({ provider, region }) };
  });
}

function placeOf({ provider, region }: JsonObject): TypedValues {
  if (typeof provider !== 'string' || typeof region !== 'string') return {};
  return { provider, region };
}

const NAME_MAX = 150;

function item(id: string, name: string | null, about: string): ListedItem {
  const shown = oneLineOf(name ?? '', NAME_MAX);
  return { id, name: shown || id, aliases: [], about: oneLineOf(about, NAME_MAX) };
}
