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

const ACCEPTED = { ...NEEDED, ...SEARCH };
const INCOMPLETE = 'interval: Required; thresholdType: Required; Invalid input';
const RANGE = { ...ACCEPTED, thresholdType: 'between' };

const OFFSET = 'scheduleOffsetMinutes: Must be less than the interval';
const REVERSED = 'thresholdMax: Must be greater than or equal to threshold';
const FIRST = 'channel: Must equal the first of channels';
const TOO_LONG = (most: number) => `String must contain at most ${most} character(s)`;

test.for<[string, object, string]>([
  ['the threshold alone', { threshold: 5 }, INCOMPLETE],
  ["the contract's source", { ...NEEDED, source: 'search' }, 'Invalid input'],
  ['a saved search without its id', { ...NEEDED, source: 'saved_search' }, 'Invalid input'],
  ['no source', NEEDED, 'Invalid input'],
  ['a range without its end', RANGE, 'thresholdMax: Required'],
])('the latest server refuses %s', async ([, body, problem]) => {
  await expectRefused(RATE, body, 400, `Body validation failed: ${problem}`);
});

test.for<[string, object, string]>([
  ['no channel', { channel: undefined }, 'channel: Required'],
  ['null for a channel', { channel: null }, 'channel: Expected object, received null'],
  ['null for a bound', { thresholdMax: null }, isNull('thresholdMax')],
  ['null for a schedule', { scheduleOffsetMinutes: null }, isNull('scheduleOffsetMinutes')],
  ['an empty name', { name: '' }, 'name: String must contain at least 1 character(s)'],
  ['a name of 513 characters', { name: 'n'.repeat(513) }, `name: ${TOO_LONG(512)}`],
  ['a message of 4,097 characters', { message: 'm'.repeat(4_097) }, `message: ${TOO_LONG(4096)}`],
  ['other channels', { channels: [{ type: 'pager' }, OPS] }, FIRST],
  ['a webhook twice', { channel: undefined, channels: [OPS, OPS] }, 'channels: Duplicate channel'],
  ['an offset as long as the interval', { scheduleOffsetMinutes: 15 }, OFFSET],
  ['a range in reverse', { ...RANGE, thresholdMax: 1 }, REVERSED],
  ['a number as text', { threshold: '5' }, 'threshold: Expected number, received string'],
])('the latest server refuses an update with %s', async ([, changes, problem]) => {
  const body = { ...ACCEPTED, ...changes };
  await expectRefused(RATE, body, 400, `Body validation failed: ${problem}`);
});

test.for<[string, string, unknown, number, string]>([
  ['what is no JSON', RATE, '{"threshold":', 400, 'Invalid JSON payload'],
  ['an unknown alert', NOBODY, ACCEPTED, 404, 'Alert not found'],
  [
    'a bad update of an unknown alert',
    NOBODY,
    { threshold: 5 },
    400,
    `Body validation failed: ${INCOMPLETE}`,
  ],
  ['an unknown dashboard', LATENCY, tile({ dashboardId: NOBODY }), 400, 'Dashboard not found'],
  ['an unknown tile', LATENCY, tile({ tileId: 'gone' }), 400, 'Tile not found'],
  ['an unknown saved search', RATE, search(NOBODY), 400, 'Saved search not found'],
  ['an unknown webhook', RATE, webhook(NOBODY), 400, 'Webhook not found'],
  ['a webhook id of another form', RATE, webhook('hook'), 400, 'Invalid webhook ID'],
])('the latest server refuses %s', async ([, id, body, status, message]) => {
  await expectRefused(id, body, status, message);
});

function isNull(field: string) {
  return `${field}: Expected number, received null`;
}
function tile(changes: object) {
  return { ...NEEDED, ...TILE, ...changes };
}
function search(savedSearchId: string) {
  return { ...ACCEPTED, savedSearchId };
}
function webhook(webhookId: string) {
  return { ...ACCEPTED, channel: { ...OPS, webhookId } };
}

async function expectRefused(id: string, body: unknown, status: number, message: string) {
  const { ask, alerts } = await alertsServer();
  const before = alerts.alert(id);
  const answer = await ask('PUT', `/${id}`, body);
  expect([answer.status, answer.json]).toEqual([status, { message }]);
  expect(alerts.alert(id)).toEqual(before);
  expect(alerts.effects()).toEqual([]);
}

test('an unknown interval is refused with the list of the accepted ones', async () => {
  const { ask } = await alertsServer();
  const { json } = await ask('PUT', `/${RATE}`, { ...ACCEPTED, interval: '7m' });
  expect(json.message).toMatch(/^Body validation failed: interval: Invalid enum value\. Expected/);
});

test('an update of the name is refused while the webhook is missing', async () => {
  const { ask, alerts } = await alertsServer();
  const seeded = ALERTS.find(({ id }) => id === DELETED_WEBHOOK);
  const channel = seeded?.channels[0];
  const body = { ...ACCEPTED, channel, name: 'Bounces' };
  expect((await ask('PUT', `/${DELETED_WEBHOOK}`, body)).json).toEqual({
    message: 'Webhook not found',
  });
  alerts.profile('code-2026-01');
  expect((await ask('PUT', `/${DELETED_WEBHOOK}`, body)).status).toBe(200);
});

test('an update is refused after its webhook was removed', async () => {
  const { ask, alerts } = await alertsServer();
  const body = ACCEPTED;
  expect((await ask('PUT', `/${RATE}`, body)).status).toBe(200);
  alerts.removeWebhook(OPS.webhookId);
  expect((await ask('PUT', `/${RATE}`, body)).status).toBe(400);
});

test.for<[AlertsProfile, number]>([
  ['code', 200],
  ['code-2026-07', 400],
])('the profile %s replies to a null groupBy with %i', async ([profile, status]) => {
  const { ask } = await alertsServer({ profile });
  const body = { ...ACCEPTED, groupBy: null };
  expect((await ask('PUT', `/${NULL_GROUP}`, body)).status).toBe(status);
});

test('earlier servers ignore channels, and the server of January has no ranges', async () => {
  const { ask, alerts } = await alertsServer({ profile: 'code-2026-07' });
  const { channel, ...rest } = NEEDED;
  const plural = { ...rest, ...SEARCH, channels: [channel] };
  expect((await ask('PUT', `/${RATE}`, plural)).status).toBe(400);
  alerts.profile('code-2026-01');
  const range = { ...ACCEPTED, thresholdType: 'between', thresholdMax: 900 };
  expect((await ask('PUT', `/${RATE}`, range)).status).toBe(400);
  const negative = { ...ACCEPTED, threshold: -1 };
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
