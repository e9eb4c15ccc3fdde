import { countWords, oneLineOf, utcStamp } from '../../domain/answer.ts';
import type { NamedItem, Service } from '../../domain/targets.ts';
import type { DashboardReading, WebhookReading } from '../../servers/alerts-reads.ts';
import type { BackupReading, PipeReading, ServiceReading } from '../../servers/cloud-readings.ts';
import { backupSummary, isGood, newestFirst, reportedTime } from '../answers/backup-text.ts';

/**
 * What a server can list for a field whose value is an id. Without the list, the field is a line of
 * text, and the id comes from the console.
 */
export type ListedKind = 'backup' | 'webhook' | 'dashboard' | 'tile' | 'data warehouse';

/** An item of a list of the server, with the words that distinguish it from others. */
export interface ListedItem extends NamedItem {
  readonly about: string;
}

/** The lists that were read, by kind; a kind is missing if its list is unknown or not needed. */
export type ServerLists = Readonly<Partial<Record<ListedKind | 'pipe', readonly ListedItem[]>>>;

const NAME_MAX = 150;

function item(id: string, name: string | null, about: string): ListedItem {
  const shown = oneLineOf(name ?? '', NAME_MAX);
  return { id, name: shown || id, aliases: [], about: oneLineOf(about, NAME_MAX) };
}

/** Backups by their time, the latest finished one first. `of` is the name of their service. */
export function backupItems(
  backups: readonly BackupReading[],
  now: Date,
  of: string | null = null,
): readonly ListedItem[] {
  return newestFirst(backups)
    .toSorted((a, b) => Number(isGood(b)) - Number(isGood(a)))
    .map((backup) => {
      const at = reportedTime(backup.startedAt ?? backup.finishedAt);
      const name = [of, at ? utcStamp(at) : backup.id].filter((part) => part !== null).join(' · ');
      return item(backup.id, name, backupSummary(backup, now));
    });
}

/** The pipes of a service with their states. A configured name wins, and both can be typed. */
export function pipeItems({ pipes }: Service, readings: readonly PipeReading[]) {
  return readings.map(({ id, name, state, source }): ListedItem => {
    const own = pipes.find((pipe) => pipe.id === id)?.name ?? null;
    const from = [source?.family, source?.type].filter(Boolean).join(', ');
    const about = [state ?? 'state unknown', from].filter(Boolean).join(' · ');
    const aliases = own === null || name === null ? [] : [name];
    return { ...item(id, own ?? name, about), aliases };
  });
}

export function webhookItems(webhooks: readonly WebhookReading[]): readonly ListedItem[] {
  return webhooks.map(({ id, name, service }) => item(id, name, service ?? ''));
}

export function dashboardItems(dashboards: readonly DashboardReading[]): readonly ListedItem[] {
  return dashboards.map(({ id, name, tiles }) => {
    return item(id, name, tiles === null ? '' : countWords(tiles.length, 'tile'));
  });
}

/** The tiles of one dashboard, or of all. */
export function tileItems(
  dashboards: readonly DashboardReading[],
  dashboardId: string | undefined,
): readonly ListedItem[] {
  const isOne = dashboards.some(({ id }) => id === dashboardId);
  return dashboards
    .filter(({ id }) => !isOne || id === dashboardId)
    .flatMap(({ id: owner, name, tiles }) =>
      (tiles ?? []).map((tile) => item(tile.id, tile.name, `of ${name || owner}`)),
    );
}

/** The warehouses of the services, each under the name of its primary service. */
export function warehouseItems(services: readonly ServiceReading[]): readonly ListedItem[] {
  const ids = [...new Set(services.flatMap(({ dataWarehouseId }) => dataWarehouseId ?? []))];
  return ids.map((id) => {
    const own = services.filter(({ dataWarehouseId }) => dataWarehouseId === id);
    const primary = own.find(({ isPrimary }) => isPrimary === true) ?? own[0];
    const { name = null, provider = null, region = null } = primary ?? {};
    const place = [provider, region].filter((part) => part !== null).join(' ');
    const about = [countWords(own.length, 'service'), place].filter((part) => part !== '');
    return item(id, name, about.join(' · '));
  });
}
