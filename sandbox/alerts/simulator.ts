import { createEffects } from '../api/effects.ts';
import { type Operation, operationOn } from '../api/pipeline.ts';
import { createRandom, objectId } from '../api/random.ts';
import { createRateLimiter, type RateLimit } from '../api/rate-limit.ts';
import { type ServerOptions, type Simulator, startSimulator } from '../api/simulator.ts';
import { DASHBOARDS, SAVED_SEARCHES, WEBHOOKS } from '../seed/alert-references.ts';
import { ALERTS, type AlertSeed } from '../seed/alerts.ts';
import { ALERTS_TOKEN } from '../seed/organization.ts';
import { checkAlertsAccess } from './access.ts';
import { alertReads, checkAlertRead } from './optional-reads.ts';
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

export type AlertsSimulator = Simulator & ReturnType<typeof adminOf>;

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
      gate: (call) => {
        checkAlertRead(state, call);
        checkAlertsAccess(state, limiter, call);
      },
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

function adminOf(state: AlertsState) {
  return {
    /** Returns the current profile, after setting it if a name is given. */
    profile(name = state.profile): AlertsProfile {
      state.profile = name;
      return name;
    },
    limitTo(limit: RateLimit | null): void {
      state.rateLimit = limit;
    },
    /** Where the webhook of the alerts is delivered; null: nowhere. */
    deliverTo(url: string | null): void {
      state.webhookUrl = url;
    },
    /** Lets an alert fire or recover, and delivers that. Returns the status of the bot; null: no answer. */
    turn: (id: string, to: 'firing' | 'resolved') => turnAlert(state, id, to),
    /** The stored alert, with fields that no profile returns. */
    alert: (id: string) => state.alerts.get(id),
    alerts: (): readonly AlertRecord[] => [...state.alerts.values()],
    /** Edits an alert without a request of the bot. */
    editAlert(id: string, changes: Partial<Omit<AlertRecord, 'id' | 'updatedAt'>>): void {
      const record = state.alerts.get(id);
      if (record === undefined) throw new Error(`there is no alert ${id}`);
      state.alerts.set(id, updated(record, changes, state.now()));
    },
    deleteAlert: (id: string) => void state.alerts.delete(id),
    /** Adds ordinary alerts, for tests of paging. */
    addAlerts(count: number): void {
      for (let number = 1; number <= count; number += 1) {
        const record = ordinaryAlert(objectId(state.random), number, state.now());
        state.alerts.set(record.id, record);
      }
    },
    removeWebhook: (id: string) => void state.webhooks.delete(id),
    removeSavedSearch: (id: string) => void state.savedSearches.delete(id),
    /** Removes a tile from its dashboard. */
    removeTile(id: string): void {
      for (const [dashboard, tiles] of state.dashboards) {
        const others = tiles.filter((tile) => tile !== id);
        state.dashboards.set(dashboard, others);
      }
    },
    /** Removes optional reads from the server, each with the status of their route. */
    withoutReads(reads: AlertsState['absentReads']): void {
      state.absentReads = reads;
    },
    /** Adds or changes a token. The token of a person without a team has no permissions. */
    setToken: (token: string, rights: { readonly hasTeam: boolean }) =>
      void state.tokens.set(token, rights),
    removeToken: (token: string) => void state.tokens.delete(token),
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
