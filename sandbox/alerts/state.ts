import { createEffects } from '../api/effects.ts';
import type { AlertRead } from '../api/optional-reads.ts';
import { createRandom } from '../api/random.ts';
import type { RateLimit } from '../api/rate-limit.ts';
import type { ServerOptions } from '../api/simulator.ts';
import { DASHBOARDS, SAVED_SEARCHES, WEBHOOKS } from '../seed/alert-references.ts';
import { ALERTS, type AlertSeed } from '../seed/alerts.ts';
import { ALERTS_TOKEN } from '../seed/organization.ts';
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

export interface AlertsOptions extends ServerOptions {
  readonly profile?: AlertsProfile;
  readonly rateLimit?: RateLimit | null;
}

export type AlertsState = ReturnType<typeof createState>;

export function createState(options: AlertsOptions) {
  const { now = () => new Date() } = options;
  const bornAt = now();
  return {
    alerts: new Map(ALERTS.map((one) => [one.id, alertRecord(one, bornAt)])),
    /** The tiles of each dashboard. */
    dashboards: new Map<string, readonly string[]>(
      Object.values(DASHBOARDS).map(({ id, tiles }) => [id, tiles]),
    ),
    savedSearches: new Set<string>(Object.values(SAVED_SEARCHES)),
    webhooks: new Set<string>(Object.values(WEBHOOKS)),
    tokens: new Map([[ALERTS_TOKEN, { hasTeam: true }]]),
    effects: createEffects(),
    random: createRandom(),
    now,
    rateLimit: options.rateLimit === undefined ? USUAL_LIMIT : options.rateLimit,
    profile: options.profile ?? 'code',
    webhookUrl: null as string | null,
    /** Optional reads that this server does not have, by operation. */
    absentReads: {} as Readonly<Partial<Record<AlertRead, 404 | 405>>>,
  };
}

const USUAL_LIMIT: RateLimit = { requests: 100, perMs: 60_000 };
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
