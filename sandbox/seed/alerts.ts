import { DASHBOARDS, SAVED_SEARCHES, WEBHOOKS } from './alert-references.ts';

export interface AlertSeed {
  readonly id: string;
  readonly name: string | null;
  readonly message: string | null;
  readonly threshold: number;
  readonly thresholdMax?: number | undefined;
  readonly thresholdType: string;
  readonly interval: string;
  readonly watches:
    | { readonly source: 'tile'; readonly dashboardId: string; readonly tileId: string }
    | { readonly source: 'saved_search'; readonly savedSearchId: string };
  readonly state: string;
  readonly channels: readonly Readonly<Record<string, unknown>>[];
  readonly groupBy?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly numConsecutiveWindows?: number | null | undefined;
  readonly scheduleOffsetMinutes?: number | undefined;
  readonly executionErrors?: readonly { readonly message: string }[];
  /** Minutes from the start of the simulator; a negative number is in the past. */
  readonly silencedForMinutes?: number;
}

const CHECKOUT = { source: 'tile', dashboardId: DASHBOARDS.checkout.id } as const;
const PLATFORM = { source: 'tile', dashboardId: DASHBOARDS.platform.id } as const;
const ERRORS = { source: 'saved_search', savedSearchId: SAVED_SEARCHES.errors } as const;
const SLOW = { source: 'saved_search', savedSearchId: SAVED_SEARCHES.slowQueries } as const;

const OPS = { type: 'webhook', webhookId: WEBHOOKS.operations };
const PAGING = { type: 'webhook', webhookId: WEBHOOKS.paging };
const DELETED = { type: 'webhook', webhookId: '02ba0cd5a9d1c575140b4833' };

const USUAL = {
  ...{ message: null, thresholdType: 'above', interval: '5m', state: 'OK', channels: [OPS] },
};

const onTile = (dashboard: typeof CHECKOUT | typeof PLATFORM, tileId: string) => {
  return { watches: { ...dashboard, tileId } };
};

/** Fourteen alerts: an ordinary one, and one for each unusual value that an alert can have. */
export const ALERTS: readonly AlertSeed[] = [
  {
    ...{ ...USUAL, id: '357fc488efc4a66bb2a8f81a', name: '5xx rate', threshold: 100 },
    ...{ message: 'Too many 5xx answers in {{group}}', state: 'ALERT' },
    ...{ watches: ERRORS, groupBy: 'service', channels: [OPS, { ...PAGING, severity: 'high' }] },
    note: 'Agreed with support: page only above this.',
    ...{ numConsecutiveWindows: 2, silencedForMinutes: 3 * 24 * 60 },
  },
  {
    ...{ ...USUAL, id: '1d2c85b529e65225ec2e363d', name: 'Checkout latency p95', threshold: 850 },
    ...{ ...onTile(CHECKOUT, 'tile-latency'), message: 'Checkout is slow' },
  },
  {
    ...{ ...USUAL, id: 'c73d35b92fd596bbf7ff2ace', name: null, threshold: 20, interval: '1h' },
    ...onTile(CHECKOUT, 'tile-carts'),
  },
  {
    ...{ ...USUAL, id: 'd89ded1cd0202f913c62d284', name: 'Slow queries', threshold: 25 },
    ...{ interval: '15m', watches: SLOW, groupBy: 'database, user', channels: [OPS, PAGING] },
  },
  {
    ...{ ...USUAL, id: '8ef29342507d91666304c181', name: 'Orders per minute out of range' },
    ...{ threshold: 40, thresholdMax: 900, thresholdType: 'between', channels: [PAGING] },
    ...onTile(CHECKOUT, 'tile-orders'),
  },
  {
    ...{ ...USUAL, id: '82c055db838be224ebfd0e64', name: 'Disk usage', threshold: 80 },
    ...{ ...onTile(PLATFORM, 'tile-disk'), interval: '30m', state: 'ALERT' },
    silencedForMinutes: -90,
  },
  {
    ...{ ...USUAL, id: 'c0f1a3fe1f28c282d2da8858', name: 'Failed logins', threshold: 500 },
    ...{ watches: ERRORS, groupBy: null, interval: '1h', state: 'ALERT' },
    silencedForMinutes: 240,
  },
  {
    ...{ ...USUAL, id: '0f67f70fcf8a1afd7deb33cb', name: 'Queue length', threshold: 10_000 },
    ...{ ...onTile(PLATFORM, 'tile-queue'), channels: [] },
  },
  {
    ...{ ...USUAL, id: 'aca3360150f69f7d4450daf5', name: 'Unusual traffic', threshold: 3 },
    ...{ ...onTile(PLATFORM, 'tile-traffic'), thresholdType: 'deviates_by' },
  },
  {
    ...{ ...USUAL, id: 'ea84733aafcb2f7276f5eddb', name: 'Replica lag', threshold: 30 },
    ...{ ...onTile(PLATFORM, 'tile-lag'), interval: '1m', state: 'FLAPPING', channels: [PAGING] },
  },
  {
    ...{ ...USUAL, id: 'bc3339918fa1f8e7636e6dc1', name: 'Backup missing', threshold: 1 },
    ...{ watches: SLOW, thresholdType: 'below', interval: '1d' },
    channels: [{ type: 'pager', rotation: 'database', escalate: true }],
  },
  {
    ...{ ...USUAL, id: '5b31b04e494986869810107b', threshold: -5, thresholdType: 'below' },
    name: '<!channel> R&D <https://example.com|click>',
    message: 'Ask <@U0123ABCD> & *do not* trust `this`',
    ...onTile(CHECKOUT, 'tile-orders'),
  },
  {
    ...{ ...USUAL, id: '5ae8e2302e35f049750cfd75', name: 'Mail bounces', threshold: 50 },
    ...{ watches: ERRORS, interval: '6h', channels: [DELETED] },
  },
  {
    ...{ ...USUAL, id: '4cc476b9c186b64bc5d65f43', name: 'Nightly import', threshold: 1 },
    ...{ watches: SLOW, thresholdType: 'below_or_equal', interval: '12h', state: 'DISABLED' },
    scheduleOffsetMinutes: 15,
    executionErrors: [{ message: 'query took longer than 60 s' }],
  },
];
