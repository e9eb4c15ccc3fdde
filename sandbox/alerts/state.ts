import type { Effects } from '../api/effects.ts';
import type { AlertRead } from '../api/optional-reads.ts';
import type { RandomSource } from '../api/random.ts';
import type { RateLimit } from '../api/rate-limit.ts';
import type { AlertSeed } from '../seed/alerts.ts';
import type { AlertsProfile } from './profiles.ts';

/** An alert as the server stores it. Each profile returns a different part of it. */
export interface AlertRecord extends Omit<AlertSeed, 'watches' | 'silencedForMinutes'> {
  readonly source: 'tile' | 'saved_search';
  readonly dashboardId?: string | undefined;
  readonly tileId?: string | undefined;
  readonly savedSearchId?: string | undefined;
  readonly scheduleStartAt?: string | null | undefined;
  readonly silenced?: { readonly by: string; readonly at: string; readonly until: string };
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface AlertsState {
  readonly alerts: Map<string, AlertRecord>;
  /** The tiles of each dashboard. */
  readonly dashboards: Map<string, readonly string[]>;
  readonly savedSearches: Set<string>;
  readonly webhooks: Set<string>;
  readonly tokens: Map<string, { readonly hasTeam: boolean }>;
  readonly effects: Effects;
  readonly random: RandomSource;
  readonly now: () => Date;
  rateLimit: RateLimit | null;
  profile: AlertsProfile;
  webhookUrl: string | null;
  /** Optional reads that this server does not have, by operation. */
  absentReads: Readonly<Partial<Record<AlertRead, 404 | 405>>>;
}

const MINUTE_MS = 60_000;
const CREATED_DAYS_AGO = 80;

export function alertRecord(seed: AlertSeed, bornAt: Date): AlertRecord {
  const { watches, silencedForMinutes, ...rest } = seed;
  const ago = (minutes: number) => new Date(bornAt.getTime() - minutes * MINUTE_MS).toISOString();
  const silence =
    silencedForMinutes === undefined
      ? {}
      : { silenced: { by: 'ana@example.com', at: ago(120), until: ago(-silencedForMinutes) } };
  const created = ago(CREATED_DAYS_AGO * 24 * 60);
  return { ...rest, ...watches, ...silence, createdAt: created, updatedAt: ago(26 * 60) };
}

/** The record after a write. `updatedAt` increases even when the clock stands. */
export function updated(
  record: AlertRecord,
  changes: Partial<AlertRecord>,
  now: Date,
): AlertRecord {
  const next = Math.max(now.getTime(), Date.parse(record.updatedAt) + 1);
  return { ...record, ...changes, updatedAt: new Date(next).toISOString() };
}
