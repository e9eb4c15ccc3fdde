import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RULES } from './prometheus-files.ts';
import { expectFiring, firing } from './promtool.ts';

/** Series with one value per minute, in the notation of promtool: `0+1x9` is 0 to 9. */
type AllSeries = Readonly<Record<string, string>>;

interface AlertCase {
  readonly fires: AllSeries;
  /** Series of another installation, for which the alert must not fire. */
  readonly silent: AllSeries;
  /** The minutes after which the alert does not fire yet, and after which it fires. */
  readonly minutes: readonly [before: number, after: number];
  /** More labels of the alert. */
  readonly labels?: Readonly<Record<string, string>>;
}

const up = (instance: string) => `up{job="signalbox",instance="${instance}"}`;
const of = (name: string, instance = 'a') => `${name}{instance="${instance}"}`;
const start = (instance: string) =>
  `process_start_time_seconds{job="signalbox",instance="${instance}"}`;
const OUTBOX = 'signalbox_queue_age_seconds{queue="outbox"}';
const INBOX = 'signalbox_queue_age_seconds{queue="inbox"}';
const bucket = (le: string) => `signalbox_ack_seconds_bucket{le="${le}"}`;
const waits = (le: string) => `signalbox_api_queue_seconds_bucket{api="cloud",le="${le}"}`;
const slackCalls = (instance: string) =>
  `signalbox_slack_calls_total{method="users.info",instance="${instance}"}`;
const slackLimit = (instance: string) =>
  `signalbox_slack_limit_per_minute{method="users.info",instance="${instance}"}`;
const missed = 'signalbox_digests{state="missed"}';
const pendingAge = 'signalbox_open_change_age_seconds{state="pending"}';
const connected = (instance: string) => of('signalbox_slack_connected', instance);
const writable = of('signalbox_database_writable');
const readable = (instance: string) => of('signalbox_database_readable', instance);
const reloaded = (instance: string) => of('signalbox_config_last_reload_success', instance);
const foreign = of('signalbox_slack_foreign_connections');
const lostCards = 'signalbox_messages_lost_total{kind="card"}';
const undelivered = 'signalbox_undelivered_card_age_seconds';

/** An alert about one series: its values where the alert fires, and where it does not. */
function one(name: string, fires: string, silent: string, minutes: AlertCase['minutes']) {
  return { fires: { [name]: fires }, silent: { [name]: silent }, minutes };
}

/** A histogram whose answers take longer than the first limit, and one whose answers do not. */
function slow(name: (le: string) => string, limit: string, next: string): AlertCase {
  const longer = { [name(next)]: '0+60x30', [name('+Inf')]: '0+60x30' };
  const fires = { [name(limit)]: '0+0x30', ...longer };
  return { fires, silent: { [name(limit)]: '0+60x30', ...longer }, minutes: [9, 15] };
}

const CASES: Readonly<Record<string, AlertCase>> = {
  SignalboxDown: {
    fires: { [up('a')]: '1 0+0x30', [up('b')]: '0+0x30' },
    silent: { [up('a')]: '0+0x30', [up('b')]: '1+0x30' },
    minutes: [3, 5],
  },
  SignalboxReplicasDown: {
    fires: { [up('a')]: '1+0x40', [up('b')]: '1 1 0+0x40', [up('c')]: '1 1 stale' },
    silent: { [up('a')]: '1+0x40', [up('b')]: '1 1 0+0x4 1+0x40' },
    minutes: [11, 14],
  },
  SignalboxRestarting: one(start('a'), '0+60x30', '0 0 0 180 180 180 360+0x30', [2, 5]),
  SignalboxSlackDisconnected: {
    fires: { [connected('a')]: '0+0x9', [connected('b')]: '0+0x9' },
    silent: { [connected('a')]: '0+0x9', [connected('b')]: '1+0x9' },
    minutes: [2, 4],
  },
  SignalboxSlackRejected: {
    fires: {
      'signalbox_deliveries_refused_total{reason="clock"}': '0+3x30',
      'signalbox_ack_seconds_count{kind="command"}': '5+0x30',
    },
    silent: {
      'signalbox_deliveries_refused_total{reason="signature"}': '0+3x30',
      'signalbox_ack_seconds_count{kind="command"}': '0+1x30',
    },
    minutes: [4, 12],
  },
  SignalboxForeignConnections: one(foreign, '2+0x30', '0+0x30', [9, 12]),
  SignalboxDatabaseUnreadable: {
    fires: { [readable('a')]: '0+0x9', [readable('b')]: '1+0x9' },
    silent: { [readable('a')]: '1+0x9' },
    minutes: [1, 3],
  },
  SignalboxDatabaseUnwritable: {
    fires: { [writable]: '0+0x9', [readable('a')]: '1+0x9' },
    silent: { [writable]: '0+0x9', [readable('a')]: '0+0x9' },
    minutes: [1, 3],
  },
  SignalboxOutcomeUnknown: {
    fires: { 'signalbox_open_changes{state="unknown"}': '1+0x60' },
    silent: { 'signalbox_open_changes{state="pending"}': '1+0x60' },
    minutes: [29, 31],
  },
  SignalboxTrailBroken: one('signalbox_trail_broken', '0 0 1+0x9', '0+0x9', [1, 3]),
  SignalboxConfigOutdated: one('signalbox_config_outdated', '1+0x60', '1+0x5 0+0x60', [9, 11]),
  SignalboxReloadRefused: {
    fires: { [reloaded('a')]: '0+0x9', [reloaded('b')]: '1+0x9' },
    silent: { [reloaded('a')]: '1+0x9' },
    minutes: [4, 6],
  },
  SignalboxApprovalsWaiting: one(pendingAge, '14401+60x9', '13000+60x9', [4, 6]),
  SignalboxOutboxStuck: {
    fires: { [OUTBOX]: '601+60x9' },
    silent: { [OUTBOX]: '1+60x9', [INBOX]: '60+0x9' },
    minutes: [4, 6],
  },
  SignalboxCardUndelivered: one(undelivered, '601+60x9', '0+60x9', [4, 6]),
  SignalboxPermitsReturned: one(
    'signalbox_permits_returned_total',
    '0+1x30',
    '0 1 2+0x30',
    [3, 20],
  ),
  SignalboxMessageLost: one(lostCards, '0 0 0 1+0x9', '7+0x9', [2, 4]),
  SignalboxInboxStuck: {
    fires: { [INBOX]: '121+60x9' },
    silent: { [INBOX]: '0+10x9', [OUTBOX]: '121+60x9' },
    minutes: [2, 4],
  },
  SignalboxLookupsFailing: one('signalbox_lookup_failures_total', '0+1x30', '0 1 2+0x30', [6, 20]),
  SignalboxSlackQuota: {
    fires: {
      [slackCalls('a')]: '0+45x30',
      [slackCalls('b')]: '0+45x30',
      [slackLimit('a')]: '100+0x30',
      [slackLimit('b')]: '100+0x30',
    },
    silent: { [slackCalls('a')]: '0+70x30', [slackLimit('a')]: '100+0x30' },
    minutes: [9, 18],
    labels: { method: 'users.info' },
  },
  SignalboxApiQueueSlow: { ...slow(waits, '5', '10'), labels: { api: 'cloud' } },
  SignalboxAcksSlow: slow(bucket, '0.5', '3'),
  SignalboxDigestMissed: one(missed, '3 3 3 4+0x9', '3+0x9', [2, 4]),
  SignalboxBackupOld: one('signalbox_backup_age_seconds', '172801+60x90', '80000+60x90', [9, 12]),
};

/** Adds a label to a series, which may have labels already. */
function withLabel(series: string, label: string): string {
  return series.includes('{') ? series.replace('{', `{${label},`) : `${series}{${label}}`;
}

function inputOf(series: AllSeries, installation: string) {
  return Object.entries(series).map(([name, values]) => ({
    series: withLabel(name, `installation="${installation}"`),
    values,
  }));
}

test('every alert has a case', () => {
  expect(Object.keys(CASES)).toEqual(RULES.map(({ alert }) => alert));
});

test('a scenario fires every alert by a real fault', () => {
  const scenarios = globSync('test/scenarios/alerts*.test.ts').map((file) =>
    readFileSync(file, 'utf8'),
  );
  const fired = [
    ...scenarios.join('').matchAll(/expect(?:Alert|AlertAtRate|OnlyAlert)\(\s*'(\w+)'/g),
  ];
  const names = new Set(fired.map(([, alert]) => alert));
  expect([...names].toSorted()).toEqual(RULES.map(({ alert }) => alert).toSorted());
});

test.for(Object.entries(CASES))(
  '%s fires for the affected installation only, and not too early',
  ([alert, { fires, silent, minutes, labels }]) => {
    const [before, after] = minutes;
    const input = [...inputOf(fires, 'affected'), ...inputOf(silent, 'other')];
    const expected = firing(alert, { installation: 'affected', ...labels });
    expectFiring(alert, input, { [before]: [], [after]: [expected] });
  },
);

test.for(['clock', 'signature', 'unsigned'])(
  'one refused payload (%s) every 4 minutes',
  (reason) => {
    const series = `signalbox_deliveries_refused_total{reason="${reason}"}`;
    const alert = 'SignalboxSlackRejected';
    const expected = reason === 'unsigned' ? [] : [firing(alert)];
    expectFiring(alert, [{ series, values: '0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3 4 4' }], {
      17: expected,
    });
  },
);

test('SignalboxDown fires where Prometheus has no target at all', () => {
  expectFiring('SignalboxDown', [], { 2: [], 4: [firing('SignalboxDown', { job: 'signalbox' })] });
});

test('SignalboxDown fires for one of two installations whose targets are gone', () => {
  const input = [
    ...inputOf({ [up('a')]: '1 1 stale', [up('b')]: '1 0 stale' }, 'affected'),
    ...inputOf({ [up('a')]: '1+0x600', [up('b')]: '0 stale' }, 'other'),
  ];
  const expected = firing('SignalboxDown', { installation: 'affected' });
  expectFiring('SignalboxDown', input, { 3: [], 6: [expected], 60: [expected] });
});

test('SignalboxDown fires once where the targets of the only installation are gone', () => {
  const input = [{ series: up('a'), values: '1 1 stale' }];
  expectFiring('SignalboxDown', input, { 7: [firing('SignalboxDown', { job: 'signalbox' })] });
});

test('an expectation that does not hold is reported', () => {
  const input = inputOf({ signalbox_trail_broken: '1+0x9' }, 'affected');
  expect(() => expectFiring('SignalboxTrailBroken', input, { 3: [] })).toThrow('FAILED');
});
