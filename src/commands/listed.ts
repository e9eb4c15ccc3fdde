import { ageText, shortBytesText } from '../base/text.ts';
import { countWords, oneLineOf, utcStamp } from '../domain/answer.ts';
import type { NamedItem, Service } from '../domain/targets.ts';
import type { DashboardReading, WebhookReading } from '../servers/alerts-reads.ts';
import type { BackupReading, PipeReading, ServiceReading } from '../servers/cloud-readings.ts';
import { isFinished } from '../servers/cloud-replies.ts';
import { reportedTime } from './reported.ts';

/** Whether a restore can start from this backup, as far as its status says. */
export function isGood({ status }: BackupReading): boolean {
  return status === 'done';
}

/** The backup that was finished last, or null. */
export function latestGood(backups: readonly BackupReading[]): BackupReading | null {
  return newestFirst(backups).find(isGood) ?? null;
}

/** Servers usually list the newest first. A backup without a time is the last one. */
export function newestFirst(backups: readonly BackupReading[]): readonly BackupReading[] {
  return backups.toSorted((a, b) => timeOf(b) - timeOf(a));
}

/** `done · 3 h ago · 12 GiB · full`; values that the server does not send are left out. */
export function backupSummary(backup: BackupReading, now: Date): string {
  const { status, type, sizeInBytes } = backup;
  const at = reportedTime(backup.finishedAt ?? backup.startedAt);
  const unfinished = isFinished(backup) ? '' : ' so far';
  const size = sizeInBytes === null ? null : `${shortBytesText(sizeInBytes)}${unfinished}`;
  const parts = [status ?? 'status unknown', at && ageText(at, now), size, type];
  return parts.filter((part) => part !== null).join(' · ');
}

function timeOf({ startedAt, finishedAt }: BackupReading): number {
  return reportedTime(startedAt ?? finishedAt)?.getTime() ?? 0;
}

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
