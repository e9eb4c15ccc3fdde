import { createEffects } from '../api/effects.ts';
import { type Operation, operationOn } from '../api/pipeline.ts';
import { createRandom, objectId } from '../api/random.ts';
import { createRateLimiter, type RateLimit } from '../api/rate-limit.ts';
import { type ServerOptions, type Simulator, startSimulator } from '../api/simulator.ts';
import { DASHBOARDS, SAVED_SEARCHES, WEBHOOKS } from '../seed/alert-references.ts';
import { ALERTS, type AlertSeed } from '../seed/alerts.ts';
import { ALERTS_TOKEN } from '../seed/organization.ts';
import { checkAlertsAccess } from './access.ts';
import { absentAlertRead, alertReads } from './optional-reads.ts';
import type { AlertsProfile } from './profiles.ts';
import { getAlert, listAlerts } from './reading.ts';
import { type AlertRecord, type AlertsState, alertRecord, updated } from './state.ts';
import { updateAlert } from './update.ts';
import { turnAlert } from './webhook.ts';

export interface AlertsOptions extends ServerOptions {
  readonly seed?: string;
  readonly alerts?: readonly AlertSeed[];
  readonly profile?: AlertsProfile;
  readonly rateLimit?: RateLimit | null;
}

export interface AlertsSimulator extends Simulator {
  /** Returns the current profile, after setting it if a name is given. */
  profile(name?: AlertsProfile): AlertsProfile;
  limitTo(limit: RateLimit | null): void;
  /** The stored alert, with fields that no profile returns. */
  alert(id: string): AlertRecord | undefined;
  alerts(): readonly AlertRecord[];
  /** Where the webhook of the alerts is delivered; null: nowhere. */
  deliverTo(url: string | null): void;
  /** Lets an alert fire or recover, and delivers that. Returns the status of the bot; null: no answer. */
  turn(id: string, to: 'firing' | 'resolved'): Promise<number | null>;
  /** Edits an alert without a request of the bot. */
  editAlert(id: string, changes: Partial<Omit<AlertRecord, 'id' | 'updatedAt'>>): void;
  deleteAlert(id: string): void;
  /** Adds ordinary alerts, for tests of paging. */
  addAlerts(count: number): void;
  removeWebhook(id: string): void;
  removeSavedSearch(id: string): void;
  /** Removes a tile from its dashboard. */
  removeTile(id: string): void;
  /** Removes optional reads from the server, each with the status of their route. */
  withoutReads(reads: AlertsState['absentReads']): void;
  /** Adds or changes a token. The token of a person without a team has no permissions. */
  setToken(token: string, rights: { readonly hasTeam: boolean }): void;
  removeToken(token: string): void;
}

const USUAL_LIMIT: RateLimit = { requests: 100, perMs: 60_000 };

/** Serves the three operations of the alerts contract, and the optional reads, on a loopback port. */
export async function startAlertsSimulator(options: AlertsOptions = {}): Promise<AlertsSimulator> {
  const state = createState(options);
  const limiter = createRateLimiter();
  const server = await startSimulator(
    {
      api: 'alerts',
      effects: state.effects,
      operations: [...contractOperations(state), ...alertReads(state)],
      gate: (call) => absentAlertRead(state, call) ?? checkAlertsAccess(state, limiter, call),
    },
    options,
  );
  return { ...server, ...adminOf(state) };
}

function contractOperations(state: AlertsState): readonly Operation[] {
  const operation = operationOn(state);
  return [
    operation('list alerts', 'get', '/api/v2/alerts', listAlerts),
    operation('get alert', 'get', '/api/v2/alerts/:id', getAlert),
    operation('update alert', 'put', '/api/v2/alerts/:id', updateAlert),
  ];
}

function createState(options: AlertsOptions): AlertsState {
  const { alerts = ALERTS, seed = 'signalbox', now = () => new Date() } = options;
  const bornAt = now();
  return {
    alerts: new Map(alerts.map((one) => [one.id, alertRecord(one, bornAt)])),
    dashboards: new Map(Object.values(DASHBOARDS).map(({ id, tiles }) => [id, tiles])),
    savedSearches: new Set(Object.values(SAVED_SEARCHES)),
    webhooks: new Set(Object.values(WEBHOOKS)),
    tokens: new Map([[ALERTS_TOKEN, { hasTeam: true }]]),
    effects: createEffects(),
    random: createRandom(seed),
    now,
    rateLimit: options.rateLimit === undefined ? USUAL_LIMIT : options.rateLimit,
    profile: options.profile ?? 'code',
    absentReads: {},
    webhookUrl: null,
  };
}

function adminOf(state: AlertsState): Omit<AlertsSimulator, keyof Simulator | 'profiles'> {
  return {
    profile(name = state.profile) {
      state.profile = name;
      return name;
    },
    limitTo(limit) {
      state.rateLimit = limit;
    },
    deliverTo(url) {
      state.webhookUrl = url;
    },
    turn: (id, to) => turnAlert(state, id, to),
    alert: (id) => state.alerts.get(id),
    alerts: () => [...state.alerts.values()],
    editAlert(id, changes) {
      const record = state.alerts.get(id);
      if (record === undefined) throw new Error(`there is no alert ${id}`);
      state.alerts.set(id, updated(record, changes, state.now()));
    },
    deleteAlert: (id) => void state.alerts.delete(id),
    addAlerts(count) {
      for (let number = 1; number <= count; number += 1) {
        const record = ordinaryAlert(objectId(state.random), number, state.now());
        state.alerts.set(record.id, record);
      }
    },
    removeWebhook: (id) => void state.webhooks.delete(id),
    removeSavedSearch: (id) => void state.savedSearches.delete(id),
    removeTile(id) {
      for (const [dashboard, tiles] of state.dashboards) {
        state.dashboards.set(
          dashboard,
          tiles.filter((tile) => tile !== id),
        );
      }
    },
    withoutReads(reads) {
      state.absentReads = reads;
    },
    setToken: (token, rights) => void state.tokens.set(token, rights),
    removeToken: (token) => void state.tokens.delete(token),
  };
}

function ordinaryAlert(id: string, number: number, now: Date): AlertRecord {
  const seed: AlertSeed = {
    ...{ id, name: `Alert ${number}`, message: null, threshold: number, thresholdType: 'above' },
    ...{ interval: '5m', state: 'OK' },
    watches: { source: 'saved_search', savedSearchId: SAVED_SEARCHES.errors },
    channels: [{ type: 'webhook', webhookId: WEBHOOKS.operations }],
  };
  return alertRecord(seed, now);
}
