import { expect, test } from 'vitest';
import type { AlertsProfile } from '../../../sandbox/alerts/profiles.ts';
import { ALERTS } from '../../../sandbox/seed/alerts.ts';
import { alertsServer } from '../servers.ts';
import {
  DELETED_WEBHOOK,
  LATENCY,
  NEEDED,
  NOBODY,
  NULL_GROUP,
  OPS,
  RATE,
  SEARCH,
  TILE,
} from './updates.ts';

const CODE_REFUSALS: readonly [string, string, unknown, number, string][] = [
  [
    'the threshold alone',
    RATE,
    { threshold: 5 },
    400,
    'Body validation failed: interval: Required; thresholdType: Required; Invalid input',
  ],
  [
    'the contract’s source',
    RATE,
    { ...NEEDED, source: 'search' },
    400,
    'Body validation failed: Invalid input',
  ],
  [
    'a saved search without its id',
    RATE,
    { ...NEEDED, source: 'saved_search' },
    400,
    'Body validation failed: Invalid input',
  ],
  ['no source', RATE, NEEDED, 400, 'Body validation failed: Invalid input'],
  [
    'no channel',
    RATE,
    { ...NEEDED, ...SEARCH, channel: undefined },
    400,
    'Body validation failed: channel: Required',
  ],
  [
    'null for a channel',
    RATE,
    { ...NEEDED, ...SEARCH, channel: null },
    400,
    'Body validation failed: channel: Expected object, received null',
  ],
  [
    'null for a bound',
    RATE,
    { ...NEEDED, ...SEARCH, thresholdMax: null },
    400,
    'Body validation failed: thresholdMax: Expected number, received null',
  ],
  [
    'null for a schedule',
    RATE,
    { ...NEEDED, ...SEARCH, scheduleOffsetMinutes: null },
    400,
    'Body validation failed: scheduleOffsetMinutes: Expected number, received null',
  ],
  [
    'an empty name',
    RATE,
    { ...NEEDED, ...SEARCH, name: '' },
    400,
    'Body validation failed: name: String must contain at least 1 character(s)',
  ],
  [
    'a channel that is not the first of the channels',
    RATE,
    { ...NEEDED, ...SEARCH, channels: [{ type: 'pager' }, OPS] },
    400,
    'Body validation failed: channel: Must equal the first of channels',
  ],
  [
    'a range without its end',
    RATE,
    { ...NEEDED, ...SEARCH, thresholdType: 'between' },
    400,
    'Body validation failed: thresholdMax: Required',
  ],
  [
    'a range in reverse',
    RATE,
    { ...NEEDED, ...SEARCH, thresholdType: 'between', thresholdMax: 1 },
    400,
    'Body validation failed: thresholdMax: Must be greater than or equal to threshold',
  ],
  [
    'a number as text',
    RATE,
    { ...NEEDED, ...SEARCH, threshold: '5' },
    400,
    'Body validation failed: threshold: Expected number, received string',
  ],
  ['what is no JSON', RATE, '{"threshold":', 400, 'Invalid JSON payload'],
  ['an unknown alert', NOBODY, { ...NEEDED, ...SEARCH }, 404, 'Alert not found'],
  [
    'a bad update of an unknown alert',
    NOBODY,
    { threshold: 5 },
    400,
    'Body validation failed: interval: Required; thresholdType: Required; Invalid input',
  ],
  [
    'an unknown dashboard',
    LATENCY,
    { ...NEEDED, ...TILE, dashboardId: NOBODY },
    400,
    'Dashboard not found',
  ],
  ['an unknown tile', LATENCY, { ...NEEDED, ...TILE, tileId: 'gone' }, 400, 'Tile not found'],
  [
    'an unknown saved search',
    RATE,
    { ...NEEDED, ...SEARCH, savedSearchId: NOBODY },
    400,
    'Saved search not found',
  ],
  [
    'an unknown webhook',
    RATE,
    { ...NEEDED, ...SEARCH, channel: { ...OPS, webhookId: NOBODY } },
    400,
    'Webhook not found',
  ],
  [
    'a webhook id of another form',
    RATE,
    { ...NEEDED, ...SEARCH, channel: { ...OPS, webhookId: 'hook' } },
    400,
    'Invalid webhook ID',
  ],
];

test.for(CODE_REFUSALS)('the latest server refuses %s', async ([, id, body, status, message]) => {
  const { ask, alerts } = await alertsServer();
  const before = alerts.alert(id);
  const answer = await ask('PUT', `/${id}`, body);
  expect([answer.status, answer.json]).toEqual([status, { message }]);
  expect(alerts.alert(id)).toEqual(before);
  expect(alerts.effects()).toEqual([]);
});

test('an unknown interval is refused with the list of the accepted ones', async () => {
  const { ask } = await alertsServer();
  const { json } = await ask('PUT', `/${RATE}`, { ...NEEDED, ...SEARCH, interval: '7m' });
  expect(json.message).toMatch(/^Body validation failed: interval: Invalid enum value\. Expected/);
});

test('an update of the name is refused while the webhook is missing', async () => {
  const { ask, alerts } = await alertsServer();
  const seeded = ALERTS.find(({ id }) => id === DELETED_WEBHOOK);
  const channel = seeded?.channels[0];
  const body = { ...NEEDED, ...SEARCH, channel, name: 'Bounces' };
  expect((await ask('PUT', `/${DELETED_WEBHOOK}`, body)).json).toEqual({
    message: 'Webhook not found',
  });
  alerts.profile('code-2026-01');
  expect((await ask('PUT', `/${DELETED_WEBHOOK}`, body)).status).toBe(200);
});

test('an update is refused after its webhook was removed', async () => {
  const { ask, alerts } = await alertsServer();
  const body = { ...NEEDED, ...SEARCH };
  expect((await ask('PUT', `/${RATE}`, body)).status).toBe(200);
  alerts.removeWebhook(OPS.webhookId);
  expect((await ask('PUT', `/${RATE}`, body)).status).toBe(400);
});

test.for<[AlertsProfile, number]>([
  ['code', 200],
  ['code-2026-07', 400],
])('the profile %s replies to a null groupBy with %i', async ([profile, status]) => {
  const { ask } = await alertsServer({ profile });
  const body = { ...NEEDED, ...SEARCH, groupBy: null };
  expect((await ask('PUT', `/${NULL_GROUP}`, body)).status).toBe(status);
});

test('earlier servers ignore channels, and the server of January has no ranges', async () => {
  const { ask, alerts } = await alertsServer({ profile: 'code-2026-07' });
  const { channel, ...rest } = NEEDED;
  const plural = { ...rest, ...SEARCH, channels: [channel] };
  expect((await ask('PUT', `/${RATE}`, plural)).status).toBe(400);
  alerts.profile('code-2026-01');
  const range = { ...NEEDED, ...SEARCH, thresholdType: 'between', thresholdMax: 900 };
  expect((await ask('PUT', `/${RATE}`, range)).status).toBe(400);
  const negative = { ...NEEDED, ...SEARCH, threshold: -1 };
  expect((await ask('PUT', `/${RATE}`, negative)).status).toBe(400);
});

test.for<[string, object, string]>([
  ['a source of the real server', { source: 'saved_search' }, 'source: must be tile or search'],
  ['a range', { thresholdType: 'between' }, 'thresholdType: must be above or below'],
  ['an interval of words', { interval: 'hourly' }, 'interval: must be a number and a unit letter'],
  ['null for a name', { name: null }, 'name: must be a string'],
  ['a channel of text', { channel: '#ops' }, 'channel: must be an object'],
])('the documented server refuses %s', async ([, body, text]) => {
  const { ask, alerts } = await alertsServer({ profile: 'docs' });
  const { status, json } = await ask('PUT', `/${LATENCY}`, body);
  expect([status, json.message]).toEqual([400, `Body validation failed: ${text}`]);
  expect(alerts.effects()).toEqual([]);
});
