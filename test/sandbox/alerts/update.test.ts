import { expect, test } from 'vitest';
import type { AlertsProfile } from '../../../src/sandbox/alerts/profiles.ts';
import { WEBHOOKS } from '../../../src/sandbox/seed/alert-references.ts';
import { ALERTS } from '../../../src/sandbox/seed/alerts.ts';
import { alertsServer } from '../servers.ts';

const RATE = '357fc488efc4a66bb2a8f81a';
const LATENCY = '1d2c85b529e65225ec2e363d';
const RANGE = '8ef29342507d91666304c181';
const IMPORT = '4cc476b9c186b64bc5d65f43';
const NULL_GROUP = 'c0f1a3fe1f28c282d2da8858';
const DELETED_WEBHOOK = '5ae8e2302e35f049750cfd75';
const NOBODY = '000000000000000000000000';

const OPS = { type: 'webhook', webhookId: WEBHOOKS.operations };
const SEARCH = { source: 'saved_search', savedSearchId: '888f2ada363fdf3b2bac9d99' };
const TILE = {
  source: 'tile',
  dashboardId: '62c44503c8448bc7c39e434f',
  tileId: 'tile-latency',
};
const NEEDED = { interval: '15m', threshold: 250, thresholdType: 'above', channel: OPS };

const SERVERS: readonly AlertsProfile[] = ['code', 'code-2026-07', 'code-2026-01'];

test('what becomes of a stored field that the update leaves out', async () => {
  const seen: Record<string, object> = {};
  for (const profile of SERVERS) {
    const { ask, alerts } = await alertsServer({ profile });
    await ask('PUT', `/${RATE}`, { ...NEEDED, ...SEARCH });
    await ask('PUT', `/${IMPORT}`, { ...NEEDED, ...TILE });
    await ask('PUT', `/${RANGE}`, { ...NEEDED, ...TILE });
    const [rate, converted] = [alerts.alert(RATE), alerts.alert(IMPORT)];
    seen[profile] = {
      texts: [rate?.name, rate?.message],
      note: rate?.note,
      windows: rate?.numConsecutiveWindows,
      groupBy: rate?.groupBy,
      channels: rate?.channels.length,
      staleSearch: converted?.savedSearchId,
      schedule: converted?.scheduleOffsetMinutes,
      bound: alerts.alert(RANGE)?.thresholdMax,
      kept: [rate?.state, Boolean(rate?.silenced), converted?.executionErrors?.length],
    };
  }
  expect(seen).toMatchInlineSnapshot(`
    {
      "code": {
        "bound": 900,
        "channels": 1,
        "groupBy": undefined,
        "kept": [
          "ALERT",
          true,
          1,
        ],
        "note": undefined,
        "schedule": 15,
        "staleSearch": undefined,
        "texts": [
          null,
          null,
        ],
        "windows": undefined,
      },
      "code-2026-01": {
        "bound": 900,
        "channels": 2,
        "groupBy": "service",
        "kept": [
          "ALERT",
          true,
          1,
        ],
        "note": "Agreed with support: page only above this.",
        "schedule": 15,
        "staleSearch": "a3109c8788cf6eef77971309",
        "texts": [
          null,
          null,
        ],
        "windows": 2,
      },
      "code-2026-07": {
        "bound": 900,
        "channels": 2,
        "groupBy": "service",
        "kept": [
          "ALERT",
          true,
          1,
        ],
        "note": undefined,
        "schedule": 15,
        "staleSearch": "a3109c8788cf6eef77971309",
        "texts": [
          null,
          null,
        ],
        "windows": undefined,
      },
    }
  `);
});

test.for(SERVERS)('%s: an alert sent back as it was read stays as it was', async (profile) => {
  const { ask, alerts } = await alertsServer({ profile });
  for (const id of [RATE, LATENCY, IMPORT]) {
    const before = alerts.alert(id);
    const { json } = await ask('GET', `/${id}`);
    const { dashboard, savedSearch, ...read } = json.data ?? {};
    const carried = Object.entries({ dashboardId: dashboard, savedSearchId: savedSearch, ...read });
    const body = Object.fromEntries(carried.filter(([, value]) => value !== null));
    const { status } = await ask('PUT', `/${id}`, { ...body, threshold: 7 });
    if (profile === 'code-2026-01' && id === IMPORT) {
      // Its type did not exist yet; a server takes back what it returned all the same.
      expect(before?.thresholdType).toBe('below_or_equal');
    }
    expect(status).toBe(200);
    const after = { ...alerts.alert(id), updatedAt: before?.updatedAt };
    expect(after).toEqual({ ...before, threshold: 7 });
  }
});

test('an update moves updatedAt, even while the clock stands', async () => {
  const { ask, alerts } = await alertsServer();
  const put = async () => (await ask('PUT', `/${LATENCY}`, { ...NEEDED, ...TILE })).json.data;
  const first = await put();
  const second = await put();
  expect(first?.updatedAt).toBe('2026-11-20T12:00:00.000Z');
  expect(second?.updatedAt).toBe('2026-11-20T12:00:00.001Z');
  expect(alerts.effectCount('update alert', LATENCY)).toBe(2);
});

test('a tile’s update converts an alert of a saved search, and says 200', async () => {
  const { ask } = await alertsServer();
  const { status, json } = await ask('PUT', `/${RATE}`, { ...NEEDED, ...TILE });
  expect(status).toBe(200);
  expect(json.data).toMatchObject({ source: 'tile', tileId: 'tile-latency' });
  expect(json.data).not.toHaveProperty('savedSearchId');
  expect(json.data).not.toHaveProperty('groupBy');
});

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

test.for(CODE_REFUSALS)('the newest server refuses %s', async ([, id, body, status, message]) => {
  const { ask, alerts } = await alertsServer();
  const before = alerts.alert(id);
  const answer = await ask('PUT', `/${id}`, body);
  expect([answer.status, answer.json]).toEqual([status, { message }]);
  expect(alerts.alert(id)).toEqual(before);
  expect(alerts.effects()).toEqual([]);
});

test('an unknown interval is refused with the list of the known ones', async () => {
  const { ask } = await alertsServer();
  const { json } = await ask('PUT', `/${RATE}`, { ...NEEDED, ...SEARCH, interval: '7m' });
  expect(json.message).toMatch(/^Body validation failed: interval: Invalid enum value\. Expected/);
});

test('even a new name is refused while the webhook is gone', async () => {
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

test('a webhook removed meanwhile refuses the next update', async () => {
  const { ask, alerts } = await alertsServer();
  const body = { ...NEEDED, ...SEARCH };
  expect((await ask('PUT', `/${RATE}`, body)).status).toBe(200);
  alerts.removeWebhook(OPS.webhookId);
  expect((await ask('PUT', `/${RATE}`, body)).status).toBe(400);
});

test.for<[AlertsProfile, number]>([
  ['code', 200],
  ['code-2026-07', 400],
])('%s answers a null groupBy with %i', async ([profile, status]) => {
  const { ask } = await alertsServer({ profile });
  const body = { ...NEEDED, ...SEARCH, groupBy: null };
  expect((await ask('PUT', `/${NULL_GROUP}`, body)).status).toBe(status);
});

test('the servers before had no word for channels, and January none for ranges', async () => {
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

test('the documented server takes any of the nine fields, and loses only texts', async () => {
  const { ask, alerts } = await alertsServer({ profile: 'docs' });
  const before = alerts.alert(RATE);
  const { status, json } = await ask('PUT', `/${RATE}`, { threshold: 5, source: 'search' });
  expect(status).toBe(200);
  expect(json.data).toMatchObject({ threshold: 5, interval: '5m', groupBy: 'service' });
  const after = alerts.alert(RATE);
  const lost = { name: null, message: null, threshold: 5, updatedAt: after?.updatedAt };
  expect(after).toEqual({ ...before, ...lost });
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

test('someone else edits the alert between the read and the write', async () => {
  const { ask, alerts } = await alertsServer();
  alerts.before('update alert', () => alerts.editAlert(LATENCY, { state: 'ALERT', threshold: 1 }));
  await ask('GET', `/${LATENCY}`);
  expect(alerts.alert(LATENCY)?.threshold).toBe(850);
  const { json } = await ask('PUT', `/${LATENCY}`, { ...NEEDED, ...TILE });
  expect(json.data).toMatchObject({ state: 'ALERT', threshold: 250 });
  expect(alerts.effectCount('update alert')).toBe(1);
});

test('an alert deleted behind the bot’s back is not found', async () => {
  const { ask, alerts } = await alertsServer();
  alerts.deleteAlert(LATENCY);
  expect((await ask('PUT', `/${LATENCY}`, { ...NEEDED, ...TILE })).status).toBe(404);
});

test.for([
  ['reply-differs', { threshold: 254 }],
  ['wrong-object', { id: '1d2c85b529e65225ec2e3630' }],
  ['unknown-enum', { thresholdType: 'brand-new', source: 'brand-new' }],
] as const)('%s befalls an update that took effect', async ([fault, shown]) => {
  const { ask, alerts } = await alertsServer();
  alerts.arm({ operation: 'update alert', fault, times: 1 });
  const body = { threshold: 250, interval: '15m', thresholdType: 'above', ...TILE, channel: OPS };
  const { json } = await ask('PUT', `/${LATENCY}`, body);
  expect(json.data).toMatchObject(shown);
  expect(alerts.alert(LATENCY)).toMatchObject({ id: LATENCY, threshold: 250, source: 'tile' });
});

test.for([
  ['401', 401, 'text/plain'],
  ['429', 429, 'text/html'],
  ['500', 500, 'application/json'],
  ['504-after-effect', 504, 'text/html'],
] as const)('%s comes in the alerts API’s own form', async ([fault, status, type]) => {
  const { ask, alerts } = await alertsServer();
  alerts.arm({ operation: 'get alert', fault, times: 1 });
  const answer = await ask('GET', `/${LATENCY}`);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toContain(type);
});

test('a list of nulls keeps its ids', async () => {
  const { ask, alerts } = await alertsServer();
  alerts.arm({ operation: 'list alerts', fault: 'nulls', times: 1 });
  const { json } = await ask('GET', '');
  expect(json.data?.[0]).toMatchObject({ id: expect.any(String), name: null, threshold: null });
});
